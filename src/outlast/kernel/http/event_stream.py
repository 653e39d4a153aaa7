"""Live answers: chunks of ready SSE frames, sent as they arrive.  There is nothing between the chunks and the socket:
no queue, no second stream, one `send` per chunk, or, for live chunks, a `push` that does not even wake the sending
task. Each stream has two more tasks: one waits for the client to disconnect, one ticks. A tick without traffic sends a
heartbeat comment; a tick that finds the same `send` still waiting after `slow_reader_s` cuts the connection (the client
resumes from its cursor); and every `recheck_s`, or at once after a user lost a token, session or membership, the stream
checks that the reader may still read.
"""

import logging
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import Final

import anyio
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from outlast.base.errors import OutlastError
from outlast.kernel.accounts.actor import ACCESS_BELL
from outlast.kernel.http.stream_limits import StreamPlaces
from outlast.kernel.streams.settings import StreamSettings
from outlast.kernel.streams.sse import HEARTBEAT, OPENING, ending_frame

HEADERS: Final = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
]
# Clients of a stopping server reconnect one after the other: each costs the next server some reads.
FIRST_MS: Final = 250
LEAST_SPREAD_MS: Final = 2_000
SPREAD_PER_STREAM_MS: Final = 10
MOST_SPREAD_MS: Final = 30_000
# In the scope's extensions: a function that cuts the connection without waiting for its buffer; the server's own
# `send`, so that chunks skip the layers that only look at an answer's beginning; and a plain function that writes a
# chunk of the open answer at once, or returns False if the socket is full.
ABORT: Final = "outlast.abort"
DIRECT_SEND: Final = "outlast.send"
PUSH: Final = "outlast.push"

log = logging.getLogger("outlast.streams")


def pusher(scope: Scope) -> Callable[[bytes], bool] | None:
    """A function that writes live chunks to this request's connection without waking its task; None if the server has
    none."""
    push: Callable[[bytes], bool] | None = scope.get("extensions", {}).get(PUSH)
    return push


class OpenStreams:
    """The open streams of this process, in memory, so that stopping can end them. `per_user`: how many streams one
    user, or one address of anonymous visitors, may follow at once (0 for any number)."""

    def __init__(self, times: StreamSettings, per_user: int = 0) -> None:
        self.times = times
        self.places = StreamPlaces(per_user)
        self._scopes: set[anyio.CancelScope] = set()
        self.is_closed = False
        self._spread_ms = LEAST_SPREAD_MS
        self.doubt = anyio.Event()  # set, then replaced, when a user may have lost the right to read

    def close(self) -> None:
        """End every stream, and new ones at once; clients resume from their cursor on another server or later, each
        after a time of its own."""
        self.is_closed = True
        wanted = SPREAD_PER_STREAM_MS * len(self._scopes)
        self._spread_ms = max(LEAST_SPREAD_MS, min(wanted, MOST_SPREAD_MS))
        for scope in list(self._scopes):
            scope.cancel()

    def last_frame(self) -> bytes:
        """The end of a stream: empty, or when its client reconnects to another server, if this one stops."""
        return ending_frame(random.randint(FIRST_MS, FIRST_MS + self._spread_ms)) if self.is_closed else b""

    def on_bell(self, bell: str) -> None:
        """Listener for the database's notices: after a change of access, streams check at once that their readers may
        read."""
        if bell in (ACCESS_BELL, "*"):
            self.doubt.set()
            self.doubt = anyio.Event()

    def enter(self, scope: anyio.CancelScope) -> None:
        self._scopes.add(scope)
        if self.is_closed:
            scope.cancel()

    def leave(self, scope: anyio.CancelScope) -> None:
        self._scopes.discard(scope)

    def __len__(self) -> int:
        return len(self._scopes)


class EventStream(Response):
    """An answer that sends `frames` until they end, the client disconnects, or it may no longer read. `holder`: the
    follower, a user's id or, for an anonymous visitor, an address (`per` says which). Raises `RateLimited` before
    anything is sent."""

    def __init__(
        self,
        frames: AsyncIterator[bytes],
        open_streams: OpenStreams,
        may_read: Callable[[], Awaitable[bool]],
        holder: str = "",
        per: str = "user",
    ) -> None:
        super().__init__()
        self._holder, self._per = holder, per
        self._frames = frames
        self._open = open_streams
        self._may_read = may_read
        self._sent = 0  # number of chunks sent
        self._sending = False  # a chunk is waiting for the socket
        self._gone = False  # the client disconnected, or was cut off

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._open.places.taken(self._holder, self._per):
            await self._serve(scope, receive, send)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": list(HEADERS)})
        send = scope.get("extensions", {}).get(DIRECT_SEND, send)
        await send({"type": "http.response.body", "body": OPENING, "more_body": True})
        async with anyio.create_task_group() as tasks:
            self._open.enter(tasks.cancel_scope)
            try:
                tasks.start_soon(self._wait_for_leaving, receive, tasks.cancel_scope)
                tasks.start_soon(self._tick, scope, send, tasks.cancel_scope)
                await self._send_all(send)
                tasks.cancel_scope.cancel()
            finally:
                self._open.leave(tasks.cancel_scope)
        if not self._gone:
            await send({"type": "http.response.body", "body": self._open.last_frame(), "more_body": False})

    async def _send_all(self, send: Send) -> None:
        try:
            async with aclosing(self._frames) as frames:  # type: ignore[type-var] # every follower is a generator
                async for chunk in frames:
                    self._sending = True
                    await send({"type": "http.response.body", "body": chunk, "more_body": True})
                    self._sending = False
                    self._sent += 1
        except OutlastError as error:  # the database does not answer: the client resumes from its cursor
            log.warning("stream ended early", extra={"code": error.code})

    async def _wait_for_leaving(self, receive: Receive, scope: anyio.CancelScope) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self._gone = True
        scope.cancel()

    async def _tick(self, scope: Scope, send: Send, ending: anyio.CancelScope) -> None:
        times = self._open.times
        tick_s = min(times.heartbeat_s, times.slow_reader_s / 2, times.recheck_s)
        seen, stalled_s, unchecked_s = -1, 0.0, 0.0
        while True:
            doubt = self._open.doubt
            with anyio.move_on_after(tick_s):
                await doubt.wait()
            unchecked_s += tick_s
            if doubt.is_set() or unchecked_s >= times.recheck_s:
                unchecked_s = 0.0
                if not await self._still_may_read():
                    ending.cancel()
                    return
            if doubt.is_set():
                continue
            if self._sent != seen:
                seen, stalled_s = self._sent, 0.0
            elif not self._sending:
                stalled_s = 0.0
                await self._heartbeat(scope, send, ending)
            elif (stalled_s := stalled_s + tick_s) >= times.slow_reader_s:
                self._cut(scope, ending)
                return

    async def _heartbeat(self, scope: Scope, send: Send, ending: anyio.CancelScope) -> None:
        with anyio.move_on_after(self._open.times.slow_reader_s):
            await send({"type": "http.response.body", "body": HEARTBEAT, "more_body": True})
            return
        self._cut(scope, ending)

    async def _still_may_read(self) -> bool:
        try:
            return await self._may_read()
        except OutlastError as error:  # checked again at the next tick
            log.warning("stream not checked", extra={"code": error.code})
            return True

    def _cut(self, scope: Scope, ending: anyio.CancelScope) -> None:
        log.info("slow reader closed", extra={"path": scope["path"]})
        self._gone = True
        ending.cancel()
        abort = scope.get("extensions", {}).get(ABORT)
        if abort is not None:
            abort()
