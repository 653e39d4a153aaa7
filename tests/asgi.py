"""Calls an ASGI application as a server would, streams included: a stream is left after its first chunk."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import anyio
import orjson

HOST = "127.0.0.1:8400"
STREAM = "text/event-stream"


@dataclass
class Answer:
    status: int = 0
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytes = b""

    def header(self, name: str) -> str:
        return next((value for key, value in self.headers if key == name), "")

    def cookie(self, name: str) -> str:
        """The value that the answer sets; empty: it does not."""
        cookies = (value for key, value in self.headers if key == "set-cookie")
        return next((c.split(";")[0].partition("=")[2] for c in cookies if c.startswith(f"{name}=")), "")

    def json(self) -> Any:
        return orjson.loads(self.body)

    @property
    def code(self) -> str:
        """The error's code, empty when there is none."""
        is_problem = self.header("content-type").startswith("application/problem+json")
        return str(self.json()["code"]) if is_problem else ""


@dataclass
class Browser:
    """Whoever talks to the application: `headers` go along with every call."""

    app: Any
    headers: dict[str, str] = field(default_factory=dict)
    client: tuple[str, int] = ("127.0.0.1", 50000)

    async def get(self, path: str, **headers: str) -> Answer:
        return await self.call("GET", path, headers=headers)

    async def post(self, path: str, body: Any = None, **headers: str) -> Answer:
        return await self.call("POST", path, body, headers=headers)

    async def call(self, method: str, path: str, body: Any = None, *, headers: dict[str, str] | None = None) -> Answer:
        """One request. A body that is no bytes is sent as JSON. A stream is left after its first chunk."""
        content = body if isinstance(body, bytes) else b"" if body is None else orjson.dumps(body)
        sent = {"host": HOST, "content-length": str(len(content)), **self.headers}
        if body is not None and not isinstance(body, bytes):
            sent["content-type"] = "application/json"
        sent |= {name.replace("_", "-"): value for name, value in (headers or {}).items()}
        path, _, query = path.partition("?")
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": method,
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "scheme": "http",
            "server": ("127.0.0.1", 8400),
            "client": self.client,
            "headers": [(name.lower().encode(), value.encode()) for name, value in sent.items()],
            "state": {},
        }
        return await _run(self.app, scope, content)


async def _run(app: Any, scope: dict[str, Any], content: bytes) -> Answer:
    answer, leaving, given = Answer(), anyio.Event(), False

    async def receive() -> dict[str, Any]:
        nonlocal given
        if not given:
            given = True
            return {"type": "http.request", "body": content, "more_body": False}
        await leaving.wait()
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            answer.status = message["status"]
            answer.headers = [(name.decode(), value.decode()) for name, value in message["headers"]]
            return
        answer.body += message.get("body", b"")
        if answer.header("content-type").startswith(STREAM):
            leaving.set()

    with anyio.fail_after(30):
        await app(scope, receive, send)
    return answer
