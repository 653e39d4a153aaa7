"""Sends requests and follows streams, blocking. `async_transport.py` is the asynchronous version."""

import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing
from types import TracebackType
from typing import Any, Self

import httpx

from outlast_client.calls import Call, value_of
from outlast_client.errors import TryLater, error_of, unreachable
from outlast_client.follower import Follower
from outlast_client.retries import Attempts, Retries
from outlast_client.shapes import Event
from outlast_client.timeouts import STREAM


class Transport:
    """The connection settings of one server."""

    def __init__(
        self, base_url: str, http: httpx.Client, headers: Mapping[str, str], timeout: httpx.Timeout, retries: Retries
    ) -> None:
        self.base_url = base_url.rstrip("/")
        self.http = http
        self.headers = dict(headers)
        self.timeout = timeout
        self.retries = retries

    def send(self, call: Call) -> Any:
        """The response of a call. Repeats calls that were refused for now, and repeatable calls without a response."""
        request = self._request(call, self.timeout)
        attempts = Attempts(self.retries, is_repeatable=call.is_repeatable)
        while True:
            try:
                return value_of(call, self._sent(request))
            except TryLater as error:
                time.sleep(attempts.pause_s(error))

    def open(self, call: Call, cursor: str) -> httpx.Response:
        """Opens the stream after a cursor. The caller closes it."""
        request = self._request(call.with_query(after=cursor), STREAM)
        request.headers["accept"] = "text/event-stream"
        return self._sent(request, stream=True)

    def _request(self, call: Call, timeout: httpx.Timeout) -> httpx.Request:
        url, parts = call.url(self.base_url), call.parts()
        parts["headers"] |= self.headers
        return self.http.build_request(call.method, url, **parts, timeout=timeout)

    def _sent(self, request: httpx.Request, *, stream: bool = False) -> httpx.Response:
        try:
            answer = self.http.send(request, stream=stream)
            if answer.status_code >= 400:
                answer.read()
                raise error_of(answer)
        except httpx.TransportError as error:
            raise unreachable(self.base_url, error) from error
        return answer


class EventStream:
    """The events of a run, a thread or a project, each once and in order, across broken connections and restarts of the
    server. A run's stream ends with the run; the others have no end. `cursor` is the cursor of the last event: pass it
    as `after` to continue from there later, also in another process. Raises the server's errors, and `Unreachable`
    after minutes without a response.

    Leave it before its end only with `with`, or close it.
    """

    def __init__(self, transport: Transport, call: Call, after: str | int, *, ends: bool) -> None:
        self._follower = Follower(after, transport.retries, ends=ends)
        self._events = self._follow(transport, call)

    @property
    def cursor(self) -> str:
        return self._follower.cursor

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Event:
        return next(self._events)

    def close(self) -> None:
        """Closes the connection. Safe to repeat."""
        self._events.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _follow(self, transport: Transport, call: Call) -> Generator[Event, None, None]:
        follower = self._follower
        while not follower.has_ended:
            broken: TryLater | None = None
            try:
                with closing(transport.open(call, follower.cursor)) as answer:
                    follower.connected(answer.status_code)
                    for chunk in answer.iter_bytes():
                        for cursor, event in follower.read(chunk):
                            yield follower.take(cursor, event)
            except httpx.TransportError as error:
                broken = unreachable(transport.base_url, error)
            except TryLater as error:
                broken = error
            if not follower.has_ended:
                time.sleep(follower.pause_s(broken))


class Group:
    """Operations of one noun."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def _json(self, call: Call) -> Any:
        return self._transport.send(call)

    def _pages(self, call: Call, cursor: str | None = None) -> Iterator[Any]:
        while True:
            page = self._transport.send(call)
            yield from page["items"]
            if cursor is None or page["next"] is None:
                return
            call = call.with_query(**{cursor: page["next"]})

    def _follow(self, call: Call, after: str | int, *, ends: bool = False) -> EventStream:
        return EventStream(self._transport, call, after, ends=ends)
