"""Interactive processes of a sandbox, through the agent inside; see `Processes`.

A follower occupies one connection until it leaves. It pulls: it requests each piece after processing the one before, so
that a slow reader needs no buffer here, and unread output is kept for the next follower.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

import anyio

from outlast_sandbox.errors import SandboxLost
from outlast_sandbox.interactive import ProcessEnd, ProcessInfo, ProcessOutput, ProcessSpec, TerminalSize

from .connection import Exchange, Pool

WRITE_BYTES: Final = 64 * 1024
LEAVE_TIMEOUT_S: Final = 1.0


class LocalProcesses:
    """See `Processes`."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def start(self, spec: ProcessSpec) -> ProcessInfo:
        head, _ = await self._pool.ask(
            "process_start",
            argv=list(spec.argv),
            cwd=spec.cwd,
            env=dict(spec.env),
            terminal=_size(spec.terminal),
            stdin=spec.stdin,
            tag=spec.tag,
        )
        return ProcessInfo(int(head["pid"]), spec)

    async def list(self) -> list[ProcessInfo]:
        async with self._pool.exchange("process_list") as exchange:
            return [ProcessInfo(int(entry["pid"]), _spec(entry)) async for entry in exchange.pages()]

    @asynccontextmanager
    async def follow(self, pid: int) -> AsyncIterator[AsyncIterator[ProcessOutput | ProcessEnd]]:
        async with self._pool.exchange("process_follow", pid=pid) as exchange:
            head, _ = await exchange.next()
            following = _Following(exchange, int(head["offset"]))
            try:
                yield following
            finally:
                await following.leave()

    async def write(self, pid: int, data: bytes) -> None:
        for start in range(0, max(1, len(data)), WRITE_BYTES):
            await self._pool.ask("process_write", data[start : start + WRITE_BYTES], pid=pid)

    async def close_stdin(self, pid: int) -> None:
        await self._pool.ask("process_close_stdin", pid=pid)

    async def resize(self, pid: int, size: TerminalSize) -> None:
        await self._pool.ask("process_resize", pid=pid, terminal=_size(size))

    async def signal(self, pid: int, number: int, *, group: bool = False) -> None:
        await self._pool.ask("process_signal", pid=pid, number=number, group=group)


class _Following:
    """The outputs of one process as they come; `read` counts the delivered bytes of all streams."""

    def __init__(self, exchange: Exchange, read: int) -> None:
        self._exchange = exchange
        self._read = read
        self._waiting: list[tuple[int, ProcessOutput]] = []
        self._ended = False

    def __aiter__(self) -> "_Following":
        return self

    async def __anext__(self) -> ProcessOutput | ProcessEnd:
        if self._ended:
            raise StopAsyncIteration
        if not self._waiting:
            await self._exchange.proceed(read=self._read)
            head, payload = await self._exchange.next()
            if self._exchange.done:
                self._ended = True
                return ProcessEnd(int(head["exit_code"]), None if head["signal"] is None else int(head["signal"]))
            self._waiting = _outputs(head, payload)
        self._read, output = self._waiting.pop(0)
        return output

    async def leave(self) -> None:
        """Report its position: the rest is for the next follower."""
        if self._exchange.done:
            return
        with anyio.CancelScope(shield=True), anyio.move_on_after(LEAVE_TIMEOUT_S):
            try:
                await self._exchange.proceed(read=self._read)
            except SandboxLost:
                return


def _outputs(head: Mapping[str, Any], payload: bytes) -> list[tuple[int, ProcessOutput]]:
    """The pieces of one response, each with the count of bytes after it."""
    offset, start = int(head["offset"]), 0
    outputs = []
    for number, (stream, size) in enumerate(head["parts"]):
        data = payload[start : start + int(size)]
        start += len(data)
        skipped = 0 if number else int(head["skipped"])
        outputs.append((offset + start, ProcessOutput(stream, data, skipped)))
    return outputs


def _size(size: TerminalSize | None) -> tuple[int, int] | None:
    return None if size is None else (size.columns, size.rows)


def _spec(entry: Mapping[str, Any]) -> ProcessSpec:
    size = entry["terminal"]
    return ProcessSpec(
        tuple(entry["argv"]),
        cwd=str(entry["cwd"]),
        env=dict(entry["env"]),
        terminal=TerminalSize(int(size[0]), int(size[1])) if size else None,
        stdin=bool(entry["stdin"]),
        tag=None if entry["tag"] is None else str(entry["tag"]),
    )
