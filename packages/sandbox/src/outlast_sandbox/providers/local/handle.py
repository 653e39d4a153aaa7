"""The calls of a sandbox handle that use the agent inside, wherever that sandbox runs."""

import codecs
import inspect
import socket
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Final

import anyio

from outlast_sandbox.errors import InputTooLarge
from outlast_sandbox.interactive import Files, Processes
from outlast_sandbox.interface import Command, CommandResult, Evaluation, EvaluationResult, FileEntry, OnOutput
from outlast_sandbox.providers.unsupported import SandboxDefaults

from .anyfiles import LocalFiles
from .cgroups import Group
from .connection import Exchange, Pool, lost
from .descriptors import Received
from .inside.frames import MAX_PAYLOAD_BYTES
from .inside.ports import EGRESS_PORT
from .interactive import LocalProcesses

ANSWER_S: Final = 15.0
LIMITS_HIT: Final = {"memory": "out of memory", "processes": "no more processes could be started"}


class AgentHandle(SandboxDefaults):
    """The calls of a `Sandbox` that the agent inside answers; the provider adds freeze, thaw, kill and statistics.
    `group` is read for the limits that the kernel enforced. Holds only open sockets."""

    def __init__(self, pool: Pool, group: Group) -> None:
        self._pool = pool
        self._group = group

    @property
    @abstractmethod
    def sandbox_id(self) -> str: ...

    @property
    def processes(self) -> Processes:
        return LocalProcesses(self._pool)

    @property
    def files(self) -> Files:
        return LocalFiles(self._pool)

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
            exit_code, output, bool(head["timed_out"]), bool(head["truncated"]), float(head["duration_s"]), reason
        )

    async def _make_room(self) -> str:
        """End processes that still fill the process table, so that later commands can start; report it in the
        output."""
        limit = self._group.process_limit()
        head, _ = await self._pool.ask("make_room", limit=limit) if limit else ({}, b"")
        ended = head.get("ended", 0)
        return f"[the process limit was reached: {ended} background processes were ended]\n" if ended else ""

    def _limit_hit(self, memory_kills: int, refused: int) -> str | None:
        """The limit that the kernel enforced while the command ran."""
        if self._group.out_of_memory_kills() > memory_kills:
            return "memory"
        return "processes" if self._group.refused_processes() > refused else None

    async def evaluate(self, evaluation: Evaluation, on_output: OnOutput | None = None) -> EvaluationResult:
        memory_kills, refused = self._group.out_of_memory_kills(), self._group.refused_processes()
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
        limit = None if success else self._limit_hit(memory_kills, refused)
        if limit is not None:
            error = f"{LIMITS_HIT[limit]}: {error}"
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

    async def end_sessions(self) -> int:
        head, _ = await self._pool.ask("end_sessions")
        return int(head["ended"])

    async def write_files(self, files: Sequence[tuple[str, bytes]]) -> None:
        payload = b"".join(data for _, data in files)
        if len(payload) > MAX_PAYLOAD_BYTES:
            raise InputTooLarge(f"{len(payload)} bytes are too many for one call; write at most {MAX_PAYLOAD_BYTES}")
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

    async def dial(self, port: int) -> socket.socket:
        with Received() as received:
            async with self._pool.exchange("dial", port=port) as exchange:
                await exchange.next(received)
            return received.take_connected(port)

    async def egress_listener(self) -> socket.socket:
        with Received() as received:
            async with self._pool.exchange("egress") as exchange:
                await exchange.next(received)
            return received.take_listener(EGRESS_PORT)

    async def ping(self) -> None:
        with anyio.move_on_after(ANSWER_S):
            await self._pool.ask("hello")
            return
        raise lost(self.sandbox_id)

    def process_ids(self) -> list[int]:
        return self._group.processes()

    def ends_with(self, error: Exception) -> None:
        self._pool.gone = error

    async def aclose(self) -> None:
        await self._pool.aclose()


async def _collect(exchange: Exchange, on_output: OnOutput | None) -> tuple[dict[str, Any], str]:
    """Follow an effect to its end; return its result and all its output."""
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
