"""The agent's start in a container on another machine: nothing of the server's is mounted, no port is published.

It listens on a socket without a path. Only the relays (`relay.py`) may connect, which the engine starts in here as a
second user: no process of the sandbox's own user can become that one. The first of them brings the configuration.
"""

from __future__ import annotations

import _socket
import os
import struct
import sys
import time

from .frames import Decoder, encode
from .loop import READ, Loop
from .main import Connection, start_agent
from .spawner import Spawner
from .system_calls import load_filter

TYPE_CHECKING = False  # importing `typing` would cost every sandbox 3 ms of its start
if TYPE_CHECKING:
    from typing import Any, Optional

    from .main import Agent

ADDRESS = b"\0outlast-agent"
BACKLOG = 128
CONFIG_S = 60.0
LOOK_S = 30.0
MIN_LOOK_S = 0.05


def main() -> None:
    """Run the agent as the container's first process; its argument is the user id of the relays. It ends with the
    container."""
    door = int(sys.argv[1])
    os.closerange(3, 4096)
    loop = Loop(notices_sleep=True)
    spawner = Spawner(loop.reap)
    listener = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    listener.bind(ADDRESS)
    listener.listen(BACKLOG)
    first = _first(listener, door)
    if first is None:
        return  # the server gave up the start
    sock, config = first
    for path, text in config["files"].items():
        with open(path, "w") as file:
            file.write(text)
    agent = start_agent(loop, spawner, config)
    visits = Visits(loop, config["end_after_s"])
    agent.handlers["egress"] = OneWayOut(agent)
    load_filter(config.get("filter"))
    listener.setblocking(False)

    def accept(_events: int) -> None:
        try:
            fd, _address = listener._accept()  # type: ignore[attr-defined]
        except OSError:
            return  # the other end has closed meanwhile
        visitor = _socket.socket(fileno=fd)
        if _user_of(visitor) == door:
            Visitor(agent, visitor, visits)
        else:
            visitor.close()

    loop.add(listener.fileno(), READ, accept)
    sock.sendall(encode({"ok": True}))
    Visitor(agent, sock, visits)
    loop.run()


def _first(listener: _socket.socket, door: int) -> Optional[tuple[_socket.socket, dict[str, Any]]]:
    """The first relay's connection and the configuration that came over it, or None if none came in time."""
    deadline = time.monotonic() + CONFIG_S
    decoder = Decoder()
    listener.settimeout(CONFIG_S)
    try:
        while time.monotonic() < deadline:
            fd, _address = listener._accept()  # type: ignore[attr-defined]
            sock = _socket.socket(fileno=fd)
            if _user_of(sock) != door:
                sock.close()
                continue
            sock.settimeout(CONFIG_S)
            while True:
                data = sock.recv(1 << 18)
                if not data:
                    break
                for head, _payload in decoder.feed(data):
                    return sock, head
    except OSError:
        pass
    return None


def _user_of(sock: _socket.socket) -> int:
    credentials = sock.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)
    user: int = struct.unpack("iII", credentials)[1]
    return user


class Visits:
    """Ends the agent, and the container with it, `end_after_s` after the last connection of a server was closed. Time
    while the container slept does not count."""

    def __init__(self, loop: Loop, end_after_s: float) -> None:
        self._loop = loop
        self._end_after_s = end_after_s
        self._open = 0
        self._last = time.monotonic()
        self._look_later(min(LOOK_S, end_after_s))

    def began(self) -> None:
        self._open += 1

    def ended(self) -> None:
        self._open -= 1
        self._last = time.monotonic()

    def _look_later(self, seconds: float) -> None:
        self._loop.after(max(seconds, MIN_LOOK_S), self._look)

    def _look(self) -> None:
        left_s = self._last + self._loop.slept_s_since(self._last) + self._end_after_s - time.monotonic()
        if self._open or left_s > 0:
            self._look_later(min(LOOK_S, self._end_after_s if self._open else left_s))
            return
        os.write(2, b"no server returned\n")
        self._loop.stop()


class Visitor(Connection):
    """A connection that is counted while it is open."""

    def __init__(self, agent: Agent, sock: _socket.socket, visits: Visits) -> None:
        self._visits: Optional[Visits] = visits
        visits.began()
        super().__init__(agent, sock)

    def end(self) -> None:
        self._close()

    def _close(self) -> None:
        super()._close()
        visits, self._visits = self._visits, None
        if visits is not None:
            visits.ended()


class OneWayOut:
    """Hands out the egress listener, to one relay at a time: the newest. The one before is closed, and stops accepting:
    its server may be gone."""

    def __init__(self, agent: Agent) -> None:
        self._answer = agent.handlers["egress"]
        self._holder: Optional[Connection] = None

    def __call__(self, connection: Connection, request: dict[str, Any], payload: bytes) -> None:
        before, self._holder = self._holder, connection
        if isinstance(before, Visitor) and before is not connection:
            before.end()
        self._answer(connection, request, payload)
