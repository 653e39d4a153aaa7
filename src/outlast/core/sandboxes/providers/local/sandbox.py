"""The server's handle on one local sandbox."""

import codecs
import inspect
import json
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import anyio
import anyio.to_thread

from outlast.base.errors import InputTooLarge, SandboxUnavailable
from outlast.core.sandboxes.defaults import SandboxDefaults
from outlast.core.sandboxes.interface import (
    Command,
    CommandResult,
    Evaluation,
    EvaluationResult,
    FileEntry,
    OnOutput,
    SandboxStatistics,
)

from .cgroups import Group
from .connection import Exchange, Pool, lost, open_socket
from .inside.frames import MAX_PAYLOAD_BYTES

KILL_TIMEOUT_S: Final = 10.0
THAW_NOTE_TIMEOUT_S: Final = 2.0
FROZEN_SINCE: Final = "frozen_since"


@dataclass(frozen=True, slots=True)
class State:
    """What the shim wrote about itself: pid and start time (clock ticks since boot) together name one process for
    ever."""

    sandbox_id: str
    pid: int
    start_time: int
    group: Group

    @property
    def ref(self) -> str:
        return f"{self.pid}:{self.start_time}"

    @staticmethod
    def read(state_dir: Path) -> "State | None":
        """The state file of a sandbox, or None when there is none or it is unreadable."""
        try:
            facts = json.loads((state_dir / "state.json").read_text())
            folders = tuple(Path(folder) for folder in facts["group"])
            return State(facts["sandbox_id"], int(facts["pid"]), int(facts["start_time"]), Group(folders))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def is_alive(self) -> bool:
        """Whether the shim still runs: the same process, and not a zombie."""
        try:
            fields = Path(f"/proc/{self.pid}/stat").read_bytes().rpartition(b")")[2].split()
        except OSError:
            return False
        return fields[0] not in (b"Z", b"X") and int(fields[19]) == self.start_time


