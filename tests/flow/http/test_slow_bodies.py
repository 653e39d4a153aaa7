"""Bodies that come slowly, over real sockets: not waited for without an end, and never cut while they come."""

from __future__ import annotations

from contextlib import suppress

import anyio
import orjson
import pytest
from anyio.abc import SocketStream

from outlast.kernel.http.body_limits import BodyPace
from tests.flow.http.sockets import rest_of, served

HEAD = b"POST %b HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
LENGTH = HEAD + b"Content-Length: %d\r\n\r\n"


async def trickle(client: SocketStream, piece: bytes, every_s: float) -> None:
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        while True:
            await client.send(piece)
            await anyio.sleep(every_s)


@pytest.mark.parametrize("begun", [b"", b"{"], ids=["nothing", "a part"])
async def test_a_body_that_does_not_come_is_refused_and_the_connection_closed(begun: bytes):
    async with served(pace=BodyPace(0.1)) as here, await here.connect() as client:
        await client.send(LENGTH % (b"/v1/runs", 1000) + begun)
        answer = await rest_of(client)
        assert answer.startswith(b"HTTP/1.1 408 Request Timeout\r\n")
        assert b"connection: close" in answer
        problem = orjson.loads(answer.partition(b"\r\n\r\n")[2])
        assert (problem["code"], problem["status"]) == ("body_too_slow", 408)


async def test_a_body_that_comes_byte_by_byte_is_refused_too():
    async with served(pace=BodyPace(0.5, min_per_s=1e6)) as here, await here.connect() as client:
        await client.send(HEAD % b"/v1/runs" + b"Transfer-Encoding: chunked\r\n\r\n")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(trickle, client, b"1\r\nx\r\n", 0.01)
            assert (await rest_of(client)).startswith(b"HTTP/1.1 408 ")
            tasks.cancel_scope.cancel()


async def test_a_body_that_comes_slowly_but_comes_is_taken():
    """Three times as long as a silent one may take: what has come makes up for the waiting."""
    async with served(pace=BodyPace(0.5, min_per_s=100)) as here, await here.connect() as client:
        await client.send(LENGTH % (b"/v1/runs", 15 * 50))
        for _ in range(15):
            await client.send(b"x" * 50)
            await anyio.sleep(0.1)
        assert (await client.receive()).endswith(b"POST /v1/runs 750")


async def test_an_answer_that_takes_long_after_its_body_came_is_waited_for():
    async with served(pace=BodyPace(0.05)) as here, await here.connect() as client:
        await client.send(LENGTH % (b"/wait", 2) + b"{}")
        await here.wait_seen(1)
        await anyio.sleep(0.2)
        here.go.set()
        assert (await client.receive()).endswith(b"POST /wait 2")


async def test_input_of_a_program_may_come_when_it_comes():
    """E2B's stream of a program's input is open for as long as the program likes."""
    async with served(pace=BodyPace(0.05)) as here, await here.connect() as client:
        path = b"/process.Process/StreamInput"
        head = HEAD % path + b"E2b-Sandbox-Id: x\r\nTransfer-Encoding: chunked\r\n\r\n"
        await client.send(head + b"1\r\nx\r\n")
        await here.wait_seen(1)
        await anyio.sleep(0.2)
        await client.send(b"1\r\nx\r\n0\r\n\r\n")
        assert (await client.receive()).endswith(b"%b 2" % path)
