"""Descriptors received from a sandbox, and the checks that each is the requested one.

The sender is not trusted: code that took over the agent could send a file, a device, a Unix socket or a dozen of each
instead. So all received descriptors are owned here at once, and all except the one socket that passes every check are
closed.
"""

import errno
import os
import socket
import struct
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Final, Self

from outlast_sandbox.errors import MalformedInput, NotFound

MAX_RECEIVED: Final = 8
ANCILLARY_SIZE: Final = socket.CMSG_SPACE(4 * MAX_RECEIVED)
_LOOPBACK: Final = {socket.AF_INET: "127.0.0.1", socket.AF_INET6: "::1"}


class Received:
    """The descriptors that came with one response. Leaving the block closes all that were not taken."""

    def __init__(self) -> None:
        self._fds: list[int] = []
        self._cut = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        while self._fds:
            os.close(self._fds.pop())

    def add(self, ancillary: Sequence[tuple[int, int, bytes]], flags: int) -> None:
        """Own the descriptors from `recvmsg`."""
        for level, kind, data in ancillary:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                self._fds += [fd for (fd,) in struct.iter_unpack("i", data[: len(data) // 4 * 4])]
        self._cut = self._cut or bool(flags & socket.MSG_CTRUNC)

    def take_connected(self, port: int) -> socket.socket:
        """The one descriptor, which must be a TCP socket connected to that port inside. Raises `MalformedInput`, and
        `NotFound` if the peer has closed it already, as a restarting server does."""
        return self._take(lambda sock: _is_connected(sock, port))

    def take_listener(self, port: int) -> socket.socket:
        """The one descriptor, which must be a TCP socket listening on that port inside. Raises `MalformedInput`."""
        return self._take(lambda sock: _is_listening(sock, port))

    def _take(self, fits: Callable[[socket.socket], bool]) -> socket.socket:
        if len(self._fds) != 1 or self._cut:
            raise MalformedInput(f"the sandbox passed {len(self._fds)} descriptors instead of one socket")
        try:
            sock = socket.socket(fileno=self._fds[0])
        except OSError as error:
            raise MalformedInput("the sandbox passed a descriptor that is not a socket") from error
        try:
            if not _is_tcp(sock) or not fits(sock):
                raise MalformedInput("the sandbox passed a socket other than the requested one")
            sock.setblocking(False)
        except OSError as error:
            sock.detach()
            raise MalformedInput(f"the sandbox passed an unusable socket: {error}") from error
        except BaseException:
            sock.detach()
            raise
        self._fds.clear()
        return sock


def _is_tcp(sock: socket.socket) -> bool:
    """Asked of the kernel: the attributes of the Python object are only guessed from the address."""
    options = (socket.SO_DOMAIN, socket.SO_TYPE, socket.SO_PROTOCOL)
    family, kind, protocol = (sock.getsockopt(socket.SOL_SOCKET, option) for option in options)
    return family in _LOOPBACK and kind == socket.SOCK_STREAM and protocol == socket.IPPROTO_TCP


def _is_connected(sock: socket.socket, port: int) -> bool:
    try:
        peer = sock.getpeername()
    except OSError as error:
        if error.errno != errno.ENOTCONN:
            raise
        raise NotFound(f"the server on port {port} closed the connection", hint="Dial again in a moment.") from error
    return tuple(peer[:2]) == (_LOOPBACK[sock.family], port)


def _is_listening(sock: socket.socket, port: int) -> bool:
    accepting = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
    return accepting == 1 and tuple(sock.getsockname()[:2]) == (_LOOPBACK[sock.family], port)
