"""One connection to a port inside: a connected socket without buffers of its own."""

import socket
from contextlib import suppress
from typing import Final

import anyio

READ_BYTES: Final = 65_536


class Line:
    """Errors of the socket (`OSError`) are passed on. A cancelled `receive` loses nothing; a cancelled `send` may have
    sent a part, so close the line then."""

    def __init__(self, sock: socket.socket) -> None:
        sock.setblocking(False)
        with suppress(OSError):  # a Unix socket has no such option
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._sock = sock

    async def receive(self) -> bytes:
        """At least one byte, at most 64 KiB; b"" once the peer has ended."""
        while True:
            try:
                return self._sock.recv(READ_BYTES)
            except BlockingIOError:
                await anyio.wait_readable(self._sock)

    async def send(self, data: bytes) -> None:
        """Returns once the kernel has accepted all of it."""
        rest = memoryview(data)
        while rest:
            try:
                rest = rest[self._sock.send(rest) :]
            except BlockingIOError:
                await anyio.wait_writable(self._sock)

    def end(self) -> None:
        """Shut down sending."""
        with suppress(OSError):
            self._sock.shutdown(socket.SHUT_WR)

    def is_quiet(self) -> bool:
        """True if it is open and nothing was received: it can serve another request."""
        try:
            self._sock.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False

    def close(self) -> None:
        if self._sock.fileno() >= 0:
            anyio.notify_closing(self._sock)
            self._sock.close()
