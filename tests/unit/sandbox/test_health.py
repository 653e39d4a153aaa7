"""Whether a server answers, asked through a connection that a stand-in for the sandbox hands out."""

from __future__ import annotations

import socket
from typing import cast

import anyio
import pytest

from outlast_sandbox.errors import NotFound, SandboxLost
from outlast_sandbox.health import answers
from outlast_sandbox.interface import Sandbox

WEB = "/health"
BARE = ""


class Port:
    """A sandbox with one port, which says what it is told to: None: nobody listens."""

    def __init__(self, answer: bytes | None) -> None:
        self.answer = answer
        self.asked = b""
        self._theirs: list[socket.socket] = []

    async def dial(self, port: int) -> socket.socket:
        assert port == 3000
        if self.answer is None:
            raise NotFound("nothing listens there")
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        self._theirs.append(theirs)
        theirs.sendall(self.answer)
        return ours

    def read(self) -> bytes:
        return self._theirs[-1].recv(4096)

    def close(self) -> None:
        for connection in self._theirs:
            connection.close()


async def asked(port: Port, path: str, timeout_s: float = 30.0) -> bool:
    try:
        return await answers(cast("Sandbox", port), 3000, path, timeout_s)
    finally:
        port.close()


@pytest.mark.parametrize(
    ("answer", "well"),
    [
        (b"HTTP/1.1 200 OK\r\n\r\n", True),
        (b"HTTP/1.0 302 Found\r\n\r\n", True),
        (b"HTTP/1.1 404 Not Found\r\n\r\n", True),
        (b"HTTP/1.1 500 Oh\r\n\r\n", False),
        (b"HTTP/1.1 abc\r\n\r\n", False),
        (b"SSH-2.0-OpenSSH\r\n", False),
    ],
)
async def test_it_is_well_when_it_answers_below_500(answer: bytes, well: bool) -> None:
    assert await asked(Port(answer), WEB) is well


async def test_it_is_asked_for_its_path_as_localhost() -> None:
    port = Port(b"HTTP/1.1 204 No Content\r\n\r\n")
    assert await answers(cast("Sandbox", port), 3000, WEB, 30)
    assert port.read().startswith(b"GET /health HTTP/1.1\r\nHost: localhost:3000\r\n")
    port.close()


async def test_without_a_path_a_connection_is_enough() -> None:
    assert await asked(Port(b""), BARE)


async def test_where_nobody_listens_it_is_not_well() -> None:
    assert not await asked(Port(None), WEB)


async def test_one_that_says_nothing_is_not_waited_for_longer_than_stated() -> None:
    with anyio.fail_after(30):
        assert not await asked(Port(b""), WEB, 0.05)


async def test_a_lost_sandbox_is_not_a_sick_server() -> None:
    class Gone(Port):
        async def dial(self, port: int) -> socket.socket:
            raise SandboxLost("it is gone")

    with pytest.raises(SandboxLost):
        await asked(Gone(b""), WEB)
