"""The server's handle on a hosted sandbox: all calls go through the agent inside."""

import inspect
import socket
import time
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Final, TypeVar

import anyio
from anyio.abc import ByteStream

from outlast_sandbox.errors import SandboxError, SandboxLost
from outlast_sandbox.interface import (
    Command,
    CommandResult,
    Evaluation,
    EvaluationResult,
    FileEntry,
    OnOutput,
    SandboxStatistics,
)
from outlast_sandbox.providers.local.cgroups import Group
from outlast_sandbox.providers.local.connection import Pool
from outlast_sandbox.providers.local.handle import AgentHandle
from outlast_sandbox.providers.unsupported import lacking

T = TypeVar("T")
EXTEND_EVERY_S: Final = 300.0
MAX_BREAKS: Final = 5
STEADY_S: Final = 5.0  # a connection that lasted this long counts as stable


class HostedSandbox(AgentHandle):
    """See `Sandbox`. An adapter implements how its service suspends, resumes, ends and reaches the sandbox.

    While the sandbox sleeps, calls wait here. A connection that breaks, because of sleep or a network failure, is
    opened again and the call is repeated; all these calls are idempotent. Output that was already delivered is not
    delivered twice.
    """

    def __init__(self, sandbox_id: str, ref: str, *, asleep: bool = False) -> None:
        super().__init__(Pool(sandbox_id, self._open), Group(()))
        self._sandbox_id = sandbox_id
        self._ref = ref
        self.killed = False  # by this handle, so no reconnect is tried
        self._extended_at = time.monotonic()
        self._waking, self._falling = anyio.Event(), anyio.Event()
        (self._falling if asleep else self._waking).set()

    @property
    def sandbox_id(self) -> str:
        return self._sandbox_id

    @property
    def ref(self) -> str:
        return self._ref

    @abstractmethod
    async def open_stream(self) -> ByteStream:
        """A connection to the agent. Raises OSError when the sandbox is gone."""

    @abstractmethod
    async def is_there(self) -> bool:
        """True if the sandbox and its agent still run; wakes it if the service has suspended it by itself."""

    async def look(self) -> None:
        """Ask the service if the sleeping sandbox still exists, without waking it. Raises `SandboxLost`."""

    @abstractmethod
    async def extend(self) -> None:
        """Ask the service to keep it running."""

    async def run(self, command: Command, on_output: OnOutput | None = None) -> CommandResult:
        output = _OutputOnce(on_output)
        return await self._repeat_steadily(lambda: super(HostedSandbox, self).run(command, output.listener()))

    async def evaluate(self, evaluation: Evaluation, on_output: OnOutput | None = None) -> EvaluationResult:
        output = _OutputOnce(on_output)
        return await self._repeat_steadily(lambda: super(HostedSandbox, self).evaluate(evaluation, output.listener()))

    async def statistics(self) -> SandboxStatistics | None:
        """The usage of its whole machine, or None while it sleeps, also if it falls asleep during the call. Called at
        each use, so it also extends the sandbox's time at the service."""
        if self.sleeps:
            await self.look()
            return None
        await self._extend_if_due()
        results: list[SandboxStatistics] = []
        failure: Exception | None = None
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_cancel_at, self._falling, tasks.cancel_scope)
            try:
                results.append(await self._measure())
            except Exception as error:  # raised outside of the task group, which would wrap it
                failure = error
            tasks.cancel_scope.cancel()
        if failure is not None:
            raise failure
        return results[0] if results else None

    async def _measure(self) -> SandboxStatistics:
        head, _ = await self._repeat(lambda: self._pool.ask("statistics"))
        return SandboxStatistics(int(head["memory_bytes"]), int(head["processes"]), float(head["cpu_s"]))

    async def ping(self) -> None:
        """`statistics` sends a request to the agent already."""

    async def acknowledge(self, effect_id: str) -> None:
        await self._repeat(lambda: super(HostedSandbox, self).acknowledge(effect_id))

    async def kill_command(self, effect_id: str, reason: str = "cancelled") -> None:
        await self._repeat(lambda: super(HostedSandbox, self).kill_command(effect_id, reason))

    async def end_sessions(self) -> int:
        return await self._repeat(lambda: super(HostedSandbox, self).end_sessions())

    async def write_files(self, files: Sequence[tuple[str, bytes]]) -> None:
        await self._repeat(lambda: super(HostedSandbox, self).write_files(files))

    async def read_file(self, path: str, max_bytes: int) -> bytes:
        return await self._repeat(lambda: super(HostedSandbox, self).read_file(path, max_bytes))

    async def list_files(self, prefix: str = "", limit: int = 1000) -> list[FileEntry]:
        return await self._repeat(lambda: super(HostedSandbox, self).list_files(prefix, limit))

    async def dial(self, port: int) -> socket.socket:
        lacking("preview", f"port {port} cannot be reached")

    async def egress_listener(self) -> socket.socket:
        lacking("egress", "the service controls the sandbox's network")

    @property
    def sleeps(self) -> bool:
        """True while calls wait."""
        return not self._waking.is_set()

    async def fall_asleep(self) -> None:
        """Make calls wait from now on; drop the connections, which do not survive sleep."""
        self._waking = anyio.Event()
        self._falling.set()
        await self._pool.aclose()

    def wake_up(self) -> None:
        self._falling = anyio.Event()
        self._waking.set()

    async def awake(self) -> None:
        """Wait while it sleeps."""
        await self._waking.wait()

    async def _open(self) -> ByteStream:
        await self.awake()
        return await self.open_stream()

    async def _repeat_steadily(self, call: Callable[[], Awaitable[T]]) -> T:
        """Run the call, and repeat it after each broken connection, while the service is asked to keep the sandbox."""
        await self._extend_if_due()
        outcome: list[T] = []
        failure: Exception | None = None
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._keep)
            try:
                outcome.append(await self._repeat(call))
            except Exception as error:  # raised outside of the task group, which would wrap it
                failure = error
            tasks.cancel_scope.cancel()
        if failure is not None:
            raise failure
        return outcome[0]

    async def _repeat(self, call: Callable[[], Awaitable[T]]) -> T:
        """Run the call, and repeat it after each broken connection, unless connections break in quick succession."""
        breaks = 0
        while True:
            began = time.monotonic()
            try:
                return await call()
            except SandboxLost:
                breaks = 1 if time.monotonic() - began > STEADY_S else breaks + 1
                await self._pool.aclose()  # idle connections are likely to be broken as well
                if self.killed or breaks > MAX_BREAKS or not await self.is_there():
                    raise

    async def _keep(self) -> None:
        while True:
            await anyio.sleep(EXTEND_EVERY_S)
            await self._extend_if_due()

    async def _extend_if_due(self) -> None:
        if self.sleeps or time.monotonic() - self._extended_at < EXTEND_EVERY_S:
            return
        self._extended_at = time.monotonic()
        with suppress(SandboxError):  # the call itself reports the failure
            await self.extend()


async def _cancel_at(event: anyio.Event, scope: anyio.CancelScope) -> None:
    await event.wait()
    scope.cancel()


class _OutputOnce:
    """Passes each piece of output to a listener once, though a new connection delivers all of it from the start."""

    def __init__(self, on_output: OnOutput | None) -> None:
        self._on_output = on_output
        self._delivered = 0

    def listener(self) -> OnOutput | None:
        """The listener for a new connection."""
        if self._on_output is None:
            return None
        on_output, seen = self._on_output, 0

        async def deliver(text: str) -> None:
            nonlocal seen
            fresh = text[max(0, self._delivered - seen) :]
            seen += len(text)
            if fresh:
                self._delivered = seen
                if inspect.isawaitable(waiting := on_output(fresh)):
                    await waiting

        return deliver
