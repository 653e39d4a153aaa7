"""What a hostile program may write in place of the relay: it ends its own run, and holds up nothing else."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
import orjson
import pytest

from outlast.base.agent_errors import GuestFailed
from outlast.base.errors import SandboxLost
from outlast.kernel.agents.guests.acp import messages as acp
from outlast.kernel.agents.guests.acp.process import Connection
from outlast_sandbox.interactive import ProcessEnd, ProcessOutput

BLOCK = 65_536
SLOW_S = 0.2  # of processor time in which nothing else ran; on a quiet machine it is a tenth


class Program:
    """The process: it greets, and writes what it is given, whatever it reads."""

    def __init__(self, *written: bytes) -> None:
        self.written: Sequence[bytes] = written
        self.read: list[dict[str, Any]] = []

    async def write(self, _pid: int, data: bytes) -> None:
        self.read.append(orjson.loads(data))

    @asynccontextmanager
    async def follow(self, _pid: int) -> AsyncIterator[AsyncIterator[ProcessOutput | ProcessEnd]]:
        yield self._outputs()

    async def _outputs(self) -> AsyncIterator[ProcessOutput | ProcessEnd]:
        yield ProcessOutput("stdout", b"rest of a line\n" + line(greeting=self.read[0]["greeting"]))
        for one in self.written:
            for at in range(0, len(one), BLOCK):
                yield ProcessOutput("stdout", one[at : at + BLOCK])
        yield ProcessEnd(0)


def line(**item: Any) -> bytes:
    return json.dumps(item).encode() + b"\n"


def says(number: int, **message: Any) -> bytes:
    return line(n=number, line=json.dumps({"jsonrpc": "2.0", **message}))


def update(number: int, text: str, **more: Any) -> bytes:
    said = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}, **more}
    return says(number, method="session/update", params={"update": said})


async def connected(*written: bytes) -> Connection:
    program: Any = Program(*written)
    connection = Connection(program, 1)
    await connection.open(0)
    return connection


async def longest_pause(connection: Connection) -> float:
    """Read to the end. Returns the longest processor time in which nothing else ran."""
    pauses = []

    async def measure() -> None:
        while True:
            began = time.process_time()
            await anyio.lowlevel.checkpoint()
            pauses.append(time.process_time() - began)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(measure)
        with suppress(SandboxLost):
            while True:
                await connection.take()
        tasks.cancel_scope.cancel()
    return max(pauses)


@pytest.mark.parametrize(
    "forged",
    [
        {},
        {"n": 1},
        {"line": "{}"},
        {"n": "1", "line": "{}"},
        {"n": True, "line": "{}"},
        {"n": -1, "line": "{}"},
        {"n": 2**60, "line": "{}"},
        {"n": 1.5, "line": "{}"},
        {"n": 1, "line": 5},
        {"n": 1, "line": ["{}"]},
        {"n": 1, "exit": "0", "stderr": ""},
        {"n": 1, "exit": None, "stderr": ""},
        {"n": 1, "exit": 1},
        {"n": 1, "exit": 1, "stderr": 3},
        {"n": None, "exit": 1, "stderr": ""},
    ],
)
async def test_a_line_that_is_none_of_the_relays_ends_the_run(forged: Any) -> None:
    with pytest.raises(GuestFailed, match="none of its relay's"):
        await (await connected(line(**forged))).take()


async def test_lines_that_were_read_are_not_read_again() -> None:
    connection = await connected(update(1, "a"), line(greeting="of another"), update(1, "b"), b"[3]\n", update(2, "c"))
    assert [(await connection.take()).event for _ in range(2)] == [acp.Text("a"), acp.Text("c")]


ROWS = "[]," * 600_000 + "[]"


@pytest.mark.parametrize(
    "written",
    [
        b"\n" * 10 * BLOCK,
        b"a\n" * BLOCK,
        b"".join(line(n=1, line="x") for _ in range(5_000)),
        b"".join(line(n=number, line="x") for number in range(2, 5_000)),
        line(n=2, line='{"method": "session/update", "params": {"update": [' + ROWS + "]}}"),
        line(n=2, line='{"method": "session/update", "params": {"update": "' + '\\"' * 1_000_000 + '"}}'),
        b'{"m": [' + ROWS.encode() + b"]}\n",
        b"[" * 1_000_000 + b"\n",
    ],
    ids=["breaks", "letters", "repeated", "many", "rows", "quotes", "rows outside", "nested"],
)
async def test_nothing_that_a_program_writes_holds_the_loop(written: bytes) -> None:
    assert await longest_pause(await connected(update(1, "a"), written, update(50_000, "b"))) < SLOW_S


async def test_an_update_that_is_too_large_to_be_read_is_left_out_and_anything_else_of_that_size_ends_the_run() -> None:
    rows: list[Any] = [[]] * 100_000
    connection = await connected(update(1, "a", rows=rows), update(2, "b"))
    assert (await connection.take()).event == acp.Text("b")
    for written in (says(1, id=3, result={"rows": rows}), b'{"n": 1, "line": "' + b"a" * 9_000_000):
        with pytest.raises(GuestFailed, match="too large to be read"):
            await (await connected(written)).take()


async def test_after_many_bytes_there_is_a_pause_so_that_they_are_recorded() -> None:
    text = "a" * 3_000_000
    silent = [says(number, method="session/update", params=text) for number in range(1, 9)]
    connection = await connected(*silent, *(update(number, text) for number in range(9, 20)))
    events = []
    for _ in range(12):
        said = await connection.take()
        events.append((said.number, type(said.event)))
        if said.number == 15:
            await connection.recorded(15)
    paused = [number for number, kind in events if kind is acp.Pause]
    assert paused == [6, 12]
    assert [number for number, kind in events if kind is acp.Text] == [9, 10, 11, 12, 13, 14, 15, 16, 17, 18]
