"""What this surface keeps between requests: watchers that clients poll, time limits of processes, ends of sandboxes.
All of it is in memory but the ends; a restarted server has no watchers."""

import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

import anyio
from anyio.abc import TaskGroup

from outlast.base.errors import NotFound, OutlastError, RateLimited, SandboxUnavailable
from outlast.base.ids import new_id
from outlast.kernel.http.stream_limits import StreamPlaces
from outlast.kernel.sandboxes import hosted_actions as hosted
from outlast.kernel.sandboxes.hosted import BELL
from outlast.kernel.services import Services
from outlast_sandbox.interactive import FileChangeSeen, Processes
from outlast_sandbox.interface import Sandbox

MAX_WATCHERS: Final = 200
FIRST_CHANGE_S: Final = 0.25
MORE_CHANGES_S: Final = 0.03
MAX_WATCHERS_OF_ONE: Final = 20
MAX_MEASURED: Final = 10_000
MAX_CHANGES_KEPT: Final = 10_000
WATCHER_LIFE_S: Final = 600.0  # since it was last polled
LONGEST_SLEEP_S: Final = 60.0
RETRY_S: Final = 5.0
SIGKILL: Final = 9
Task = Callable[[], Awaitable[None]]
log = logging.getLogger("outlast.e2b")


@dataclass(slots=True)
class Watcher:
    """Changes since the last poll. At most `MAX_CHANGES_KEPT`: the oldest are dropped."""

    workspace_id: str
    path: str
    include_entry: bool
    seen: deque[FileChangeSeen] = field(default_factory=lambda: deque(maxlen=MAX_CHANGES_KEPT))
    ended: OutlastError | None = None
    asked_at: float = field(default_factory=time.monotonic)
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    news: anyio.Event = field(default_factory=anyio.Event)

    def note(self, change: FileChangeSeen) -> None:
        self.seen.append(change)
        self.news.set()

    async def take(self) -> list[FileChangeSeen]:
        """The changes since the last call. Events of what the caller has just done may still be under way, so it waits
        a moment for the first change, and for those that follow it closely."""
        if not self.seen:
            self.news = anyio.Event()
            with anyio.move_on_after(FIRST_CHANGE_S):
                await self.news.wait()
        await anyio.sleep(MORE_CHANGES_S)
        taken = list(self.seen)
        self.seen.clear()
        return taken


class E2bRuntime:
    """Runs beside the server (`run`), and continues what a request started after the request has ended."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self.streams = StreamPlaces(services.settings.limits.streams_per_user)
        self._watchers: dict[str, Watcher] = {}
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

    def statistics(self) -> dict[str, int]:
        return {"watchers": len(self._watchers)}

    def cpu_percent(self, workspace_id: str, cpu_s: float, cpus: float) -> float:
        """The share of its cores that it used since it was asked last, from 0 to 100; the first time, 0."""
        now = time.monotonic()
        before_s, before = self._measured.get(workspace_id, (cpu_s, now - 1))
        if len(self._measured) >= MAX_MEASURED:
            self._measured.clear()
        self._measured[workspace_id] = (cpu_s, now)
        share = max(0.0, cpu_s - before_s) / max(now - before, 0.001) / max(cpus, 0.01)
        return round(min(share, 1.0) * 100, 2)

    def end_after(self, seconds: float, processes: Processes, pid: int) -> anyio.CancelScope:
        """End a process with all that it started when its time is over, also while a client listens; to be cancelled
        when it has ended. Raises `SandboxUnavailable` before `run`."""
        scope = anyio.CancelScope()

        async def end() -> None:
            with scope:
                await anyio.sleep(seconds)
                with suppress(NotFound):
                    await processes.signal(pid, SIGKILL, group=True)

        self._start(end)
        return scope

    async def watch(
        self, sandbox: Sandbox, workspace_id: str, path: str, *, recursive: bool, include_entry: bool
    ) -> str:
        """Watch a folder until it is no longer asked for; the watcher's id. Raises `NotFound`, `PathRefused`,
        `RateLimited`."""
        self._check_room(workspace_id)
        watcher_id, watcher = new_id("event"), Watcher(workspace_id, path, include_entry)
        begun = anyio.Event()

        async def watch() -> None:
            with watcher.scope:
                try:
                    async with sandbox.files.watch(path, recursive=recursive) as changes:
                        begun.set()
                        async for change in changes:
                            watcher.note(change)
                except OutlastError as error:
                    watcher.ended = error
                finally:
                    begun.set()

        self._watchers[watcher_id] = watcher
        try:
            self._start(watch)
            await begun.wait()
            if watcher.ended is not None:
                raise watcher.ended
        except BaseException:
            self.end_watcher(watcher_id, workspace_id)
            raise
        return watcher_id

    def watcher(self, watcher_id: str, workspace_id: str) -> Watcher:
        """Raises `NotFound`, also for a watcher of another sandbox."""
        found = self._watchers.get(watcher_id)
        if found is None or found.workspace_id != workspace_id:
            raise NotFound(f"There is no watcher {watcher_id[:60]}.", noun="watcher")
        found.asked_at = time.monotonic()
        return found

    def end_watcher(self, watcher_id: str, workspace_id: str) -> None:
        """Fine when it is gone."""
        with suppress(NotFound):
            self.watcher(watcher_id, workspace_id).scope.cancel()
            del self._watchers[watcher_id]

    def _check_room(self, workspace_id: str) -> None:
        for watcher_id, watcher in list(self._watchers.items()):
            forgotten = time.monotonic() - watcher.asked_at > WATCHER_LIFE_S
            if forgotten or watcher.ended is not None:
                self.end_watcher(watcher_id, watcher.workspace_id)
        own = sum(watcher.workspace_id == workspace_id for watcher in self._watchers.values())
        if own >= MAX_WATCHERS_OF_ONE or len(self._watchers) >= MAX_WATCHERS:
            raise RateLimited(f"{own} folders of this sandbox are watched.", hint="Stop watching one first.")

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
    """A task that outlives its request fails alone; its sandbox may be gone by then."""
    try:
        await task()
    except OutlastError as error:
        log.info("ended early", extra={"code": error.code, "reason": error.message})
