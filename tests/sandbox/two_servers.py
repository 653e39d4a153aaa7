"""Servers of one deployment, each with its own folder and connections, over one PostgreSQL, one folder of blobs and one
service that speaks E2B's protocol."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

import anyio
from anyio.abc import TaskGroup

from outlast.base.clock import SystemClock
from outlast.base.ids import new_id
from outlast.db.blobs.folder import FolderBlobs
from outlast.db.connect import open_database
from outlast.db.database import Database, Tx
from outlast.kernel.accounts.store import add_user
from outlast.kernel.projects.store import add_project
from outlast.kernel.sandboxes import store
from outlast.kernel.sandboxes.checkpoints.keeper import CheckpointKeeper
from outlast.kernel.sandboxes.checkpoints.workspaces import add_workspace
from outlast.kernel.sandboxes.manager import SandboxManager
from outlast.kernel.sandboxes.other_servers import OtherServers
from outlast.kernel.sandboxes.settings import SandboxSettings
from outlast_sandbox.interface import Command, Evaluation, EvaluationResult, Sandbox, SandboxProvider
from outlast_sandbox.providers.e2b.provider import open_provider
from outlast_sandbox.providers.setup import ProviderSetup
from tests.sandbox.e2b_service import E2bService

SETTINGS = SandboxSettings(memory_mb=512, processes=128, disk_mb=64)


class ShiftedClock:
    """The machine's clock, moved by hand. Not a `SystemClock`, in whose place PostgreSQL's time would count."""

    def __init__(self) -> None:
        self.shift = timedelta()
        self._own = SystemClock()
        self.monotonic, self.sleep = self._own.monotonic, self._own.sleep

    def now(self) -> datetime:
        return self._own.now() + self.shift


@dataclass
class Server:
    """One server's part that works with sandboxes."""

    name: str
    db: Database
    machines: SandboxManager
    files: CheckpointKeeper
    clock: ShiftedClock

    async def sandbox(self, place: Place) -> Sandbox:
        return await self.machines.ensure(place.workspace_id, place.project_id)

    async def python(self, place: Place, code: str) -> EvaluationResult:
        sandbox = await self.sandbox(place)
        return await sandbox.evaluate(Evaluation(new_id("effect"), 1, "python", code))

    async def shell(self, place: Place, script: str) -> str:
        sandbox = await self.sandbox(place)
        return (await sandbox.run(Command(new_id("effect"), 1, script))).output


@dataclass(frozen=True)
class Place:
    """A workspace."""

    project_id: str
    workspace_id: str


@dataclass
class Fleet:
    """Opens servers. They share database, blobs and the service's sandboxes."""

    url: str
    folder: Path
    service: E2bService | None
    stack: AsyncExitStack
    tasks: TaskGroup
    settings: SandboxSettings = SETTINGS
    lease_s: float = 15.0
    opened: list[Server] = field(default_factory=list)

    async def open(self, name: str, provider: SandboxProvider | None = None) -> Server:
        folder, clock = self.folder / name, ShiftedClock()
        folder.mkdir(exist_ok=True)
        db = open_database(self.url, folder, clock)
        self.stack.push_async_callback(db.aclose)
        self.tasks.start_soon(db.background)
        node_id = f"node_{name}"
        machines = SandboxManager(
            db, provider or self.provider(node_id), clock, self.settings, folder, node_id=node_id, lease_s=self.lease_s
        )
        self.stack.push_async_callback(machines.aclose)
        files = CheckpointKeeper(
            db,
            FolderBlobs(self.folder / "blobs"),
            clock,
            self.settings,
            folder,
            node_id=node_id,
            local=False,
            find=machines.find,
            alone=machines.alone,
        )
        machines.lives.files = files
        machines.attend(files)
        self.tasks.start_soon(OtherServers(machines).run)
        server = Server(name, db, machines, files, clock)
        self.opened.append(server)
        return server

    def provider(self, node_id: str) -> SandboxProvider:
        assert self.service is not None
        setup = ProviderSetup(
            state_dir=self.folder / node_id,
            cache_dir=self.folder,
            owner=node_id,
            deployment=f"dep_{self.folder.name}",
            options=self.service.options,
            secret={"E2B_API_KEY": self.service.key}.get,
        )
        return open_provider(setup)

    async def place(self) -> Place:
        """A new workspace in a project of its own."""

        def fill(tx: Tx) -> Place:
            project_id = add_project(tx, add_user(tx, "Ada", "unlimited"), "House")
            return Place(project_id, add_workspace(tx, project_id, "thread", new_id("thread")))

        return await self.opened[0].db.write(fill)

    async def kill_at_service(self, place: Place) -> None:
        """End its sandbox where it lives, as if its machine had died; no server is told."""
        provider = self.provider("node_killer")
        row = await self.row(place)
        await (await provider.connect(row.id, row.ref)).kill()

    async def row(self, place: Place) -> store.SandboxRecord:
        row = await self.opened[0].db.read(store.newest, place.workspace_id)
        assert row is not None
        return row


@asynccontextmanager
async def opening_servers(
    url: str, folder: Path, service: E2bService | None, *, lease_s: float = 15.0
) -> AsyncIterator[Fleet]:
    """Servers that end with the block; sandboxes that are left at the service are killed."""
    async with AsyncExitStack() as stack, anyio.create_task_group() as tasks:
        fleet = Fleet(url, folder, service, stack, tasks, lease_s=lease_s)
        yield fleet
        tasks.cancel_scope.cancel()
    with anyio.CancelScope(shield=True):
        if service is not None:
            provider = fleet.provider("node_cleaner")
            for sandbox_id, ref in await provider.list_refs():
                await (await provider.connect(sandbox_id, ref)).kill()
