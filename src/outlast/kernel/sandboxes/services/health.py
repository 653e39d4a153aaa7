"""Whether a service answers: a connection to its port, and where a path is given, one request for it."""

import socket
from typing import Final

import anyio

from outlast.base.errors import NotFound
from outlast.kernel.sandboxes.services.rules import Declared
from outlast_sandbox.interface import Sandbox

FIRST_LOOK_S: Final = 0.1  # of a service that starts, again after up to `LONGEST_LOOK_S`
LONGEST_LOOK_S: Final = 1.0
CHECK_S: Final = 30.0  # how long an answer may take: a dev server compiles before its first one
CHECK_EVERY_S: Final = 30.0  # a healthy one
MAX_MISSED: Final = 3  # checks in a row that a healthy service may miss
MAX_BYTES: Final = 4096


async def answers(sandbox: Sandbox, service: Declared, timeout_s: float = CHECK_S) -> bool:
    """True when it can be connected to and, with a health path, answers below 500 in time. Raises `SandboxLost`,
    `SandboxUnavailable`."""
    with anyio.move_on_after(timeout_s):
        try:
            connection = await sandbox.dial(service.port)
        except NotFound:
            return False
        with connection:
            if not service.health_path:
                return True
            try:
                return 100 <= await _status(connection, service) < 500
            except OSError:
                return False
    return False


async def _status(connection: socket.socket, service: Declared) -> int:
    """The status of one HTTP answer; 0 when it is none."""
    request = f"GET {service.health_path} HTTP/1.1\r\nHost: localhost:{service.port}\r\nConnection: close\r\n\r\n"
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
