"""A thread with a workspace, and a keeper of its files."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from outlast.base.clock import SystemClock
from outlast.base.ids import new_id
from outlast.db.blobs.folder import FolderBlobs
from outlast.db.connect import open_database
from outlast.db.database import Database, Tx
from outlast.kernel.deployment import Deployment, join
from outlast.kernel.sandboxes.checkpoints import store
from outlast.kernel.sandboxes.checkpoints import workspaces as places
from outlast.kernel.sandboxes.checkpoints.keeper import CheckpointKeeper, Find
from outlast.kernel.sandboxes.checkpoints.shapes import CheckpointData
from outlast.kernel.sandboxes.rows import WorkspaceRow
from outlast.kernel.sandboxes.settings import SandboxSettings
from outlast.kernel.sandboxes.tables import checkpoints, workspaces
from outlast_sandbox.interface import Sandbox
from tests.factories import Team, make_run, make_thread, say

NODE = "nod_here"


class Desk:
    """One thread of a team, its workspace and folder; `keeper` is a server's, `another` one after a restart."""

    def __init__(self, db: Database, data_dir: Path) -> None:
        self.db, self.data_dir = db, data_dir
        self.blobs = FolderBlobs(data_dir / "blobs")
        self.thread_id = self.project_id = self.workspace_id = ""
        self.sandbox: Sandbox | None = None
        self.keeper = self.another()

    def another(self, node_id: str = NODE, *, local: bool = True, data_dir: Path | None = None) -> CheckpointKeeper:
        return CheckpointKeeper(
            self.db,
            self.blobs,
            SystemClock(),
            SandboxSettings(disk_mb=64),
            data_dir or self.data_dir,
            node_id=node_id,
            local=local,
            find=self._find,
        )

    @property
    def find(self) -> Find:
        return self._find

    async def _find(self, _workspace_id: str) -> Sandbox | None:
        return self.sandbox

    @property
    def folder(self) -> Path:
        return self.data_dir / "workspaces" / self.workspace_id

    async def furnish(self) -> None:
        def fill(tx: Tx) -> tuple[Team, str]:
            team = Team(tx)
            workspace_id = new_id("workspace")
            owner = {"owner_type": "thread", "owner_id": team.thread_id, "project_id": team.project_id}
            row = {"id": workspace_id, **owner, "created_at": tx.now, "last_used_at": tx.now, "node_id": NODE}
            tx.execute(sa.insert(workspaces).values(**row))
            return team, workspace_id

        self.team, self.workspace_id = await self.db.write(fill)
        await join(self.db, Deployment(self.data_dir, self.blobs.folder))
        self.thread_id, self.project_id = self.team.thread_id, self.team.project_id

    def write(self, **files: str) -> None:
        """Files by name, `__` for a slash and `_` for the dot."""
        for name, content in files.items():
            path = self.folder / name.replace("__", "/").replace("_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)

    def read(self, folder: Path | None = None) -> dict[str, str]:
        root = folder or self.folder
        return {str(path.relative_to(root)): path.read_text() for path in root.rglob("*") if path.is_file()}

    async def pass_time(self, time: timedelta) -> None:
        """All that has happened happened so much earlier."""

        def change(tx: Tx) -> None:
            for table, *columns in (
                (workspaces, "last_used_at", "changed_at", "evicted_at"),
                (checkpoints, "created_at"),
            ):
                for row in tx.execute(sa.select(table)).all():
                    then = {name: getattr(row, name) for name in columns}
                    moments = {name: moment - time for name, moment in then.items() if moment is not None}
                    tx.execute(sa.update(table).where(table.c.id == row.id).values(**moments))

        await self.db.write(change)

    async def take(self, run_id: str | None = None) -> CheckpointData:
        taken = await self.keeper.take(self.workspace_id, "tool", run_id=run_id)
        assert taken is not None
        return taken

    async def evict(self) -> bool:
        """Whether the next look removes the folder."""
        await self.keeper.look_after()
        return not self.folder.exists()

    async def place(self) -> WorkspaceRow:
        place = await self.db.read(places.place_of, self.workspace_id)
        assert place is not None
        return place

    async def run(self, **fields: object) -> str:
        """A run of the thread that works here."""

        def make(tx: Tx) -> str:
            return make_run(
                tx,
                self.thread_id,
                self.team.owner,
                workspace_id=self.workspace_id,
                **fields,  # type: ignore[arg-type]
            )

        return await self.db.write(make)

    async def answered(self, checkpoint: CheckpointData) -> str:
        """An answer that the checkpoint belongs to; its id."""

        def answer(tx: Tx) -> str:
            message_id = say(tx, self.thread_id, None, "done")
            mine = checkpoints.c.id == checkpoint.id
            tx.execute(sa.update(checkpoints).where(mine).values(message_id=message_id))
            return message_id

        return await self.db.write(answer)

    async def ids(self) -> list[str]:
        """The checkpoints that there are, oldest first."""

        def read(tx: Tx) -> list[str]:
            return [one.id for one in reversed(store.list_of(tx, self.workspace_id, None, 100))]

        return await self.db.read(read)

    async def thread(self) -> str:
        """One more thread of the same project."""
        return await self.db.write(make_thread, self.project_id, self.team.owner, "other")


@pytest.fixture
async def both(db: Database, tmp_path: Path) -> Desk:
    """On each database in turn, for what lies in rows."""
    desk = Desk(db, tmp_path / "data")
    await desk.furnish()
    return desk


@pytest.fixture
async def desk(sqlite_url: str, tmp_path: Path) -> AsyncIterator[Desk]:
    """On one database, for what lies in files."""
    database = open_database(sqlite_url, tmp_path, SystemClock())
    desk = Desk(database, tmp_path / "data")
    await desk.furnish()
    yield desk
    await database.aclose()
