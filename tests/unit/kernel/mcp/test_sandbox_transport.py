"""The output of a hostile package that is an MCP server."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from mcp.shared.message import SessionMessage

from outlast.kernel.mcp.sandbox_transport import _read
from outlast_sandbox.interactive import ProcessEnd, ProcessOutput

BLOCK = 65_536
SLOW_S = 0.1  # of processor time in which nothing else ran


class Program:
    def __init__(self, *written: bytes) -> None:
        self.written = written

    @asynccontextmanager
    async def follow(self, _pid: int) -> AsyncIterator[AsyncIterator[ProcessOutput | ProcessEnd]]:
        yield self._outputs()

    async def _outputs(self) -> AsyncIterator[ProcessOutput | ProcessEnd]:
        for one in self.written:
            yield ProcessOutput("stdout", one)
            await anyio.lowlevel.checkpoint()
        yield ProcessEnd(0)


@pytest.mark.parametrize(
    "written", [b"\n" * BLOCK, b"a\n" * (BLOCK // 2), b"[]\n" * (BLOCK // 3), b'{"id":1}\n' * 7_000]
)
async def test_many_short_lines_do_not_hold_the_loop_and_the_message_after_them_is_read(written: bytes) -> None:
    to_client, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    program: Any = Program(written, b'\n\n{"jsonrpc": "2.0", ', b'"method": "hello"}\n\n')
    pauses, over = [], anyio.Event()

    async def measure() -> None:
        while True:
            began = time.process_time()
            await anyio.lowlevel.checkpoint()
            pauses.append(time.process_time() - began)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(measure)
        tasks.start_soon(_read, program, 1, to_client, over)
        message = await read.receive()
        assert isinstance(message, SessionMessage)
        await over.wait()
        tasks.cancel_scope.cancel()
    assert max(pauses) < SLOW_S
