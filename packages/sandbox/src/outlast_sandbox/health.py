"""Health checks of a server in a sandbox: a connection to its port, and a request if a path is given."""

import socket
from typing import Final

import anyio

from outlast_sandbox.errors import NotFound
from outlast_sandbox.interface import Sandbox

FIRST_LOOK_S: Final = 0.1  # delay of the first repeated check; later ones grow to `LONGEST_LOOK_S`
LONGEST_LOOK_S: Final = 1.0
ANSWER_S: Final = 30.0  # time limit of a response: a dev server compiles before its first one
MAX_BYTES: Final = 4096


async def answers(sandbox: Sandbox, port: int, path: str = "", timeout_s: float = ANSWER_S) -> bool:
    """True if it accepts a connection and, with a path, returns a status below 500 in time. Raises `SandboxLost`,
    `SandboxUnavailable`."""
    with anyio.move_on_after(timeout_s):
        try:
            connection = await sandbox.dial(port)
        except NotFound:
            return False
        with connection:
            if not path:
                return True
            try:
                return 100 <= await _status(connection, port, path) < 500
            except OSError:
                return False
    return False


async def wait_answering(sandbox: Sandbox, port: int, path: str = "") -> None:
    """Return once it answers, checking less and less often. Errors as for `answers`."""
    pause_s = FIRST_LOOK_S
    while not await answers(sandbox, port, path):
        await anyio.sleep(pause_s)
        pause_s = min(pause_s * 1.5, LONGEST_LOOK_S)


async def _status(connection: socket.socket, port: int, path: str) -> int:
    """The status of one HTTP response, or 0 if the data is not HTTP."""
    request = f"GET {path} HTTP/1.1\r\nHost: localhost:{port}\r\nConnection: close\r\n\r\n"
    unsent = memoryview(request.encode())
    while unsent:
        await anyio.wait_writable(connection)
        unsent = unsent[connection.send(unsent) :]
    head = b""
    while b"\r\n" not in head and len(head) < MAX_BYTES:
        await anyio.wait_readable(connection)
        data = connection.recv(MAX_BYTES)
        if not data:
            break
        head += data
    words = head.split(b"\r\n")[0].split()
    return int(words[1]) if len(words) > 1 and words[0].startswith(b"HTTP/") and words[1].isdigit() else 0
