"""Sandboxes in memory in which a dev server can run: a process is one that goes on until it is ended, and every port
answers while one runs."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

import anyio
import anyio.lowlevel

from outlast.base.errors import NotFound, SandboxUnavailable
from outlast_sandbox.interactive import ProcessEnd, ProcessInfo, ProcessOutput, ProcessSpec
from outlast_sandbox.providers.memory import MemoryProvider, MemorySandbox

KILLED = 137


@dataclass
class EndlessProcesses:
    """The processes of one sandbox."""

    infos: dict[int, ProcessInfo] = field(default_factory=dict)
    ends: dict[int, anyio.Event] = field(default_factory=dict)
    pids: Any = field(default_factory=lambda: count(100))

    async def start(self, spec: ProcessSpec) -> ProcessInfo:
        await anyio.lowlevel.checkpoint()
        info = ProcessInfo(next(self.pids), spec)
        self.infos[info.pid], self.ends[info.pid] = info, anyio.Event()
        return info

    async def list(self) -> list[ProcessInfo]:
        await anyio.lowlevel.checkpoint()
        return [info for info in self.infos.values() if info.exit_code is None]

    @asynccontextmanager
    async def follow(self, pid: int) -> AsyncIterator[AsyncIterator[ProcessOutput | ProcessEnd]]:
        await anyio.lowlevel.checkpoint()
        if pid not in self.infos:
            raise NotFound(f"There is no process {pid}.")
        yield self._news(pid)

    async def _news(self, pid: int) -> AsyncIterator[ProcessOutput | ProcessEnd]:
        await self.ends[pid].wait()
        yield ProcessEnd(KILLED, 9)

    async def signal(self, pid: int, number: int, *, group: bool = False) -> None:
        await anyio.lowlevel.checkpoint()
        if pid not in self.infos or self.infos[pid].exit_code is not None:
            raise NotFound(f"There is no process {pid}.")
        self.infos[pid] = replace(self.infos[pid], exit_code=KILLED)
        self.ends[pid].set()


class ServingSandbox(MemorySandbox):
    _board: EndlessProcesses

    @property
    def processes(self) -> Any:
        if "_board" not in self.__dict__:
            self._board = EndlessProcesses()
        return self._board

    async def dial(self, port: int) -> socket.socket:
        if not await self.processes.list():
            raise SandboxUnavailable(f"Nothing listens on port {port}.")
        near, far = socket.socketpair()
        far.close()
        return near


class ServingProvider(MemoryProvider):
    """See the module."""

    sandbox_class = ServingSandbox
