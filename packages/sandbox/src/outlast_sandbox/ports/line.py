"""One connection to a port inside: a connected socket, read and written without buffers of its own."""

import socket
from contextlib import suppress
from typing import Final

import anyio

READ_BYTES: Final = 65_536


class Line:
    """Errors of the socket (`OSError`) come through. A cancelled `receive` loses nothing; a cancelled `send` may have
    sent a part, so the line is to be closed then."""

    def __init__(self, sock: socket.socket) -> None:
        sock.setblocking(False)
        with suppress(OSError):  # a Unix socket has no such wait
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._sock = sock

    async def receive(self) -> bytes:
        """At least one byte, at most 64 KiB; empty once the other side has ended."""
        while True:
            try:
                return self._sock.recv(READ_BYTES)
            except BlockingIOError:
                await anyio.wait_readable(self._sock)

    async def send(self, data: bytes) -> None:
        """Returns once the kernel has taken all of it."""
        rest = memoryview(data)
        while rest:
            try:
                rest = rest[self._sock.send(rest) :]
            except BlockingIOError:
                await anyio.wait_writable(self._sock)

    def end(self) -> None:
        """Close the sending side."""
        with suppress(OSError):
            self._sock.shutdown(socket.SHUT_WR)

    def is_quiet(self) -> bool:
        """Whether it is open and nothing has come: fit for another request."""
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
