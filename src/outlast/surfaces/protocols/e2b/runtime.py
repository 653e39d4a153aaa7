"""State that this surface keeps between requests: watchers that clients poll, time limits of processes, ends of
sandboxes. All but the ends is in memory only."""

import logging
import time
from contextlib import suppress
from typing import Final

import anyio
from anyio.abc import TaskGroup

from outlast.base.errors import NotFound, OutlastError, SandboxUnavailable
from outlast.kernel.http.stream_limits import StreamPlaces
from outlast.kernel.sandboxes import hosted_actions as hosted
from outlast.kernel.sandboxes.hosted import BELL
from outlast.kernel.services import Services
from outlast.surfaces.protocols.e2b.watchers import Task, Watchers
from outlast_sandbox.interactive import Processes

MAX_MEASURED: Final = 10_000
LONGEST_SLEEP_S: Final = 60.0
RETRY_S: Final = 5.0
SIGKILL: Final = 9
log = logging.getLogger("outlast.e2b")


class E2bRuntime:
    """Runs beside the server (`run`), and continues work that a request started after the request has ended."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self.streams = StreamPlaces(services.settings.limits.streams_per_user)
        self.watchers = Watchers(self._start)
        self._measured: dict[str, tuple[float, float]] = {}  # CPU seconds, and when: the last measure of each
        self._tasks: TaskGroup | None = None  # while `run` runs

    async def run(self) -> None:
        """Until cancelled."""
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            try:
                await self._services.supervisor.keep("ends of hosted sandboxes", self._end_sandboxes)
            finally:
                self._tasks = None

    def cpu_percent(self, workspace_id: str, cpu_s: float, cpus: float) -> float:
        """The share of its cores that the sandbox used since the last call, from 0 to 100; 0 at the first call."""
        now = time.monotonic()
        before_s, before = self._measured.get(workspace_id, (cpu_s, now - 1))
        if len(self._measured) >= MAX_MEASURED:
            self._measured.clear()
        self._measured[workspace_id] = (cpu_s, now)
        share = max(0.0, cpu_s - before_s) / max(now - before, 0.001) / max(cpus, 0.01)
        return round(min(share, 1.0) * 100, 2)

    def end_after(self, seconds: float, processes: Processes, pid: int) -> anyio.CancelScope:
        """End a process and its children when its time is over, also while a client follows it; cancel the scope when
        the process has ended. Raises `SandboxUnavailable` before `run`."""
        scope = anyio.CancelScope()

        async def end() -> None:
            with scope:
                await anyio.sleep(seconds)
                with suppress(NotFound):
                    await processes.signal(pid, SIGKILL, group=True)

        self._start(end)
        return scope

    def _start(self, task: Task) -> None:
        if self._tasks is None:
            raise SandboxUnavailable("The server is not ready to start this.", retry_after_s=1)
        self._tasks.start_soon(self._services.supervisor.guard.once, "request", "e2b", _log_early_end, task)

    async def _end_sandboxes(self) -> None:
        """Pause or kill the sandboxes whose time is over, at that time."""
        with self._services.hub.listen(BELL) as channel:
            while True:
                version = channel.version
                with anyio.move_on_after(await self._end_due()):
                    await channel.wait(version)

    async def _end_due(self) -> float:
        """Seconds until the next end."""
        try:
            next_end = await hosted.end_due(self._services)
        except OutlastError as error:
            log.warning("ends of sandboxes not kept", extra={"code": error.code, "reason": error.message})
            return RETRY_S
        if next_end is None:
            return LONGEST_SLEEP_S
        wait_s: float = (next_end - self._services.clock.now()).total_seconds()
        return min(max(wait_s, 0.01), LONGEST_SLEEP_S)


async def _log_early_end(task: Task) -> None:
    """Log the failure of a task that outlives its request; its sandbox may be gone by then."""
    try:
        await task()
    except OutlastError as error:
        log.info("ended early", extra={"code": error.code, "reason": error.message})
