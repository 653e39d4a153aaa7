"""Uvicorn, run from our own task tree: it takes a bound socket, leaves signals alone, and stops when told."""

import contextlib
import errno
import logging
import socket
from collections.abc import Callable, Coroutine, Iterator, Sequence
from typing import Any

import anyio
import httptools
import uvicorn
from anyio.abc import TaskStatus
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from outlast.base.errors import StartRefused
from outlast.surfaces.http.stream import ABORT, PUSH
from outlast.surfaces.http.takeover import TAKE_OVER, TakenOver

BACKLOG = 2048
log = logging.getLogger("outlast.http")


class _Protocol(HttpToolsProtocol):
    """Gives the application ways to cut a connection whose reader has stalled, to write to a ready one at once, and to
    take over one that asks for an upgrade."""

    _taken_over: TakenOver | None = None

    def on_message_begin(self) -> None:
        super().on_message_begin()
        scope: Any = self.scope
        scope["extensions"] = {ABORT: self.transport.abort, PUSH: self._push, TAKE_OVER: self._take_over}

    def data_received(self, data: bytes) -> None:
        if self._taken_over is not None:
            self._taken_over.feed(data)
            return
        self._unset_keepalive_if_required()
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade as asked:
            # The parser reads no further request here: the connection is taken over, or closed after the answer.
            self.cycle.keep_alive = False
            self._taken_over = TakenOver(self.transport, self.flow)
            self._taken_over.feed(data[asked.args[0] :])
        except httptools.HttpParserError:
            self.logger.warning("Invalid HTTP request received.")
            self.send_400_response("Invalid HTTP request received.")

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self._taken_over is not None:
            self._taken_over.feed_end()

    def _take_over(self) -> TakenOver | None:
        """The connection as bytes; None where the request asked for no upgrade. Nothing is sent by `send` then."""
        if self._taken_over is not None:
            self.cycle.response_started = self.cycle.response_complete = True
        return self._taken_over

    def _push(self, body: bytes) -> bool:
        """Write a chunk of the answer that is open. False where `send` has to: none is, or the socket is full."""
        answer = self.cycle
        if not answer.response_started or answer.response_complete or not answer.chunked_encoding:
            return False
        if self.flow.write_paused or self.transport.is_closing():
            return False
        self.transport.write(b"%x\r\n%b\r\n" % (len(body), body))
        return True


async def _nothing(*, task_status: TaskStatus[None]) -> None:
    task_status.started()


class HttpServer(uvicorn.Server):
    """Serves `app` on bound sockets until `stop`: then open requests have `grace_s` to end. `close_streams` ends those
    that never would; `beside` is what the application needs to have running."""

    def __init__(
        self,
        app: ASGIApp,
        listeners: Sequence[socket.socket],
        grace_s: float,
        close_streams: Callable[[], None],
        beside: Callable[..., Coroutine[Any, Any, None]] = _nothing,
    ) -> None:
        config = uvicorn.Config(
            app,
            http=_Protocol,
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
        self._listeners = list(listeners)
        self._stopping = anyio.Event()
        self._close_streams = close_streams
        self._beside = beside
        self.ready = anyio.Event()
        self.stopped = anyio.Event()

    async def run_until_stopped(self) -> None:
        """Listen, answer, and stop in good order. Cancelled: connections are dropped."""
        try:
            async with anyio.create_task_group() as tasks:
                await tasks.start(self._beside)
                await self.serve(sockets=self._listeners)
                tasks.cancel_scope.cancel()
        finally:
            self.stopped.set()

    def stop(self) -> None:
        """Take no more connections and end. Repeating is harmless."""
        self.should_exit = True
        self._stopping.set()
        self._close_streams()

    async def main_loop(self) -> None:
        self.ready.set()
        while not await self.on_tick(0):
            with anyio.move_on_after(1):
                await self._stopping.wait()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def bind(host: str, port: int) -> socket.socket:
    """A bound, not yet listening socket. Raises `StartRefused` that says what is in the way."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        _notice_the_dead(listener)
        listener.bind(address)
    except OSError as error:
        raise _refusal(host, port, error) from None
    listener.setblocking(False)
    return listener


def _notice_the_dead(listener: socket.socket) -> None:
    """Connections that this socket accepts end within two minutes once the other machine has vanished: an open stream
    or WebSocket would otherwise wait for ever for somebody who will never say that they left."""
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in (("TCP_KEEPIDLE", 60), ("TCP_KEEPINTVL", 20), ("TCP_KEEPCNT", 3)):
        if hasattr(socket, option):
            listener.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)


def bind_twin(listener: socket.socket) -> socket.socket | None:
    """A socket bound to the same port of the other loopback address, where `listener` is bound to one: browsers find
    names under `.localhost` at both, and nobody else shall answer there. None where it cannot be had; another program
    that answers there is named in the log."""
    host, port = listener.getsockname()[:2]
    other = {"127.0.0.1": "::1", "::1": "127.0.0.1"}.get(host)
    if other is None:
        return None
    try:
        return bind(other, port)
    except StartRefused as refusal:
        if refusal.fields.get("errno") == errno.EADDRINUSE:
            log.warning("another program may answer for previews", extra={"host": other, "port": port})
        return None


def _refusal(host: str, port: int, error: OSError) -> StartRefused:
    hint = "Choose another with --host and --port."
    if error.errno == errno.EADDRINUSE:
        hint = f"Another program listens there. Stop it, or choose another port: --port {port + 1}."
    elif error.errno == errno.EACCES:
        hint = "Ports below 1024 take special rights. Choose a higher one: --port 8400."
    return StartRefused(
        f"The server cannot listen on {host}:{port}: {error.strerror or error}.",
        hint=hint,
        host=host,
        port=port,
        errno=error.errno,
    )
