"""An HTTP client of a server, which follows streams across broken connections."""

import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final, Self

import aiohttp
import anyio
import orjson

from outlast.base import agent_errors, errors, schedule_errors, skill_errors
from outlast.base.errors import OutlastError
from outlast.kernel.cli.exits import Unreachable

PAUSES_S: Final = (0.2, 0.5, 1.0, 2.0, 5.0)
MAX_PAGE_ITEMS: Final = 200
MAX_PAUSE_S: Final = 2.0
SILENCE_S: Final = 60.0  # the server sends a heartbeat every 15 s
_KINDS: Final = {
    kind.code: kind
    for module in (errors, agent_errors, schedule_errors, skill_errors)
    for kind in vars(module).values()
    if isinstance(kind, type) and issubclass(kind, OutlastError)
}


class Client:
    """A connection to one server. Errors arrive as the same classes that the server raised."""

    def __init__(self, url: str, token: str | None) -> None:
        self.url = url.rstrip("/")
        headers = {"authorization": f"Bearer {token}"} if token else {}
        self._session = aiohttp.ClientSession(headers=headers, timeout=aiohttp.ClientTimeout(total=60))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self._session.close()

    async def get(self, path: str, **params: Any) -> Any:
        return await self._call("GET", path, params=_given(params))

    async def post(self, path: str, body: Any = None, **headers: str | None) -> Any:
        sent = {name.replace("_", "-"): value for name, value in headers.items() if value is not None}
        return await self._call("POST", path, json={} if body is None else body, headers=sent)

    async def upload(self, path: str, name: str, content: bytes) -> Any:
        """Send a file as a form's field `file`."""
        form = aiohttp.FormData(quote_fields=False)
        form.add_field("file", content, filename=name, content_type="application/octet-stream")
        return await self._call("POST", path, data=form)

    async def patch(self, path: str, body: Any) -> Any:
        return await self._call("PATCH", path, json=body)

    async def put(self, path: str, body: Any) -> Any:
        return await self._call("PUT", path, json=body)

    async def items(self, path: str, limit: int | None = None, *, cursor: str = "before", **params: Any) -> Any:
        """Up to `limit` items of a list (None for all), fetched page by page, in the form of one page."""
        items: list[Any] = []
        while True:
            left = MAX_PAGE_ITEMS if limit is None else min(limit - len(items), MAX_PAGE_ITEMS)
            page = await self.get(path, limit=left, **params)
            items += page["items"]
            if page["next"] is None or len(items) == limit:
                return {"items": items, "next": page["next"]}
            params[cursor] = page["next"]

    async def project_id(self, project: str | None) -> str:
        """The id of the given project; None stands for the caller's default project."""
        return project or str((await self.get("/v1/me"))["default_project_id"])

    async def create(self, path: str, **fields: Any) -> Any:
        """Create an object from the fields that are not None. Resending the request does not create it twice."""
        body = {name: value for name, value in fields.items() if value is not None}
        return await self.post(path, body, idempotency_key=uuid.uuid4().hex)

    async def until_read(self, path: str, item: Any) -> Any:
        """Poll a file or source until it is read or has failed."""
        pause_s = PAUSES_S[0]
        while item["state"] not in ("ready", "no_text", "failed"):
            await anyio.sleep(pause_s)
            pause_s = min(2 * pause_s, MAX_PAUSE_S)
            item = await self.get(path)
        return item

    async def report(self, path: str, **params: Any) -> tuple[int, Any]:
        """The status and JSON object of an answer, also for error statuses."""
        status, content = await self._send("GET", path, params=_given(params))
        try:
            found = orjson.loads(content)
        except orjson.JSONDecodeError:
            found = None
        if not isinstance(found, dict):
            raise _error(status, content)
        return status, found

    async def content(self, path: str, /, **params: Any) -> bytes:
        """An answer's raw bytes."""
        return await self._bytes("GET", path, params=_given(params))

    async def delete(self, path: str) -> Any:
        return await self._call("DELETE", path)

    async def _call(self, method: str, path: str, **options: Any) -> Any:
        content = await self._bytes(method, path, **options)
        return orjson.loads(content) if content else None

    async def _bytes(self, method: str, path: str, **options: Any) -> bytes:
        status, content = await self._send(method, path, **options)
        if status >= 400:
            raise _error(status, content)
        return content

    async def _send(self, method: str, path: str, **options: Any) -> tuple[int, bytes]:
        try:
            async with self._session.request(method, self.url + path, **options) as answer:
                return answer.status, await answer.read()
        except (aiohttp.ClientConnectionError, aiohttp.InvalidURL, TimeoutError):
            raise Unreachable(self.url) from None

    async def follow(self, path: str, after: str) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        """Every event after a cursor, as (cursor, event), until the stream has ended; resumes after each break.

        Raises the server's errors; `Unreachable` only if the very first connection fails.
        """
        failures, reached = 0, False
        while True:
            try:
                async with self._stream(path, after) as answer:
                    if answer.status == 204:
                        return
                    reached = True
                    async for after, event in _events(answer, after):  # noqa: B020 - the cursor moves
                        failures = 0
                        yield after, event
                        if event["event"] == "stream.ended":
                            return
            except (aiohttp.ClientError, TimeoutError, errors.TryLater):
                if not reached:
                    raise Unreachable(self.url) from None
            await anyio.sleep(PAUSES_S[min(failures, len(PAUSES_S) - 1)])
            failures += 1

    @asynccontextmanager
    async def _stream(self, path: str, after: str) -> AsyncIterator[aiohttp.ClientResponse]:
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=10, sock_read=SILENCE_S)
        headers = {"accept": "text/event-stream"}
        params = {"after": after}
        async with self._session.get(
            self.url + path, params=params, headers=headers, timeout=timeout, read_bufsize=2**22
        ) as answer:
            if answer.status >= 400:
                raise _error(answer.status, await answer.read())
            yield answer


async def _events(answer: aiohttp.ClientResponse, cursor: str) -> AsyncIterator[tuple[str, dict[str, Any]]]:
    """Logged events of one connection; comments and frames without an id (presence) are skipped."""
    data, has_id = b"", False
    async for line in _lines(answer):
        if line.startswith(b"id:"):
            cursor, has_id = line[3:].strip().decode(), True
        elif line.startswith(b"data:"):
            data = line[5:].strip()
        elif not line and data:
            if has_id:
                yield cursor, orjson.loads(data)
            data, has_id = b"", False


async def _lines(answer: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    rest = b""
    async for block in answer.content.iter_any():
        *lines, rest = (rest + block).split(b"\n")
        for line in lines:
            yield line.rstrip(b"\r")


def _error(status: int, content: bytes) -> OutlastError:
    try:
        body = orjson.loads(content)
        kind = _KINDS.get(body["code"], OutlastError)
        wait_s = body.get("retry_after_s")
        return kind(body["detail"], hint=body["hint"], retry_after_s=wait_s, **body["fields"])
    except (orjson.JSONDecodeError, KeyError, TypeError):
        hint = "Is this an Outlast server?"
        return errors.InternalError(f"The server answered {status} without a reason.", hint=hint)


def _given(params: dict[str, Any]) -> dict[str, str]:
    return {name: str(value) for name, value in params.items() if value is not None}
