"""The agent's start in a container: the server passes a listening socket, in place of a shim outside.

The container sees a folder with one socket, on which the server waits for this start only. Through it the agent
receives the configuration and the listener; the path of that listener is outside, so no other process in here can reach
it.
"""

from __future__ import annotations

import _socket
import os
import struct

from .json_text import loads
from .loop import READ, Loop
from .main import Connection, start_agent
from .orphaned import ServerWatch
from .spawner import Spawner
from .system_calls import load_filter

HELLO = "/run/outlast/hello"
MAX_CONFIG_BYTES = 1 << 20


def main() -> None:
    """Run the agent as the container's first process. It ends with the container."""
    os.closerange(3, 4096)
    loop = Loop()
    spawner = Spawner(loop.reap)
    hello = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
    hello.connect(HELLO)
    message, extra, _flags, _address = hello.recvmsg(MAX_CONFIG_BYTES, _socket.CMSG_SPACE(8))
    if not message or len(extra) != 1:
        return  # the server gave up the start
    listener_fd, presence_fd = struct.unpack("ii", extra[0][2])
    listener = _socket.socket(fileno=listener_fd)
    os.set_inheritable(listener_fd, False)
    os.set_inheritable(presence_fd, False)
    listener.setblocking(False)
    config = loads(message)
    agent = start_agent(loop, spawner, config)
    ServerWatch(loop, presence_fd, config["end_after_s"])
    load_filter(config.get("filter"))

    def accept(_events: int) -> None:
        try:
            fd, _address = listener._accept()  # type: ignore[attr-defined]
        except OSError:
            return  # the other end has closed meanwhile
        Connection(agent, _socket.socket(fileno=fd))

    loop.add(listener.fileno(), READ, accept)
    hello.send(b"ready")
    hello.close()
    loop.run()