class LocalSandbox(SandboxDefaults):
    """See `Sandbox`. Holds only open sockets; everything that counts is in the shim, the control group and the
    agent."""

    def __init__(self, state: State, state_dir: Path) -> None:
        self._state = state
        self._state_dir = state_dir
        self._group = state.group
        self._pool = Pool(state.sandbox_id, state_dir)

    @property
    def sandbox_id(self) -> str:
        return self._state.sandbox_id

    @property
    def ref(self) -> str:
        return self._state.ref

    async def run(self, command: Command, on_output: OnOutput | None = None) -> CommandResult:
        memory_kills, refused = self._group.out_of_memory_kills(), self._group.refused_processes()
        request: dict[str, Any] = {
            "effect": command.effect_id,
            "attempt": command.attempt,
            "script": command.script,
            "cwd": command.cwd,
            "env": dict(command.env),
            "timeout_s": command.timeout_s,
            "limit": command.output_limit_bytes,
            "attach_only": command.attach_only,
        }
        async with self._pool.exchange("run", **request) as exchange:
            head, output = await _collect(exchange, on_output)
        reason = head.get("killed_reason")
        exit_code = int(head["exit_code"])
        if reason is None and exit_code != 0:
            reason = self._limit_hit(memory_kills, refused)
        if reason == "processes":
            output += await self._make_room()
        return CommandResult(
            exit_code,
            output,
            bool(head["timed_out"]),
            bool(head["truncated"]),
            float(head["duration_s"]),
            reason,
        )

    async def _make_room(self) -> str:
        """End what still fills the process table, else no later command could start anything; say so."""
        limit = self._group.process_limit()
        head, _ = await self._pool.ask("make_room", limit=limit) if limit else ({}, b"")
        ended = head.get("ended", 0)
        return f"[no process could be started: {ended} left running were ended]\n" if ended else ""

    def _limit_hit(self, memory_kills: int, refused: int) -> str | None:
        """Which limit the kernel enforced while the command ran."""
        if self._group.out_of_memory_kills() > memory_kills:
            return "memory"
        return "processes" if self._group.refused_processes() > refused else None

    async def evaluate(self, evaluation: Evaluation, on_output: OnOutput | None = None) -> EvaluationResult:
        memory_kills = self._group.out_of_memory_kills()
        request: dict[str, Any] = {
            "effect": evaluation.effect_id,
            "attempt": evaluation.attempt,
            "language": evaluation.language,
            "timeout_s": evaluation.timeout_s,
            "limit": evaluation.output_limit_bytes,
            "attach_only": evaluation.attach_only,
        }
        async with self._pool.exchange("evaluate", evaluation.code.encode(), **request) as exchange:
            head, stdout = await _collect(exchange, on_output)
        success, error = bool(head["success"]), head.get("error")
        if not success and self._group.out_of_memory_kills() > memory_kills:
            error = f"out of memory: {error}"
        return EvaluationResult(
            success,
            head.get("result"),
            None if success else str(error),
            stdout,
            str(head.get("text", "")),
            bool(head["truncated"]),
            float(head["duration_s"]),
        )

    async def acknowledge(self, effect_id: str) -> None:
        await self._pool.ask("acknowledge", effect=effect_id)

    async def kill_command(self, effect_id: str, reason: str = "cancelled") -> None:
        await self._pool.ask("kill", effect=effect_id, reason=reason)

    async def write_files(self, files: Sequence[tuple[str, bytes]]) -> None:
        payload = b"".join(data for _, data in files)
        if len(payload) > MAX_PAYLOAD_BYTES:
            raise InputTooLarge(
                f"{len(payload)} bytes at once; at most {MAX_PAYLOAD_BYTES} can be written in one call"
            )
        await self._pool.ask("write", payload, files=[(path, len(data)) for path, data in files])

    async def read_file(self, path: str, max_bytes: int) -> bytes:
        _, data = await self._pool.ask("read", path=path, max_bytes=min(max_bytes, MAX_PAYLOAD_BYTES))
        return data[:max_bytes]

    async def list_files(self, prefix: str = "", limit: int = 1000) -> list[FileEntry]:
        head, _ = await self._pool.ask("list", prefix=prefix, limit=limit)
        return [
            FileEntry(str(entry["path"]), int(entry["size"]), bool(entry["is_dir"]), float(entry["mtime"]))
            for entry in head["entries"][:limit]
        ]

    async def freeze(self) -> None:
        self._require_alive()
        since = self._state_dir / FROZEN_SINCE
        if not since.exists():
            since.write_text(str(time.monotonic()))
        try:
            self._group.freeze()
        except OSError as error:
            since.unlink(missing_ok=True)
            raise SandboxUnavailable(
                f"the sandbox {self.sandbox_id} cannot be frozen here: {error}"
            ) from error

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
        return SandboxStatistics(self._group.memory_bytes(), self._group.process_count(), self._group.cpu_s())

    async def aclose(self) -> None:
        await self._pool.aclose()

    def _require_alive(self) -> None:
        if not self._state.is_alive():
            raise lost(self.sandbox_id)


async def _collect(exchange: Exchange, on_output: OnOutput | None) -> tuple[dict[str, Any], str]:
    """Follow an effect to its end: (its result, all its output)."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    parts: list[str] = []
    while True:
        head, payload = await exchange.next()
        text = decoder.decode(payload, final=exchange.done)
        if text:
            parts.append(text)
            if on_output is not None and inspect.isawaitable(waiting := on_output(text)):
                await waiting
        if exchange.done:
            return head, "".join(parts)


async def end_sandbox(state: State, state_dir: Path) -> None:
    """Kill everything through the control group, then wait until the shim has cleaned up; clean up without it if it
    is dead or does not."""
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
    """The shim closes its sockets a moment before it has ended."""
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
    """Remove what a dead shim left: processes, groups, files. Blocking, at most some seconds."""
    if state.group.exists():
        state.group.kill()
        state.group.remove()
    for path in state_dir.iterdir() if state_dir.is_dir() else ():
        path.unlink(missing_ok=True)
    if state_dir.is_dir():
        state_dir.rmdir()
