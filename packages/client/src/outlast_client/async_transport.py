"""Sends requests and follows streams asynchronously. `transport.py` is the blocking version."""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from types import TracebackType
from typing import Any, Self

import anyio
import httpx

from outlast_client.calls import Call, value_of
from outlast_client.errors import TryLater, error_of, unreachable
from outlast_client.follower import Follower
from outlast_client.retries import Attempts, Retries
from outlast_client.shapes import Event
from outlast_client.timeouts import STREAM


class AsyncTransport:
    """The connection settings of one server."""

    def __init__(
        self,
        base_url: str,
        http: httpx.AsyncClient,
        headers: Mapping[str, str],
        timeout: httpx.Timeout,
        retries: Retries,
    ) -> None:
        self.base_url = base_url.rstrip("/")
        self.http = http
        self.headers = dict(headers)
        self.timeout = timeout
        self.retries = retries

    async def send(self, call: Call) -> Any:
        """The response of a call. Repeats calls that were refused for now, and repeatable calls without a response."""
        request = self._request(call, self.timeout)
        attempts = Attempts(self.retries, is_repeatable=call.is_repeatable)
        while True:
            try:
                return value_of(call, await self._sent(request))
            except TryLater as error:
                await anyio.sleep(attempts.pause_s(error))

    async def open(self, call: Call, cursor: str) -> httpx.Response:
        """Opens the stream after a cursor. The caller closes it."""
        request = self._request(call.with_query(after=cursor), STREAM)
        request.headers["accept"] = "text/event-stream"
        return await self._sent(request, stream=True)

    def _request(self, call: Call, timeout: httpx.Timeout) -> httpx.Request:
        url, parts = call.url(self.base_url), call.parts()
        parts["headers"] |= self.headers
        return self.http.build_request(call.method, url, **parts, timeout=timeout)

    async def _sent(self, request: httpx.Request, *, stream: bool = False) -> httpx.Response:
        try:
            answer = await self.http.send(request, stream=stream)
            if answer.status_code >= 400:
                await answer.aread()
                raise error_of(answer)
        except httpx.TransportError as error:
            raise unreachable(self.base_url, error) from error
        return answer


class AsyncEventStream:
    """The events of a run, a thread or a project, each once and in order, across broken connections and restarts of the
    server. A run's stream ends with the run; the others have no end. `cursor` is the cursor of the last event: pass it
    as `after` to continue from there later, also in another process. Raises the server's errors, and `Unreachable`
    after minutes without a response.

    Leave it before its end only with `async with`, or close it.
    """

    def __init__(self, transport: AsyncTransport, call: Call, after: str | int, *, ends: bool) -> None:
        self._follower = Follower(after, transport.retries, ends=ends)
        self._events = self._follow(transport, call)

    @property
    def cursor(self) -> str:
        return self._follower.cursor

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        return await anext(self._events)

    async def aclose(self) -> None:
        """Closes the connection. Safe to repeat."""
        await self._events.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _follow(self, transport: AsyncTransport, call: Call) -> AsyncGenerator[Event, None]:
        follower = self._follower
        while not follower.has_ended:
            broken: TryLater | None = None
            try:
                async with aclosing(await transport.open(call, follower.cursor)) as answer:
                    follower.connected(answer.status_code)
                    async for chunk in answer.aiter_bytes():
                        for cursor, event in follower.read(chunk):
                            yield follower.take(cursor, event)
            except httpx.TransportError as error:
                broken = unreachable(transport.base_url, error)
            except TryLater as error:
                broken = error
            if not follower.has_ended:
                await anyio.sleep(follower.pause_s(broken))


class AsyncGroup:
    """Operations of one noun."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def _json(self, call: Call) -> Any:
        return await self._transport.send(call)

    async def _pages(self, call: Call, cursor: str | None = None) -> AsyncIterator[Any]:
        while True:
            page = await self._transport.send(call)
            for item in page["items"]:
                yield item
            if cursor is None or page["next"] is None:
                return
            call = call.with_query(**{cursor: page["next"]})

    def _follow(self, call: Call, after: str | int, *, ends: bool = False) -> AsyncEventStream:
        return AsyncEventStream(self._transport, call, after, ends=ends)
