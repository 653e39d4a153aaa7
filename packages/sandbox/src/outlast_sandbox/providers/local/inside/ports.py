"""Ports inside: connections to them, and the egress listener. Both kinds of descriptors are passed to the server.

The sandbox has only a loopback device. A program inside reaches the network through the listener, on which the server
accepts connections; a caller outside reaches a port inside through a socket that was connected inside.
"""

from __future__ import annotations

import _socket
import errno
import os

from .effects import Refused
from .loop import WRITE, Loop

TYPE_CHECKING = False  # importing `typing` would cost every sandbox 3 ms of its start
if TYPE_CHECKING:
    from typing import Any, Callable, Optional

    from .main import Connection

EGRESS_PORT = 3128
EGRESS_BACKLOG = 512
CONNECT_TIMEOUT_S = 5.0
LOOPBACK = ((_socket.AF_INET, "127.0.0.1"), (_socket.AF_INET6, "::1"))


class Ports:
    """Answers the requests for descriptors. With `egress` the listener is open from the agent's start."""

    def __init__(self, loop: Loop, egress: bool) -> None:
        self._loop = loop
        self._listener = open_listener() if egress else None

    def dial(self, connection: Connection, request: dict[str, Any], _payload: bytes) -> None:
        port = int(request["port"])
        if not 0 < port < 65536:
            raise Refused("arguments_invalid", f"there is no port {port}; ports go from 1 to 65535")

        def done(sock: Optional[_socket.socket], error: Optional[Refused]) -> None:
            connection.on_close = None
            if sock is None:
                connection.refuse(error or Refused("not_found", f"port {port} cannot be reached"))
                return
            try:
                connection.pass_on(sock.fileno())
            except OSError as why:  # no descriptors left
                connection.refuse(Refused("sandbox_unavailable", f"port {port} cannot be passed on: {why.strerror}"))
            sock.close()

        Dial(self._loop, port, done).start(connection)

    def egress(self, connection: Connection, _request: dict[str, Any], _payload: bytes) -> None:
        if self._listener is None:
            raise Refused("no_egress", "this sandbox was created without egress")
        connection.pass_on(self._listener.fileno())


def open_listener() -> _socket.socket:
    """The listener on 127.0.0.1:3128. Connections wait in it while no server accepts them. Raises OSError."""
    listener = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
    listener.bind(("127.0.0.1", EGRESS_PORT))
    listener.listen(EGRESS_BACKLOG)
    listener.setblocking(False)
    return listener


class Dial:
    """Connects to a port: first over IPv4, then over IPv6. `done` gets the connected socket, or the reason of the
    failure; the receiver closes the socket. After `cancel` it is not called."""

    def __init__(
        self, loop: Loop, port: int, done: Callable[[Optional[_socket.socket], Optional[Refused]], None]
    ) -> None:
        self._loop = loop
        self._port = port
        self._done = done
        self._left = list(LOOPBACK)
        self._sock: Optional[_socket.socket] = None
        self._timer = loop.after(CONNECT_TIMEOUT_S, self._late)

    def start(self, connection: Connection) -> None:
        """Cancelled when the requesting connection is closed."""
        connection.on_close = self.cancel
        self._next()

    def cancel(self) -> None:
        self._timer.cancel()
        self._drop()

    def _next(self) -> None:
        while self._left:
            family, address = self._left.pop(0)
            sock = self._sock = _open(family)
            if sock is None:
                continue
            try:
                sock.setblocking(False)
                sock.connect((address, self._port))
            except BlockingIOError:
                self._loop.add(sock.fileno(), WRITE, self._ready)
                return
            except OSError:
                self._drop()
                continue
            self._finish()
            return
        self.cancel()
        self._done(None, Refused("not_found", f"nothing listens on port {self._port} in the sandbox"))

    def _ready(self, _events: int) -> None:
        assert self._sock is not None
        error = self._sock.getsockopt(_socket.SOL_SOCKET, _socket.SO_ERROR)
        self._loop.remove(self._sock.fileno())
        if error == 0:
            self._finish()
            return
        self._drop()
        self._next()

    def _late(self) -> None:
        self._drop()
        why = os.strerror(errno.ETIMEDOUT)
        self._done(None, Refused("not_found", f"port {self._port} in the sandbox does not accept connections: {why}"))

    def _finish(self) -> None:
        self._timer.cancel()
        sock, self._sock = self._sock, None
        self._done(sock, None)

    def _drop(self) -> None:
        if self._sock is not None:
            self._loop.remove(self._sock.fileno())
            self._sock.close()
            self._sock = None


def _open(family: int) -> Optional[_socket.socket]:
    """A socket, or None if this machine has no IPv6 or there are no descriptors left."""
    try:
        return _socket.socket(family, _socket.SOCK_STREAM)
    except OSError:
        return None
