"""Models and visitors that mean harm, or are broken, before a server process of its own: it lives on as the same
process, answers meanwhile, and a run beside ends as if nothing had been."""

from __future__ import annotations

import os
import random
import socket
import struct
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
import anyio.to_thread
import pytest

from outlast.testing.model_server import Answer, Fault, ModelServer
from tests.crash.conftest import MakeServer
from tests.crash.scenario import Played, begin, follow, message
from tests.crash.server import CrashServer

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(300)]
NEIGHBOUR = " ".join(f"word{number}" for number in range(60))
IMPATIENT = """
[retry]
attempts = 1
base_s = 0.01
"""
RESET = struct.pack("ii", 1, 0)
MANY = 20


@asynccontextmanager
async def beside_a_neighbour(server: CrashServer) -> AsyncIterator[None]:
    """The server runs, and a run of somebody else goes on meanwhile, which ends exactly."""
    async with server:
        assert server.process is not None
        pid = server.process.pid
        turns: list[dict[str, Any]] = [{"text": NEIGHBOUR, "delay_s": 0.05}]
        played = await begin(server, "neighbour", message("neighbour", turns))
        async with anyio.create_task_group() as group:
            group.start_soon(followed, server, played)
            yield
        assert played.fold().status == "completed"
        assert [part["text"] for part in played.fold().parts] == [NEIGHBOUR]
        assert played.cuts == 0
        await is_well(server)
        assert (server.process.pid, server.starts) == (pid, 1)


async def followed(server: CrashServer, played: Played) -> None:
    async for _ in follow(server, played):
        pass


async def is_well(server: CrashServer) -> None:
    assert server.process is not None
    assert server.process.poll() is None, "the server has ended"
    with anyio.fail_after(30):
        assert (await server.call("GET", "/healthz"))[0] == 200


def call(arguments: Any, name: str = "read_files") -> Answer:
    return Answer(text="I call. ", calls=({"name": name, "arguments": arguments, "id": "call_1"},))


HOSTILE: dict[str, Answer] = {
    "ten megabytes in one piece": Answer(text="x" * 10_000_000),
    "ten megabytes of thinking in one piece": Answer(reasoning="x" * 10_000_000, text="So."),
    "an answer that breaks off": Answer(text="One two three four five", fault=Fault.DISCONNECT_MID),
    "an error in the middle": Answer(text="One two three four five", fault=Fault.ERROR_MID),
    "a frame that is no JSON": Answer(text="One two three four five", fault=Fault.MALFORMED_JSON),
    "an answer without an end": Answer(text="One two", fault=Fault.NO_FINISH),
    "arguments that are no JSON": call('{"paths": ['),
    "arguments that are a list": call("[1, 2]"),
    "arguments nested very deep": call('{"paths":' * 20_000),
    "arguments of two megabytes": call('{"paths": ["' + "x" * 2_000_000 + '"]}'),
    "arguments with half a character": call('{"paths": ["\\ud800"]}'),
    "arguments with a null character": call('{"paths": ["a\\u0000b"]}'),
    "an answer with a null character": Answer(text="One \x00two", reasoning="So\x00."),
    "a tool that there is not": call({}, name="no\x00such" * 500),
}


async def test_a_hostile_model_costs_its_own_run_at_most(make_server: MakeServer, model: ModelServer) -> None:
    await every_hostile_model(make_server(more=IMPATIENT), model)


@pytest.mark.deep
@pytest.mark.postgres
async def test_a_hostile_model_costs_its_own_run_at_most_on_postgresql(
    make_server: MakeServer, model: ModelServer, postgres_url: str
) -> None:
    await every_hostile_model(make_server(more=IMPATIENT, database=postgres_url), model)


async def every_hostile_model(server: CrashServer, model: ModelServer) -> None:
    async with beside_a_neighbour(server):
        for name, answer in HOSTILE.items():
            await model_answers(server, model, name, answer)
        await an_endless_answer(server, model)


async def model_answers(server: CrashServer, model: ModelServer, name: str, answer: Answer) -> None:
    """A run ends whose model says this, at most twice where it is asked again, and then something usual."""
    model.add(answer)
    status, begun = await server.call("POST", "/v1/runs", {"content": f"Be hostile: {name}."})
    assert status == 202, name
    with anyio.fail_after(60):
        run = await ended(server, begun["run_id"])
    assert run["status"] in ("completed", "error"), (name, run)
    assert (run.get("error") or {}).get("code") != "internal_error", (name, run)
    assert "Traceback" not in server.log(), name
    await is_well(server)


