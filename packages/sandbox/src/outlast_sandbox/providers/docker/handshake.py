"""The first contact of server and agent. Over a socket that the container sees, the server passes the configuration and
the socket at which the agent listens from then on, which the container does not see."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import anyio

SOCKET: Final = "socket"
HELLO: Final = "hello"
MEETING_FOLDER: Final = "meeting"
BACKLOG: Final = 128
_ANSWER: Final = b"ready"


@contextmanager
def meeting(folder: Path) -> Iterator[socket.socket]:
    """Wait for the agent at `folder/meeting/hello` while this is open, and for the server's own calls at
    `folder/socket`. Afterwards only the empty meeting folder is left."""
    place = folder / MEETING_FOLDER
    place.mkdir(mode=0o755)
    place.chmod(0o755)
    hello = bound(place, HELLO, socket.SOCK_SEQPACKET)
    try:
        (place / HELLO).chmod(0o666)  # for any user of the container; only its first process sees it
        yield hello
    finally:
        hello.close()
        (place / HELLO).unlink(missing_ok=True)


async def introduce(hello: socket.socket, folder: Path, config: bytes, presence: Path) -> None:
    """Wait for the agent and pass the socket, with a descriptor that shows if a server holds the lock on `presence`;
    returns once the agent serves. No time limit: the caller watches the container."""
    await anyio.wait_readable(hello)
    agent, _ = hello.accept()
    with agent, bound(folder, SOCKET, socket.SOCK_STREAM) as listener, presence.open("rb") as lock:
        agent.setblocking(False)
        socket.send_fds(agent, [config], [listener.fileno(), lock.fileno()])
        await anyio.wait_readable(agent)
        if agent.recv(16) != _ANSWER:
            raise ConnectionError("the agent gave up")


def bound(folder: Path, name: str, kind: socket.SocketKind) -> socket.socket:
    """A listening socket of that name, even if the folder's path is longer than a socket address. Raises OSError."""
    descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY)
    try:
        listener = socket.socket(socket.AF_UNIX, kind)
        listener.bind(f"/proc/self/fd/{descriptor}/{name}")
        listener.listen(BACKLOG)
        listener.setblocking(False)
    finally:
        os.close(descriptor)
    return listener
