"""Watchers: folders whose changes a program polls. They are in memory only: a restarted server has none."""

import time
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import field
from typing import Final

import anyio

from outlast.base.errors import NotFound, OutlastError, RateLimited
from outlast.base.ids import new_id
from outlast.base.records import dataclass
from outlast_sandbox.interactive import FileChangeSeen
from outlast_sandbox.interface import Sandbox

MAX_WATCHERS: Final = 200
MAX_WATCHERS_OF_ONE: Final = 20  # per sandbox
WATCHER_LIFE_S: Final = 600.0  # since it was last polled
MAX_CHANGES_KEPT: Final = 10_000
FIRST_CHANGE_S: Final = 0.25
MORE_CHANGES_S: Final = 0.03
Task = Callable[[], Awaitable[None]]


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
        """The changes since the last call. Events of the caller's own last change may still be on their way, so it
        waits a moment for the first change, and for those that follow closely."""
        if not self.seen:
            self.news = anyio.Event()
            with anyio.move_on_after(FIRST_CHANGE_S):
                await self.news.wait()
        await anyio.sleep(MORE_CHANGES_S)
        taken = list(self.seen)
        self.seen.clear()
        return taken


class Watchers:
    """Watchers by id. `start` runs a task that outlives the request; it may raise `SandboxUnavailable`."""

    def __init__(self, start: Callable[[Task], None]) -> None:
        self._start = start
        self._watchers: dict[str, Watcher] = {}

    async def watch(
        self, sandbox: Sandbox, workspace_id: str, path: str, *, recursive: bool, include_entry: bool
    ) -> str:
        """Watch a folder until it is no longer polled; returns the watcher's id. Raises `NotFound`, `PathRefused`,
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
            self.end(watcher_id, workspace_id)
            raise
        return watcher_id

    def get(self, watcher_id: str, workspace_id: str) -> Watcher:
        """The watcher with this id. Raises `NotFound`, also for a watcher of another sandbox."""
        found = self._watchers.get(watcher_id)
        if found is None or found.workspace_id != workspace_id:
            raise NotFound(f"There is no watcher {watcher_id[:60]}.", noun="watcher")
        found.asked_at = time.monotonic()
        return found

    def end(self, watcher_id: str, workspace_id: str) -> None:
        """End a watcher; succeeds if it is already gone."""
        with suppress(NotFound):
            self.get(watcher_id, workspace_id).scope.cancel()
            del self._watchers[watcher_id]

    def _check_room(self, workspace_id: str) -> None:
        for watcher_id, watcher in list(self._watchers.items()):
            forgotten = time.monotonic() - watcher.asked_at > WATCHER_LIFE_S
            if forgotten or watcher.ended is not None:
                self.end(watcher_id, watcher.workspace_id)
        own = sum(watcher.workspace_id == workspace_id for watcher in self._watchers.values())
        if own >= MAX_WATCHERS_OF_ONE or len(self._watchers) >= MAX_WATCHERS:
            raise RateLimited(f"{own} folders of this sandbox are watched.", hint="Stop watching one first.")
