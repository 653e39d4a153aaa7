"""A way to PostgreSQL that can be cut without a sign: nothing is closed, nothing refused, and nothing comes through."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import anyio


class SilentProxy:
    """A TCP proxy in front of a port of this machine.

    `cut_present` silences the connections that there are; new ones work, as after a failover or behind a firewall that
    forgot them. `cut_all` silences every one, until `mend` lets new ones through again: silenced ones stay so.
    """

    def __init__(self, target_port: int) -> None:
        self._target_port = target_port
        self._silent: asyncio.Event = asyncio.Event()  # of the connections made since the last cut
        self._is_cut = False
        self._tasks: set[asyncio.Task[None]] = set()
        self.port = 0
        self.opened = 0

    def cut_present(self) -> None:
        self._silent.set()
        self._silent = asyncio.Event()

    def cut_all(self) -> None:
        self._is_cut = True
        self._silent.set()

    def mend(self) -> None:
        self._is_cut = False
        self._silent = asyncio.Event()

    def url(self, url: str) -> str:
        """The address of a database on the target's port, through this."""
        return url.replace(f":{self._target_port}/", f":{self.port}/")

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[SilentProxy]:
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            server.close()
            for task in self._tasks:
                task.cancel()
            if self._tasks:
                await asyncio.wait(self._tasks)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        silent, is_cut = self._silent, self._is_cut
        self.opened += 1
        try:
            if is_cut:
                await asyncio.Event().wait()
            there = await asyncio.open_connection("127.0.0.1", self._target_port)
            try:
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(_pass, reader, there[1], silent, tasks.cancel_scope)
                    tasks.start_soon(_pass, there[0], writer, silent, tasks.cancel_scope)
            finally:
                there[1].close()
        except (OSError, asyncio.CancelledError):
            pass  # asyncio's server logs what is raised here
        finally:
            writer.close()
            self._tasks.discard(task)


async def _pass(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, silent: asyncio.Event, both: anyio.CancelScope
) -> None:
    with suppress(OSError):
        while body := await reader.read(65_536):
            if silent.is_set():
                await asyncio.Event().wait()  # even the end of the connection is not passed on
            writer.write(body)
            await writer.drain()
    if silent.is_set():
        await asyncio.Event().wait()
    both.cancel()
