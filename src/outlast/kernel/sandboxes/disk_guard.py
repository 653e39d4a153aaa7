"""Ends a sandbox whose files take far more of this machine's disk than it may have, also while no command runs.

The agent inside ends the commands of a sandbox that is over its limit; it does not see background processes, and code
in the sandbox may delay it. So the server checks too (`outlast_sandbox.disk_watch`). A sleeping sandbox is not
checked.
"""

import logging
from typing import Final

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup

from outlast.base.errors import DiskLimit, SandboxLost, SandboxUnavailable
from outlast.base.records import dataclass
from outlast.kernel.sandboxes import store
from outlast.kernel.sandboxes.manager import SandboxManager
from outlast.kernel.sandboxes.rules import State
from outlast.kernel.sandboxes.sizes import MEBIBYTE
from outlast.kernel.sandboxes.store import SandboxRecord
from outlast.kernel.set_aside import kinds
from outlast_sandbox.disk_watch import BUSY_UNSEEN_S, DiskWatch, Room, rooms
from outlast_sandbox.interface import Sandbox

LOOK_EVERY_S: Final = 0.25  # a check is one system call for each awake sandbox
PATIENCE_S: Final = 1.0  # with the holder of a workspace; the next check is soon
WALKS_AT_A_TIME: Final = 2  # walks load the disk that sandboxes work on
log = logging.getLogger("outlast.sandboxes")


@dataclass(slots=True)
class Watched:
    """An awake sandbox."""

    row: SandboxRecord
    disk: DiskWatch
    looking: bool = False


class DiskGuard:
    """Notified of sandboxes as an `Attendant`; in memory: the awake ones."""

    def __init__(self, machines: SandboxManager) -> None:
        self._machines = machines
        self._watched: dict[str, Watched] = {}
        self._news = anyio.Event()
        self._limiter = anyio.CapacityLimiter(WALKS_AT_A_TIME)

    def awake(self, row: SandboxRecord, sandbox: Sandbox) -> None:
        if self._machines.provider.capabilities.volume:
            folders = [self._machines.workspace_dir(row.workspace_id), *sandbox.disk_folders()]
            disk = DiskWatch(sandbox, folders, self._machines.settings.disk_mb * MEBIBYTE)
            self._watched[row.workspace_id] = Watched(row, disk)
            self._news.set()

    def asleep(self, row: SandboxRecord) -> None:
        self._watched.pop(row.workspace_id, None)

    async def run(self) -> None:
        """Until cancelled. A failure with one sandbox is logged and delays no other."""
        async with anyio.create_task_group() as tasks:
            while True:
                if not self._watched:
                    self._news = anyio.Event()  # nothing is awaited since the check: no waking is missed
                    await self._news.wait()
                await self._look(tasks)
                await self._machines.clock.sleep(LOOK_EVERY_S)

    async def _look(self, tasks: TaskGroup) -> None:
        waiting = [one for one in self._watched.values() if not one.looking]
        found = await anyio.to_thread.run_sync(rooms, [one.disk.folders[0] for one in waiting])
        for one, room in zip(waiting, found, strict=True):
            if room is not None and one.disk.is_due(room):
                one.looking = True
                tasks.start_soon(self._see_to, one)

    async def _see_to(self, one: Watched) -> None:
        try:
            if not await self._machines.guard.once(kinds.SANDBOX_DISK, one.row.id, self._check, one):
                one.disk.rest(BUSY_UNSEEN_S)
        finally:
            one.looking = False

    async def _check(self, one: Watched) -> None:
        """Walk its folder, and end it if it holds too much. It is frozen before it is ended, so that it cannot outrun
        the walk."""
        (room,) = await anyio.to_thread.run_sync(rooms, one.disk.folders[:1])
        if room is None:
            return
        if not one.disk.may_exceed(room):
            await one.disk.walk(room, self._limiter)  # while it runs and without the lock: it is only a suspicion yet
            if not one.disk.is_over:
                return
        lock = self._machines.locks[one.row.workspace_id]
        with anyio.move_on_after(PATIENCE_S) as patience:
            await lock.acquire()
        if patience.cancelled_caught:
            return
        try:
            with anyio.CancelScope(shield=True):  # cancelled in between, it would stay frozen
                await self._judge(one, room)
        finally:
            lock.release()

    async def _judge(self, one: Watched, room: Room) -> None:
        row = await self._machines.db.read(store.newest, one.row.workspace_id)
        # It fell asleep or was replaced meanwhile.
        if row is None or row.id != one.row.id or row.life.state is not State.READY:
            return
        try:
            await one.disk.sandbox.freeze()
        except SandboxUnavailable:  # it cannot be frozen here: then it is walked while it runs
            pass
        except SandboxLost:
            return
        try:
            await one.disk.walk(room, self._limiter)
            if one.disk.is_over:
                await self._end(one.disk, row)
                return
        except BaseException:
            await one.disk.sandbox.thaw()
            raise
        await one.disk.sandbox.thaw()

    async def _end(self, disk: DiskWatch, row: SandboxRecord) -> None:
        used, limit_mb = disk.used, self._machines.settings.disk_mb
        error = DiskLimit(
            f"The sandbox was ended: its files took {used.bytes // MEBIBYTE} MiB in {used.entries} files; the limit"
            f" is {limit_mb} MiB.",
            sandbox_id=row.id,
            limit_mb=limit_mb,
        )
        facts = {"sandbox_id": row.id, "bytes": used.bytes, "entries": used.entries}
        log.warning("sandbox ended for its disk limit", extra=facts)
        disk.sandbox.ends_with(error)  # first: calls in progress then raise this, and not a plain `SandboxLost`
        await self._machines.lives.end(row, State.LOST, error)
