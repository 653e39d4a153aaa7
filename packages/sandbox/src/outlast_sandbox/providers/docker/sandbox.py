"""The server's handle on one container."""

import functools
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import anyio
import anyio.to_thread
from anyio.abc import SocketStream

from outlast_sandbox.errors import SandboxUnavailable
from outlast_sandbox.folders import discard_folder
from outlast_sandbox.interface import SandboxStatistics
from outlast_sandbox.providers.local.cgroups import Group, group_of
from outlast_sandbox.providers.local.connection import Pool, connect_in, lost
from outlast_sandbox.providers.local.handle import AgentHandle

from .engine import Engine, EngineRefused
from .handshake import SOCKET

FROZEN_SINCE: Final = "frozen_since"
THAW_NOTE_TIMEOUT_S: Final = 2.0
KILL_TIMEOUT_S: Final = 30.0


@dataclass(frozen=True, slots=True)
class Container:
    """One running container: `pid` is its first process's id on this machine, 0 if it is not visible (the engine runs
    in another process namespace); then its control group is empty, too."""

    sandbox_id: str
    id: str
    pid: int
    start_time: str
    group: Group

    @staticmethod
    def of(sandbox_id: str, facts: dict[str, Any]) -> "Container":
        """From the engine's description. Its control group is used only if it names the container; otherwise the pid
        belongs to another process on this machine."""
        container, pid = str(facts["Id"]), int(facts["State"].get("Pid") or 0)
        group = group_of(pid) if pid else Group(())
        if not any(container in str(folder) for folder in group.folders):
            return Container(sandbox_id, container, 0, "", Group(()))
        return Container(sandbox_id, container, pid, _start_time(pid), group)

    def is_alive(self) -> bool | None:
        """True if its first process runs, or None if that is not visible from here."""
        return _start_time(self.pid) == self.start_time != "" if self.pid else None


class DockerSandbox(AgentHandle):
    """See `Sandbox`. Holds only open sockets; all state is in the container and its agent."""

    def __init__(self, engine: Engine, container: Container, folder: Path) -> None:
        super().__init__(Pool(container.sandbox_id, functools.partial(reach, folder)), container.group)
        self._engine = engine
        self._container = container
        self._folder = folder

    @property
    def sandbox_id(self) -> str:
        return self._container.sandbox_id

    @property
    def ref(self) -> str:
        return self._container.id

    async def freeze(self) -> None:
        since = self._folder / FROZEN_SINCE
        if (await self._state()).get("Paused"):
            return
        since.write_text(str(time.monotonic()))
        try:
            await self._engine.pause(self.ref)
        except EngineRefused as error:
            since.unlink(missing_ok=True)
            raise SandboxUnavailable(
                f"The sandbox cannot be frozen here: {error}",
                hint="The engine needs a control group freezer; without it, idle sandboxes are stopped.",
            ) from error

    async def thaw(self) -> None:
        since = self._folder / FROZEN_SINCE
        if not (await self._state()).get("Paused"):
            since.unlink(missing_ok=True)
            return
        try:
            seconds = max(0.0, time.monotonic() - float(since.read_text()))
        except (OSError, ValueError):
            seconds = 0.0
        # Sent before the thaw, so that it is the first thing the agent reads, before any time limit fires.
        async with self._pool.exchange("thawed", seconds=seconds) as exchange:
            await self._unpause()
            since.unlink(missing_ok=True)
            with anyio.move_on_after(THAW_NOTE_TIMEOUT_S):
                await exchange.next()

    async def kill(self) -> None:
        with anyio.move_on_after(KILL_TIMEOUT_S, shield=True):
            await self._pool.aclose()
            await end_container(self._engine, self.ref, self._folder)

    async def statistics(self) -> SandboxStatistics:
        if self._container.is_alive():
            group = self._group
            return SandboxStatistics(group.memory_bytes(), group.process_count(), group.cpu_s())
        await self._state()
        usage = await self._engine.statistics(self.ref)
        if usage is None:
            raise lost(self.sandbox_id)
        return statistics_of(usage)

    async def log(self) -> str:
        return await self._engine.log(self.ref)

    async def _state(self) -> dict[str, Any]:
        """The container's state from the engine. Raises `SandboxLost` unless it runs, paused or not."""
        facts = await self._engine.inspect(self.ref)
        state: dict[str, Any] = facts["State"] if facts is not None else {}
        if not state.get("Running") and not state.get("Paused"):
            raise lost(self.sandbox_id)
        return state

    async def _unpause(self) -> None:
        try:
            await self._engine.unpause(self.ref)
        except EngineRefused as error:
            if (await self._state()).get("Paused"):
                raise SandboxUnavailable(f"The sandbox cannot be thawed: {error}") from error


async def reach(folder: Path) -> SocketStream:
    """Connect to the agent. The data sent is queued for it at once, even while it is frozen. Raises OSError."""
    return await connect_in(folder, SOCKET)


async def end_container(engine: Engine, ref: str, folder: Path) -> None:
    """Remove the container with all its processes, then its folder here. Idempotent."""
    try:
        await engine.remove(ref)
    except EngineRefused as error:
        raise SandboxUnavailable(f"the container {ref[:12]} could not be removed: {error}") from error
    await anyio.to_thread.run_sync(discard_folder, folder)


def _start_time(pid: int) -> str:
    """The start time of that process, in clock ticks since boot, or "" if it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in (b"Z", b"X") else fields[19].decode()


def statistics_of(usage: dict[str, Any]) -> SandboxStatistics:
    memory, processes = usage.get("memory_stats") or {}, usage.get("pids_stats") or {}
    cpu = (usage.get("cpu_stats") or {}).get("cpu_usage") or {}
    return SandboxStatistics(
        int(memory.get("usage") or 0), int(processes.get("current") or 0), int(cpu.get("total_usage") or 0) / 1e9
    )
