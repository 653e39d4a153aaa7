"""Uvicorn, run from our own task tree: it takes a bound socket, leaves signals alone, and stops on request."""

import asyncio
import contextlib
import errno
import logging
import socket
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from email.utils import formatdate
from functools import partial
from http import HTTPStatus
from typing import Any, Final

import anyio
import httptools
import uvicorn
from anyio.abc import TaskStatus
from starlette.responses import Response
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from outlast.base.errors import InputTooLarge, MalformedInput, OutlastError, StartRefused
from outlast.base.ids import new_id
from outlast.kernel.http.event_stream import ABORT, PUSH
from outlast.kernel.http.problems import problem
from outlast.kernel.http.request_heads import HeadLimits, UnfinishedHeads, network_of, settle_host
from outlast.kernel.http.takeover import TAKE_OVER, TakenOver

BACKLOG = 2048
LAST_LOOK_S: Final = 0.05
LINGER_S: Final = 2.0
LAST_REQUEST_S: Final = 0.3  # how long the request of a connection that was just accepted may take at the stop
USUAL_LIMITS: Final = HeadLimits()
log = logging.getLogger("outlast.http")


class _Protocol(HttpToolsProtocol):
    """Lets the application cut a connection whose reader has stalled, write to a ready one at once, and take over one
    that requests an upgrade. Bounds the bytes that are read before a request is parsed."""

    _taken_over: TakenOver | None = None

    def __init__(self, *args: Any, limits: HeadLimits, heads: UnfinishedHeads, **more: Any) -> None:
        super().__init__(*args, **more)
        self._limits, self._heads = limits, heads
        self._address = ""
        self._head_timer: asyncio.TimerHandle | None = None
        self._has_head = False  # of the request that is being read
        self._pending = 0  # bytes fed since the parser last returned a whole head or a piece of a body, at least 1
        self._is_refused = False
        self._is_last = False  # the connection ends after the next answer

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._address = network_of(self.client[0]) if self.client else ""
        self._await_head()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._has_head, self._pending = False, self._pending or 1
        scope: Any = self.scope
        scope["extensions"] = {ABORT: self.transport.abort, PUSH: self._push, TAKE_OVER: self._take_over}

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self._has_head:  # trailers arrive too late to matter
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._has_head, self._pending = True, 0
        self._head_came()
        refusal, app = settle_host(self.url, self.headers), self.app
        try:
            self.app = app if refusal is None else _refusal(refusal)
            super().on_headers_complete()
        finally:
            self.app = app
        state: Any = self.server_state
        if self._is_last or state.is_draining:
            self.cycle.keep_alive = False

    def on_body(self, body: bytes) -> None:
        self._pending = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._has_head, self._pending = False, 0
        super().on_message_complete()

    def data_received(self, data: bytes) -> None:
        if self._taken_over is not None:
            self._taken_over.feed(data)
            return
        self._unset_keepalive_if_required()
        while data and not self._is_refused:
            room = self._limits.head_bytes - self._pending
            piece, data = (data, b"") if len(data) <= room else (data[:room], data[room:])
            self._pending += len(piece)
            if not self._feed(piece, data):
                return
            if self._pending >= self._limits.head_bytes:
                self._refuse(_head_too_large(self._limits.head_bytes), 431)
        if self._pending and not self._has_head:
            self._await_head()

    def _feed(self, piece: bytes, rest: bytes) -> bool:
        """Feed the parser; True if it reads on."""
        try:
            self.parser.feed_data(piece)
            return True
        except httptools.HttpParserUpgrade as asked:
            # The parser reads no further request: the connection is taken over, or closed after the answer.
            self.cycle.keep_alive = False
            self._taken_over = TakenOver(self.transport, self.flow)
            self._taken_over.feed(piece[asked.args[0] :] + rest)
        except httptools.HttpParserError:
            self.logger.warning("Invalid HTTP request received.")
            self._refuse(MalformedInput("This is not an HTTP/1.1 request."), 400)
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_came()
        super().connection_lost(exc)
        if self._taken_over is not None:
            self._taken_over.feed_end()

    def shutdown(self) -> None:
        """The server stops: the connection ends after the answer that is open. A new connection waits for its request,
        which may be on its way, and which a balancer could not repeat."""
        if self._has_answered or self._taken_over is not None:
            super().shutdown()
            return
        self._is_last = True
        self.loop.call_later(LAST_REQUEST_S, self._close_unused)

    def _close_unused(self) -> None:
        if not self._has_answered:
            self.transport.close()

    # --- heads that do not arrive, and those that are refused ---

    def _await_head(self) -> None:
        if self._head_timer is None:
            is_crowded = self._heads.enter(self._address) > self._limits.per_address
            self._set_timer(self._limits.crowded_s if is_crowded else self._limits.head_s, self._look_again)

    def _head_came(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None
            self._heads.leave(self._address)

    def _look_again(self) -> None:
        """Check again, because timers run before sockets are read: if the loop itself was late, the head may have
        arrived."""
        self._set_timer(LAST_LOOK_S, self._give_up)

    def _give_up(self) -> None:
        if self._is_answering:  # the next request may take as long as this answer
            self._set_timer(self._limits.head_s, self._look_again)
        else:
            self.transport.close()

    def _set_timer(self, after_s: float, then: Callable[[], None]) -> None:
        self._head_timer = self.loop.call_later(after_s, then)

    @property
    def _has_answered(self) -> bool:
        cycle: Any = self.cycle  # None before the first request
        return cycle is not None

    @property
    def _is_answering(self) -> bool:
        cycle: Any = self.cycle  # None before the first request
        return cycle is not None and not cycle.response_complete

    def _refuse(self, error: OutlastError, status: int) -> None:
        """Send the reason, and drain the rest of the request for a moment: closing at once would lose the answer."""
        self._is_refused = True
        if self._is_answering:
            self.transport.abort()
            return
        self.transport.write(_as_bytes(problem(error, new_id("request"), status=status)))
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self.loop.call_later(LINGER_S, self.transport.close)

    # --- what the application is given ---

    def _take_over(self) -> TakenOver | None:
        """The connection as bytes, or None if the request did not ask for an upgrade. `send` sends nothing after
        that."""
        if self._taken_over is not None:
            self.cycle.response_started = self.cycle.response_complete = True
        return self._taken_over

    def _push(self, body: bytes) -> bool:
        """Write a chunk of the open answer. False if `send` must be used: no answer is open, or the socket is full."""
        answer = self.cycle
        if not answer.response_started or answer.response_complete or not answer.chunked_encoding:
            return False
        if self.flow.write_paused or self.transport.is_closing():
            return False
        self.transport.write(b"%x\r\n%b\r\n" % (len(body), body))
        return True


def _refusal(error: OutlastError) -> Response:
    """An answer to a request that no layer may see. The body, if any, is not read: the connection ends."""
    answer = problem(error, new_id("request"))
    answer.headers["connection"] = "close"
    return answer


def _head_too_large(most: int) -> InputTooLarge:
    return InputTooLarge(
        f"The request's address and headers are larger than {most:,} bytes.",
        hint="Shorten the address, headers or cookies.",
        limit_bytes=most,
    )


def _as_bytes(answer: Response) -> bytes:
    """A whole answer in wire format; the connection ends after it."""
    lines = [b"HTTP/1.1 %d %b" % (answer.status_code, HTTPStatus(answer.status_code).phrase.encode())]
    lines += [b"%b: %b" % pair for pair in [*answer.raw_headers, (b"connection", b"close")]]
    return b"\r\n".join([*lines, b"", bytes(answer.body)])


async def _nothing(*, task_status: TaskStatus[None]) -> None:
    task_status.started()


class DatedState(ServerState):
    """The shared state of connections. `default_headers` computes the date when an answer needs it: Uvicorn's timer
    would wake an idle server every second."""

    is_draining = False
    _second = 0
    _headers: tuple[tuple[bytes, bytes], ...] = ()

    @property
    def default_headers(self) -> list[tuple[bytes, bytes]]:
        if (second := int(time.time())) != self._second:
            self._second, self._headers = second, ((b"date", formatdate(second, usegmt=True).encode()),)
        return list(self._headers)

    @default_headers.setter
    def default_headers(self, _headers: list[tuple[bytes, bytes]]) -> None:
        """Ignore the initial, empty headers."""


class HttpServer(uvicorn.Server):
    """Serves `app` on bound sockets until `stop`: then open requests have `grace_s` to end. `close_streams` ends open
    streams; `beside` runs next to the application."""

    def __init__(
        self,
        app: ASGIApp,
        listeners: Sequence[socket.socket],
        grace_s: float,
        close_streams: Callable[[], None],
        beside: Callable[..., Coroutine[Any, Any, None]] = _nothing,
        *,
        limits: HeadLimits = USUAL_LIMITS,
    ) -> None:
        self.heads = UnfinishedHeads()
        protocol: Any = partial(_Protocol, limits=limits, heads=self.heads)
        config = uvicorn.Config(
            app,
            http=protocol,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            backlog=BACKLOG,
            timeout_keep_alive=75,
            timeout_graceful_shutdown=max(1, round(grace_s)),
        )
        super().__init__(config)
        self.server_state = self._state = DatedState()
        self._listeners = list(listeners)
        self._stopping = anyio.Event()
        self._close_streams = close_streams
        self._beside = beside
        self.ready = anyio.Event()
        self.stopped = anyio.Event()

    async def run_until_stopped(self) -> None:
        """Listen, answer, and stop gracefully. If cancelled, connections are dropped. May be run again after it failed,
        as long as it was not stopped."""
        if self._stopping.is_set():
            self.stopped.set()
            return
        try:
            async with anyio.create_task_group() as tasks:
                await tasks.start(self._beside)
                await self._listen()
                tasks.cancel_scope.cancel()
        finally:
            self.stopped.set()

    async def _listen(self) -> None:
        """Listen on copies of the sockets, so that the originals outlive a failure."""
        self.stopped = anyio.Event()
        copies = [listener.dup() for listener in self._listeners]
        try:
            await self.serve(sockets=copies)
        finally:
            for server in getattr(self, "servers", ()):
                server.close()
            for copy in copies:
                copy.close()

    def drain(self) -> None:
        """Go on answering, but end each connection after its answer: a balancer opens new ones elsewhere."""
        self._state.is_draining = True

    def stop(self) -> None:
        """Accept no more connections, and end. Repeating is harmless."""
        self.should_exit = True
        self._stopping.set()
        for listener in self._listeners:
            listener.close()
        self._close_streams()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop listening, without resetting connections that the system has accepted in the meantime."""
        of_listeners = zip(sockets or (), self.servers, strict=True)
        waiting = [one for listener, server in of_listeners for one in _last_of(listener, server)]
        loop, more = asyncio.get_running_loop(), {"config": self.config, "server_state": self.server_state}
        protocol: Any = self.config.http_protocol_class
        make = partial(protocol, **more, app_state=self.lifespan.state)
        for connection in waiting:
            await loop.connect_accepted_socket(make, connection)
        await super().shutdown(sockets)

    async def main_loop(self) -> None:
        self.ready.set()
        await self._stopping.wait()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _last_of(listener: socket.socket, server: asyncio.Server) -> list[socket.socket]:
    """The connections that wait to be accepted; then nothing listens any more."""
    found: list[socket.socket] = []
    with contextlib.suppress(OSError):  # none is left
        while True:
            found.append(listener.accept()[0])
    server.close()
    for one in found:
        one.setblocking(False)
    return found


def bind(host: str, port: int) -> socket.socket:
    """A bound socket that does not listen yet. Raises `StartRefused` with the reason."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        _set_keepalive(listener)
        listener.bind(address)
    except OSError as error:
        raise _cannot_listen(host, port, error) from None
    listener.setblocking(False)
    return listener


def _set_keepalive(listener: socket.socket) -> None:
    """Close accepted connections within two minutes after the other machine has vanished. Otherwise an open stream or
    WebSocket would wait forever for its client."""
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in (("TCP_KEEPIDLE", 60), ("TCP_KEEPINTVL", 20), ("TCP_KEEPCNT", 3)):
        if hasattr(socket, option):
            listener.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)


def bind_twin(listener: socket.socket) -> socket.socket | None:
    """A socket on the same port of the other loopback address, if `listener` is bound to one: browsers resolve names
    under `.localhost` to both, and no other program may answer there. None if it cannot be bound; if another program
    listens there, the log has a warning."""
    host, port = listener.getsockname()[:2]
    other = {"127.0.0.1": "::1", "::1": "127.0.0.1"}.get(host)
    if other is None:
        return None
    try:
        return bind(other, port)
    except StartRefused as refusal:
        if refusal.fields.get("errno") == errno.EADDRINUSE:
            log.warning("another program may answer requests for previews", extra={"host": other, "port": port})
        return None


def _cannot_listen(host: str, port: int, error: OSError) -> StartRefused:
    hints = {
        errno.EADDRINUSE: f"Another program uses this port. Stop it, or choose another port: --port {port + 1}.",
        errno.EACCES: "Ports below 1024 require special rights. Choose a higher one: --port 8400.",
    }
    return StartRefused(
        f"The server cannot listen on {host}:{port}: {error.strerror or error}.",
        hint=hints.get(error.errno or 0, "Choose another with --host and --port."),
        host=host,
        port=port,
        errno=error.errno,
    )
