"""Uvicorn, run from our own task tree: it takes a bound socket, leaves signals alone, and stops when told."""

import contextlib
import errno
import socket
from collections.abc import Callable, Iterator
from typing import Any

import anyio
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from outlast.base.errors import StartRefused
from outlast.surfaces.http.stream import ABORT, PUSH

BACKLOG = 2048


class _Protocol(HttpToolsProtocol):
    """Gives the application ways to cut a connection whose reader has stalled, and to write to a ready one at once."""

    def on_message_begin(self) -> None:
        super().on_message_begin()
        scope: Any = self.scope
        scope["extensions"] = {ABORT: self.transport.abort, PUSH: self._push}

    def _push(self, body: bytes) -> bool:
        """Write a chunk of the answer that is open. False where `send` has to: none is, or the socket is full."""
        answer = self.cycle
        if not answer.response_started or answer.response_complete or not answer.chunked_encoding:
            return False
        if self.flow.write_paused or self.transport.is_closing():
            return False
        self.transport.write(b"%x\r\n%b\r\n" % (len(body), body))
        return True


class HttpServer(uvicorn.Server):
    """Serves `app` on a bound socket until `stop`: then open requests have `grace_s` to end. `close_streams` ends those
    that never would."""

    def __init__(
        self, app: ASGIApp, listener: socket.socket, grace_s: float, close_streams: Callable[[], None]
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
        self._listener = listener
        self._stopping = anyio.Event()
        self._close_streams = close_streams
        self.ready = anyio.Event()
        self.stopped = anyio.Event()

    async def run_until_stopped(self) -> None:
        """Listen, answer, and stop in good order. Cancelled: connections are dropped."""
        try:
            await self.serve(sockets=[self._listener])
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
        listener.bind(address)
    except OSError as error:
        raise _refusal(host, port, error) from None
    listener.setblocking(False)
    return listener


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
    )
