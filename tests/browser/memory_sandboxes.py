"""Sandboxes in memory for a server process of its own: a provider like that of another package, for pages whose tests
are not about sandboxes. Its `tsc` finds all types in order, but in files with the word WRONG; every service that is
started in it is healthy and answers with the screen's `app/page.tsx`, as text."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio

from outlast.base.errors import NotFound
from outlast_sandbox.interactive import ProcessEnd, ProcessInfo, ProcessOutput, ProcessSpec
from outlast_sandbox.interface import Capabilities, SandboxSpec
from outlast_sandbox.providers.memory import Job, MemoryProvider, MemorySandbox
from outlast_sandbox.providers.registry import GROUP
from outlast_sandbox.providers.setup import ProviderSetup

NAME = "memory"
ROOT = Path(__file__).parents[2]
CAPABILITIES = Capabilities(pause=True, reattach=True, interactive=True, preview=True)
PAGE = "app/page.tsx"


class Processes:
    """Those of one sandbox. They write nothing and run until they are told to end."""

    def __init__(self) -> None:
        self._ends: dict[int, tuple[ProcessInfo, anyio.Event]] = {}

    async def start(self, spec: ProcessSpec) -> ProcessInfo:
        info = ProcessInfo(len(self._ends) + 1, spec)
        self._ends[info.pid] = info, anyio.Event()
        return info

    async def list(self) -> list[ProcessInfo]:
        return [info for info, end in self._ends.values() if not end.is_set()]

    @asynccontextmanager
    async def follow(self, pid: int) -> AsyncIterator[AsyncIterator[ProcessOutput | ProcessEnd]]:
        yield self._news(pid)

    async def _news(self, pid: int) -> AsyncIterator[ProcessOutput | ProcessEnd]:
        await self._ends[pid][1].wait()
        yield ProcessEnd(137, 9)

    async def signal(self, pid: int, number: int, *, group: bool = False) -> None:
        self._ends[pid][1].set()


class ServedSandbox(MemorySandbox):
    """With services, and a door to them."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._processes = Processes()

    @property
    def processes(self) -> Any:
        return self._processes

    async def dial(self, port: int) -> socket.socket:
        if not self.alive or not await self._processes.list():
            raise NotFound(f"nothing listens on port {port}")
        ours, theirs = socket.socketpair()
        for end in (ours, theirs):
            end.setblocking(False)
        self._tasks.start_soon(self._serve, theirs)
        return ours

    async def _serve(self, visitor: socket.socket) -> None:
        """One request, one answer."""
        with visitor:
            head = b""
            while b"\r\n\r\n" not in head:
                await anyio.wait_readable(visitor)
                data = visitor.recv(65536)
                if not data:
                    return
                head += data
            shown = self._files.get(PAGE, b"").replace(b"<", b"&lt;")
            body = b"<!doctype html><title>A screen</title><pre>" + shown + b"</pre>"
            size = str(len(body)).encode()
            visitor.setblocking(True)
            visitor.sendall(
                b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nConnection: close\r\nContent-Length: "
                + size
                + b"\r\n\r\n"
                + body
            )


class ServedMemory(MemoryProvider):
    """Its tasks live as long as the server's event loop."""

    _held: asyncio.Task[None] | None = None

    async def create(self, spec: SandboxSpec) -> MemorySandbox:
        if self._held is None:
            ready = asyncio.Event()
            self._held = asyncio.get_running_loop().create_task(self._hold(ready))
            await ready.wait()
        made = await super().create(spec)
        assert self._tasks is not None
        sandbox = ServedSandbox(spec, made._files, made._words, self._tasks)
        self._sandboxes[spec.sandbox_id] = sandbox
        return sandbox

    async def _hold(self, ready: asyncio.Event) -> None:
        async with self:
            ready.set()
            await asyncio.Event().wait()


async def _types(job: Job, _words: Sequence[str]) -> int:
    wrong = sorted(path for path, content in job.files.items() if path.endswith(".tsx") and b"WRONG" in content)
    for path in wrong:
        job.write(f"{path}(1,7): error TS2322: Type 'string' is not assignable to type 'number'.\n")
    return 2 if wrong else 0


def open_provider(_setup: ProviderSetup) -> MemoryProvider:
    """What the entry point names."""
    provider = ServedMemory(capabilities=CAPABILITIES)
    provider.respond("./node_modules/.bin/tsc", _types)
    return provider


def install(folder: Path) -> dict[str, str]:
    """Put the provider into a folder as a package manager would; the environment in which a server finds it."""
    facts = folder / "memory_sandboxes-1.0.dist-info"
    facts.mkdir(parents=True, exist_ok=True)
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: memory-sandboxes\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text(f"[{GROUP}]\n{NAME} = {__name__}:open_provider\n")
    return {"PYTHONPATH": f"{folder}:{ROOT}"}
