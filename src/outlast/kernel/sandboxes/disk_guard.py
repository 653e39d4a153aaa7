"""Ends a sandbox whose files take far more of this machine's disk than it may have, also while no command runs.

The agent inside ends the commands of a sandbox that is over its limit; what runs in the background it does not see,
and code beside it may hold it up. So the server looks too, and cheaply: as long as a file system has not lost as much
room as a sandbox still may take, that sandbox cannot be over its limit, and nothing is walked. A sandbox that sleeps is
not looked at.
"""

import logging
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup

from outlast.base.errors import DiskLimit, SandboxLost, SandboxUnavailable
from outlast.kernel.sandboxes import store
from outlast.kernel.sandboxes.manager import SandboxManager
from outlast.kernel.sandboxes.rules import State
from outlast.kernel.sandboxes.sizes import MEBIBYTE
from outlast.kernel.sandboxes.store import SandboxRecord
from outlast.kernel.set_aside import kinds
from outlast_sandbox.disk_walk import DiskUse, measure
from outlast_sandbox.interface import Sandbox

LOOK_EVERY_S: Final = 0.25
LONGEST_UNSEEN_S: Final = 20.0  # others may free the room that a sandbox takes
BUSY_UNSEEN_S: Final = 2.0  # where the file system does not tell how many files it has room for
MIN_PAUSE_S: Final = 0.2
PAUSE_PER_WALK: Final = 10  # walking takes at most this share of the time
PATIENCE_S: Final = 1.0
WALKS_AT_A_TIME: Final = 2
log = logging.getLogger("outlast.sandboxes")
MIN_MARGIN: Final = 16 * MEBIBYTE
MAX_FILES: Final = 200_000  # as many as a checkpoint holds
FEW_FILES: Final = 1000


@dataclass(frozen=True, slots=True)
class Room:
    """What a file system has left: bytes, and files (None: it does not say)."""

    bytes: int
    files: int | None


@dataclass(slots=True)
class Watched:
    """An awake sandbox. `most`: with more it is ended; `used` and `room` are from the last walk, at `walked_at`."""

    row: SandboxRecord
    sandbox: Sandbox
    folders: Sequence[Path]
    most: DiskUse | None = None
    used: DiskUse = field(default_factory=DiskUse)
    room: Room | None = None
    walked_at: float = float("-inf")
    not_before: float = float("-inf")
    looking: bool = False