async def an_endless_answer(server: CrashServer, model: ModelServer) -> None:
    """Nothing more comes, ever: the person cancels."""
    hung_up = model.hung_up
    model.add(Answer(text="One two three four five", fault=Fault.STALL_MID))
    _, begun = await server.call("POST", "/v1/runs", {"content": "Never end."})
    run_id = begun["run_id"]
    await server.call("POST", f"/v1/runs/{run_id}/cancel")
    with anyio.fail_after(60):
        assert (await ended(server, run_id))["status"] == "cancelled"
        if any("Never end." in str(request.body) for request in model.requests):
            await model.wait_hung_up(hung_up + 1)


async def ended(server: CrashServer, run_id: str) -> dict[str, Any]:
    """The run as it is once its stream has ended."""
    played = Played(run_id, "", "", "")
    async for _ in follow(server, played):
        pass
    return dict(await server.get(f"/v1/runs/{run_id}"))


def connected(server: CrashServer, *sent: bytes) -> socket.socket:
    """A connection to the server that has sent this much."""
    visitor = socket.create_connection(("127.0.0.1", server.port), timeout=10)
    with suppress(ConnectionError):
        for piece in sent:
            visitor.sendall(piece)
    return visitor


def reset(visitor: socket.socket) -> None:
    """Close it as a process does that dies: without a goodbye."""
    visitor.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    visitor.close()


def half_open_heads(server: CrashServer, _run_id: str) -> Iterator[socket.socket]:
    for number in range(MANY):
        yield connected(server, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Half: " + b"x" * number)


def slow_bodies(server: CrashServer, _run_id: str) -> Iterator[socket.socket]:
    head = b"POST /v1/runs HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Type: application/json\r\n" % server.port
    for number in range(MANY):
        yield connected(server, head, b"Content-Length: 5000\r\n\r\n", b'{"content": "' + b"x" * number)
        yield connected(server, head, b"Transfer-Encoding: chunked\r\n\r\n", b"ffffff\r\n", b"x" * number)


def cut_streams(server: CrashServer, run_id: str) -> Iterator[socket.socket]:
    head = f"GET /v1/runs/{run_id}/events HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n".encode()
    for _ in range(MANY):
        visitor = connected(server, head)
        assert visitor.recv(20).startswith(b"HTTP/1.1 200"), "it streams, and is cut in the middle"
        yield visitor


def garbage(server: CrashServer, run_id: str) -> Iterator[socket.socket]:
    chance = random.Random(7)
    upgrade = (
        f"GET /v1/runs/{run_id}/events HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nConnection: Upgrade\r\n"
        "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    ).encode()
    for _ in range(MANY):
        yield connected(server, upgrade, chance.randbytes(3_000))
        yield connected(server, chance.randbytes(3_000))
        yield connected(server, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", chance.randbytes(500))
        yield connected(server, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", chance.randbytes(500))
        yield connected(server, b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n")
        yield connected(
            server, b"POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"
        )


VISITORS: tuple[Callable[[CrashServer, str], Iterator[socket.socket]], ...] = (
    half_open_heads,
    slow_bodies,
    cut_streams,
    garbage,
)


def open_files(server: CrashServer) -> int:
    assert server.process is not None
    return len(os.listdir(f"/proc/{server.process.pid}/fd"))


async def test_hostile_visitors_cost_nobody_else_anything(make_server: MakeServer, model: ModelServer) -> None:
    await every_hostile_visitor(make_server())


@pytest.mark.deep
@pytest.mark.postgres
async def test_hostile_visitors_cost_nobody_else_anything_on_postgresql(
    make_server: MakeServer, model: ModelServer, postgres_url: str
) -> None:
    await every_hostile_visitor(make_server(database=postgres_url))


async def every_hostile_visitor(server: CrashServer) -> None:
    async with beside_a_neighbour(server):
        slow: list[dict[str, Any]] = [{"text": NEIGHBOUR, "delay_s": 0.2}]
        watched = await begin(server, "watched", message("watched", slow))
        before = open_files(server)
        for visit in VISITORS:
            visitors = await anyio.to_thread.run_sync(list, visit(server, watched.run_id))
            await is_well(server)
            for visitor in visitors:
                reset(visitor)
            await is_well(server)
        with anyio.fail_after(60):
            while open_files(server) > before + 5:
                await is_well(server)
        await server.call("POST", f"/v1/runs/{watched.run_id}/cancel")
        assert (await ended(server, watched.run_id))["status"] == "cancelled"
    assert "Traceback" not in server.log()
