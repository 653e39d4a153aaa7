"""What other servers do with the sandboxes that all of them reach: this one lets go of those that they put to sleep,
end or replace, and one server at a time attends to the services in each."""

import logging
from collections.abc import Iterable
from contextlib import suppress
from typing import Final

import anyio
from anyio.abc import TaskGroup

from outlast.base.clock import wait_at_most
from outlast.base.errors import OutlastError
from outlast.db.database import Tx
from outlast.kernel.sandboxes import store
from outlast.kernel.sandboxes.leases import ATTEND, Leases, release, take
from outlast.kernel.sandboxes.lifecycle import Attendant
from outlast.kernel.sandboxes.manager import SandboxManager
from outlast.kernel.sandboxes.store import SandboxRecord
from outlast_sandbox.interface import Sandbox

BELL: Final = "sandbox_attendants"
log = logging.getLogger("outlast.sandboxes")


class OtherServers:
    """In memory: the projects in which something changed. `run` must be running."""

    def __init__(self, machines: SandboxManager) -> None:
        self._machines = machines
        self._projects: set[str | None] = set()
        self._checked: set[str] = set()
        self._news = anyio.Event()
        machines.db.on_notice(self._on_notice)

    async def run(self) -> None:
        """Until cancelled: follow the changes that other servers make. Raises `StorageUnavailable`."""
        self._checked.clear()
        async with anyio.create_task_group() as tasks:
            while True:
                await self._news.wait()
                self._news = anyio.Event()
                projects, self._projects = self._projects, set()
                for workspace_id in {one for project in projects for one in self._machines.lives.awake_in(project)}:
                    self._check_soon(tasks, workspace_id)

    def _check_soon(self, tasks: TaskGroup, workspace_id: str) -> None:
        if workspace_id not in self._checked:  # else the row will be read after this change
            self._checked.add(workspace_id)
            tasks.start_soon(self._check, workspace_id)

    async def _check(self, workspace_id: str) -> None:
        # Within the lock: this server's own steps see to it themselves.
        async with self._machines.locks[workspace_id]:
            self._checked.discard(workspace_id)
            newest = await self._machines.db.read(store.newest, workspace_id)
            self._machines.lives.follow(workspace_id, newest)

    def _on_notice(self, stream_id: str) -> None:
        project_id = None if stream_id == "*" else stream_id
        if self._machines.lives.awake_in(project_id):
            self._projects.add(project_id)
            self._news.set()


class Attended:
    """An `Attendant` that reports an awake sandbox to `inner` only while this server holds the lease on attending to
    it. In memory: the awake sandboxes, and those attended to. `run` must be running."""

    def __init__(self, inner: Attendant, machines: SandboxManager, leases: Leases) -> None:
        self._inner, self._machines, self._leases = inner, machines, leases
        self._awake: dict[str, tuple[SandboxRecord, Sandbox]] = {}
        self._mine: dict[str, SandboxRecord] = {}
        self._left: set[str] = set()  # leases to give back
        self._news = anyio.Event()
        machines.db.on_notice(self._on_notice)

    def awake(self, row: SandboxRecord, sandbox: Sandbox) -> None:
        self._let_go(row.workspace_id)
        self._awake[row.workspace_id] = row, sandbox
        self._news.set()

    def asleep(self, row: SandboxRecord) -> None:
        self._awake.pop(row.workspace_id, None)
        if self._let_go(row.workspace_id):
            self._left.add(row.workspace_id)
            self._news.set()

    async def run(self) -> None:
        """Until cancelled: take the leases that are free, renew those held."""
        while True:
            self._news = anyio.Event()  # before the look: what changes during it is seen at once
            await self._look()
            await wait_at_most(self._machines.clock, self._news, self._leases.length.total_seconds() / 3)

    async def take_over(self, workspace_id: str) -> None:
        """Attend to the workspace's sandbox from now on, if it is awake here; another server that does so stops."""
        if workspace_id in self._awake and workspace_id not in self._mine:
            await self._machines.db.write(self._take, [workspace_id], by_force=True)
            self._attend(workspace_id)

    async def _look(self) -> None:
        left, self._left = self._left - self._awake.keys(), set()
        with suppress(OutlastError):
            taken = await self._machines.db.write(self._take, list(self._awake), left=left)
            for workspace_id in list(self._mine):
                if workspace_id not in taken:
                    self._let_go(workspace_id)
            for workspace_id in taken:
                self._attend(workspace_id)

    def _take(self, tx: Tx, wanted: Iterable[str], *, left: Iterable[str] = (), by_force: bool = False) -> set[str]:
        node_id, length = self._leases.node_id, self._leases.length
        for workspace_id in sorted(left):
            release(tx, ATTEND + workspace_id, node_id)
            tx.ring(BELL)
        if by_force:
            tx.ring(BELL)
        return {one for one in sorted(wanted) if take(tx, ATTEND + one, node_id, length, by_force=by_force)}

    def _attend(self, workspace_id: str) -> None:
        found = self._awake.get(workspace_id)
        if found is not None and workspace_id not in self._mine:  # it may have fallen asleep meanwhile
            self._mine[workspace_id] = found[0]
            self._inner.awake(*found)

    def _let_go(self, workspace_id: str) -> bool:
        row = self._mine.pop(workspace_id, None)
        if row is not None:
            self._inner.asleep(row)
        return row is not None

    def _on_notice(self, stream_id: str) -> None:
        if stream_id in (BELL, "*") and self._awake:
            self._news.set()