class DiskGuard:
    """Told of sandboxes as an `Attendant`; in memory: those that are awake."""

    def __init__(self, machines: SandboxManager, now: Callable[[], float] = time.monotonic) -> None:
        self._machines, self._now = machines, now
        self._watched: dict[str, Watched] = {}
        self._news = anyio.Event()
        self._limiter: anyio.CapacityLimiter | None = None

    def awake(self, row: SandboxRecord, sandbox: Sandbox) -> None:
        if self._machines.provider.capabilities.volume:
            folders = [self._machines.workspace_dir(row.workspace_id), *sandbox.disk_folders()]
            self._watched[row.workspace_id] = Watched(row, sandbox, folders)
            self._news.set()

    def asleep(self, row: SandboxRecord) -> None:
        self._watched.pop(row.workspace_id, None)

    async def run(self) -> None:
        """Until cancelled. What goes wrong with one sandbox is logged and holds up no other."""
        async with anyio.create_task_group() as tasks:
            while True:
                if not self._watched:
                    self._news = anyio.Event()
                    await self._news.wait()
                await self._look(tasks)
                await self._machines.clock.sleep(LOOK_EVERY_S)

    async def _look(self, tasks: TaskGroup) -> None:
        waiting = [one for one in self._watched.values() if not one.looking]
        rooms = await anyio.to_thread.run_sync(_rooms, [one.folders[0] for one in waiting])
        for one, room in zip(waiting, rooms, strict=True):
            if room is not None and self._is_due(one, room):
                one.looking = True
                tasks.start_soon(self._see_to, one)

    def _is_due(self, one: Watched, room: Room) -> bool:
        now = self._now()
        if now < one.not_before:
            return False
        if one.most is None or one.room is None or self._may_exceed(one, room):
            return True
        unseen_s = BUSY_UNSEEN_S if room.files is None else LONGEST_UNSEEN_S
        return now - one.walked_at > unseen_s

    def _may_exceed(self, one: Watched, room: Room) -> bool:
        """Whether it is over its limit if all room that is gone since the last walk was taken by it."""
        if one.most is None or one.room is None:
            return False
        taken = max(0, one.room.bytes - room.bytes)
        made = 0 if one.room.files is None or room.files is None else max(0, one.room.files - room.files)
        return DiskUse(one.used.bytes + taken, one.used.entries + made).exceeds(one.most)

    async def _see_to(self, one: Watched) -> None:
        try:
            if not await self._machines.guard.once(kinds.SANDBOX_DISK, one.row.id, self._check, one):
                one.not_before = self._now() + BUSY_UNSEEN_S
        finally:
            one.looking = False

    async def _check(self, one: Watched) -> None:
        """Walk, and end it when it holds too much. It is frozen before it is ended, so that it cannot outrun the
        walk."""
        (room,) = await anyio.to_thread.run_sync(_rooms, one.folders[:1])
        if room is None:
            return
        if not self._may_exceed(one, room):
            await self._walk(one, room)
            if one.most is None or not one.used.exceeds(one.most):
                return
        lock = self._machines.locks[one.row.workspace_id]
        with anyio.move_on_after(PATIENCE_S) as patience:
            await lock.acquire()
        if patience.cancelled_caught:
            return
        try:
            with anyio.CancelScope(shield=True):
                await self._judge(one, room)
        finally:
            lock.release()

    async def _judge(self, one: Watched, room: Room) -> None:
        row = await self._machines.db.read(store.newest, one.row.workspace_id)
        if row is None or row.id != one.row.id or row.life.state is not State.READY:
            return
        try:
            await one.sandbox.freeze()
        except SandboxUnavailable:  # it cannot be frozen here: then it is walked as it runs
            pass
        except SandboxLost:
            return
        try:
            await self._walk(one, room)
            if one.most is not None and one.used.exceeds(one.most):
                await self._end(one, row)
                return
        except BaseException:
            await one.sandbox.thaw()
            raise
        await one.sandbox.thaw()

    async def _walk(self, one: Watched, room: Room) -> None:
        if self._limiter is None:
            self._limiter = anyio.CapacityLimiter(WALKS_AT_A_TIME)
        limit = self._machines.settings.disk_mb * MEBIBYTE
        began, ceiling = self._now(), one.most or DiskUse(limit * 4, 1_000_000)
        processes = one.sandbox.process_ids() if one.most is not None else []
        walk = partial(measure, one.folders, ceiling, processes)
        one.used = await anyio.to_thread.run_sync(walk, limiter=self._limiter)
        one.most = one.most or most_on_disk(limit, one.used)
        one.room, one.walked_at = room, self._now()
        spent_s = one.walked_at - began
        one.not_before = one.walked_at + max(MIN_PAUSE_S, PAUSE_PER_WALK * spent_s)

    async def _end(self, one: Watched, row: SandboxRecord) -> None:
        used, limit_mb = one.used, self._machines.settings.disk_mb
        error = DiskLimit(
            f"The sandbox was ended: its files took {used.bytes // MEBIBYTE} MiB in {used.entries} files; the limit"
            f" is {limit_mb} MiB.",
            sandbox_id=row.id,
            limit_mb=limit_mb,
        )
        facts = {"sandbox_id": row.id, "bytes": used.bytes, "entries": used.entries}
        log.warning("sandbox ended for its disk limit", extra=facts)
        one.sandbox.ends_with(error)
        await self._machines.lives.end(row, State.LOST, error)


def _rooms(folders: Sequence[Path]) -> list[Room | None]:
    """For each folder the room on its file system; None: the folder does not exist. Blocks for microseconds."""
    found: list[Room | None] = []
    for folder in folders:
        try:
            facts = os.statvfs(folder)
        except OSError:
            found.append(None)
            continue
        files = facts.f_ffree if facts.f_files else None
        found.append(Room(facts.f_bfree * facts.f_frsize, files))
    return found


def most_on_disk(disk_bytes: int, began: DiskUse) -> DiskUse:
    """With more than this a sandbox is ended, given what it may hold and what it held when it woke. A sixteenth above
    the limit, as its commands are ended at the limit itself; one that begins above may stay there, so that what is too
    much can be removed, and may not grow."""
    most = disk_bytes + max(disk_bytes // 16, MIN_MARGIN)
    return DiskUse(max(most, began.bytes + MEBIBYTE), max(MAX_FILES, began.entries + FEW_FILES))
