"""The server's handle on one local sandbox."""

import json
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread

from outlast_sandbox.errors import SandboxUnavailable
from outlast_sandbox.folders import discard_folder
from outlast_sandbox.interface import SandboxStatistics

from .cgroups import Group
from .connection import Pool, lost, open_socket
from .handle import AgentHandle
from .launch import LAYERS

KILL_TIMEOUT_S: Final = 10.0
THAW_NOTE_TIMEOUT_S: Final = 2.0
FROZEN_SINCE: Final = "frozen_since"
LOG_BYTES: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class State:
    """The shim's state file: pid and start time (clock ticks since boot) together identify one process uniquely."""

    sandbox_id: str
    pid: int
    start_time: int
    group: Group

    @property
    def ref(self) -> str:
        return f"{self.pid}:{self.start_time}"

    @staticmethod
    def read(state_dir: Path) -> "State | None":
        """The state file of a sandbox, or None if it is missing or unreadable."""
        try:
            facts = json.loads((state_dir / "state.json").read_text())
            folders = tuple(Path(folder) for folder in facts["group"])
            return State(facts["sandbox_id"], int(facts["pid"]), int(facts["start_time"]), Group(folders))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def is_alive(self) -> bool:
        """True if the shim still runs: the same process, and not a zombie."""
        try:
            fields = Path(f"/proc/{self.pid}/stat").read_bytes().rpartition(b")")[2].split()
        except OSError:
            return False
        return fields[0] not in (b"Z", b"X") and int(fields[19]) == self.start_time


class LocalSandbox(AgentHandle):
    """See `Sandbox`. Holds only open sockets; all state is in the shim, the control group and the agent. The calls that
    the agent answers are in `AgentHandle`, which other providers share."""

    def __init__(self, state: State, state_dir: Path) -> None:
        super().__init__(Pool(state.sandbox_id, partial(open_socket, state_dir, b"A")), state.group)
        self._state = state
        self._state_dir = state_dir

    @property
    def sandbox_id(self) -> str:
        return self._state.sandbox_id

    @property
    def ref(self) -> str:
        return self._state.ref

    async def freeze(self) -> None:
        self._require_alive()
        since = self._state_dir / FROZEN_SINCE
        if not since.exists():
            since.write_text(str(time.monotonic()))
        try:
            self._group.freeze()
        except OSError as error:
            since.unlink(missing_ok=True)
            raise SandboxUnavailable(f"The sandbox cannot be frozen here: {error}") from error

    async def thaw(self) -> None:
        self._require_alive()
        since = self._state_dir / FROZEN_SINCE
        if not self._group.is_frozen():
            since.unlink(missing_ok=True)
            return
        try:
            seconds = max(0.0, time.monotonic() - float(since.read_text()))
        except (OSError, ValueError):
            seconds = 0.0
        # Sent before the thaw, so that it is the first thing the agent reads, before any time limit fires.
        with anyio.move_on_after(THAW_NOTE_TIMEOUT_S):
            async with self._pool.exchange("thawed", seconds=seconds) as exchange:
                self._group.thaw()
                since.unlink(missing_ok=True)
                await exchange.next()
        self._group.thaw()

    async def kill(self) -> None:
        with anyio.CancelScope(shield=True):
            await self._pool.aclose()
            await end_sandbox(self._state, self._state_dir)

    async def statistics(self) -> SandboxStatistics:
        self._require_alive()
        if self._group.folders and not self._group.processes():  # its shim is about to end too
            raise lost(self.sandbox_id)
        return SandboxStatistics(self._group.memory_bytes(), self._group.process_count(), self._group.cpu_s())

    def disk_folders(self) -> Sequence[Path]:
        return (self._state_dir / LAYERS,)

    async def log(self) -> str:
        try:
            return (self._state_dir / "log").read_bytes()[-LOG_BYTES:].decode("utf-8", "replace")
        except OSError:
            return ""

    def _require_alive(self) -> None:
        if not self._state.is_alive():
            raise lost(self.sandbox_id)


async def end_sandbox(state: State, state_dir: Path) -> None:
    """Kill all processes through the control group, then wait until the shim has cleaned up; clean up here if it is
    dead or does not."""
    with anyio.move_on_after(KILL_TIMEOUT_S):
        try:
            watch = await open_socket(state_dir, b"K")
        except OSError:
            watch = None
        state.group.request_kill()
        if watch is not None:
            try:
                await watch.receive(1)
            except (anyio.EndOfStream, anyio.BrokenResourceError):
                pass
            finally:
                await anyio.aclose_forcefully(watch)
    if state.is_alive():
        await _wait_end(state)
    await anyio.to_thread.run_sync(clear_remains, state, state_dir)


async def _wait_end(state: State) -> None:
    """Wait for the shim's end: it closes its sockets a moment earlier."""
    try:
        descriptor = os.pidfd_open(state.pid)
    except OSError:
        return
    try:
        with anyio.move_on_after(KILL_TIMEOUT_S):
            await anyio.wait_readable(descriptor)
            return
        if state.is_alive():
            os.kill(state.pid, 9)
    finally:
        os.close(descriptor)


def clear_remains(state: State, state_dir: Path) -> None:
    """Remove the remains of a dead shim: processes, groups, files. Blocks for some seconds at most."""
    if state.group.exists():
        state.group.kill()
        state.group.remove()
    for path in state_dir.iterdir() if state_dir.is_dir() else ():
        if path.is_dir():
            discard_folder(path)
        else:
            path.unlink(missing_ok=True)
    if state_dir.is_dir():
        state_dir.rmdir()
