"""Checkpoints of real sandboxes: files that come back to whom they belong, and code inside that fights them."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import anyio
import pytest
import sqlalchemy as sa

from outlast.base.clock import SystemClock
from outlast.base.errors import InputTooLarge
from outlast.base.ids import new_id
from outlast.db.blobs.folder import FolderBlobs
from outlast.db.connect import open_database
from outlast.db.database import Database, Tx
from outlast.kernel.sandboxes.checkpoints import store
from outlast.kernel.sandboxes.checkpoints.contents import content_of
from outlast.kernel.sandboxes.checkpoints.keeper import CheckpointKeeper
from outlast.kernel.sandboxes.manager import SandboxManager
from outlast.kernel.sandboxes.settings import SandboxSettings
from outlast.kernel.sandboxes.tables import workspaces
from outlast_sandbox.interface import Command, SandboxProvider
from outlast_sandbox.providers.local.provider import LocalProvider
from tests.factories import Team

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(180)]
SETTINGS = SandboxSettings(memory_mb=512, processes=128, disk_mb=64)
TAKES = 20


class Workshop:
    """One workspace with real sandboxes over it, and a keeper of its files."""

    def __init__(self, db: Database, provider: SandboxProvider, data_dir: Path) -> None:
        clock = SystemClock()
        self.db, self.data_dir, self.blobs = db, data_dir, FolderBlobs(data_dir / "blobs")
        self.machines = SandboxManager(db, provider, clock, SETTINGS, data_dir)
        self.keeper = CheckpointKeeper(
            db,
            self.blobs,
            clock,
            SETTINGS,
            data_dir,
            node_id="local",
            local=provider.capabilities.volume,
            find=self.machines.find,
        )
        self.machines.lives.files = self.keeper
        self.workspace_id = self.project_id = ""

    @property
    def folder(self) -> Path:
        return self.data_dir / "workspaces" / self.workspace_id

    async def open(self) -> None:
        def make(tx: Tx) -> tuple[str, str]:
            team, workspace_id = Team(tx), new_id("workspace")
            owner = {"owner_type": "thread", "owner_id": team.thread_id, "project_id": team.project_id}
            row = {"id": workspace_id, **owner, "created_at": tx.now, "last_used_at": tx.now}
            tx.execute(sa.insert(workspaces).values(**row))
            return workspace_id, team.project_id

        self.workspace_id, self.project_id = await self.db.write(make)

    async def run(self, script: str) -> str:
        sandbox = await self.machines.ensure(self.workspace_id, self.project_id)
        result = await sandbox.run(Command(new_id("effect"), 1, script, timeout_s=60))
        assert result.exit_code == 0, result.output
        return result.output

    async def evict(self) -> None:
        """As after a day without a use."""
        await self.machines.stop(self.workspace_id)

        def age(tx: Tx) -> None:
            mine = workspaces.c.id == self.workspace_id
            tx.execute(sa.update(workspaces).where(mine).values(last_used_at=tx.now - timedelta(days=1)))

        await self.db.write(age)
        await self.keeper.look_after()
        assert not self.folder.exists()


@pytest.fixture
async def shop(local: LocalProvider, sqlite_url: str, tmp_path: Path) -> AsyncIterator[Workshop]:
    db = open_database(sqlite_url, tmp_path, SystemClock())
    shop = Workshop(db, local, tmp_path / "data")
    await shop.open()
    yield shop
    await shop.machines.kill(shop.workspace_id)
    await shop.machines.aclose()
    await db.aclose()


async def test_evicted_files_are_there_at_the_next_use_and_belong_to_the_code_inside(shop: Workshop) -> None:
    await shop.run(
        "mkdir -p src/deep && echo one > src/deep/a && echo '#!/bin/sh' > run && chmod 750 run"
        " && mkdir -m 700 own && echo mine > own/file && ln -s src/deep/a link"
    )
    await shop.evict()
    shown = await shop.run("cat link own/file; stat -c '%a %U' run own src/deep/a; echo two >> src/deep/a; rm -r own")
    assert shown.split("\n")[:2] == ["one", "mine"]
    assert shown.split("\n")[2:5] == ["750 user", "700 user", "644 user"]
    taken = await shop.keeper.take(shop.workspace_id, "tool")
    assert taken is not None
    assert "own" not in (await shop.keeper.tree(taken)).by_path


async def test_a_folder_lost_with_its_sandbox_comes_back(shop: Workshop) -> None:
    await shop.run("echo one > a && chmod 600 a")
    await shop.keeper.take(shop.workspace_id, "tool")
    await shop.machines.kill(shop.workspace_id)
    shutil.rmtree(shop.folder)
    assert await shop.run("cat a && echo more >> a && wc -l < a") == "one\n2\n"


async def test_a_restored_checkpoint_is_seen_by_what_runs_inside(shop: Workshop) -> None:
    await shop.run("echo one > a; mkdir d; echo x > d/x")
    first = await shop.keeper.take(shop.workspace_id, "tool")
    assert first is not None
    await shop.run("echo two > a; rm -r d; echo new > b; chmod 000 b; mkdir -m 000 closed")
    await shop.keeper.restore(first)
    assert await shop.run("cat a d/x; ls; echo three > a; echo y > d/y") == "one\nx\na\nd\n"


async def test_code_that_swaps_folders_for_links_shows_nothing_of_the_host(shop: Workshop, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "key").write_text("the host's own key")
    sandbox = await shop.machines.ensure(shop.workspace_id, shop.project_id)
    swap = (
        f"mkdir real; echo ours > real/key; ln -s {secret} planted; ln -s {secret}/key straight; mkfifo pipe;"
        " ln -s / root; ln -s /proc/self/root magic; touch started;"
        " while :; do mv -T real d; echo again >> d/key; mv -T d real; mv -T planted d; mv -T d planted; done"
    )
    effect_id = new_id("effect")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(sandbox.run, Command(effect_id, 1, swap, timeout_s=120))
        with anyio.fail_after(60):
            while not (shop.folder / "started").exists():
                await anyio.lowlevel.checkpoint()
        for _ in range(TAKES):
            await shop.keeper.take(shop.workspace_id, "tool")
        (newest, *_) = await shop.db.read(store.list_of, shop.workspace_id, None, 1)
        await shop.keeper.restore(newest)  # against the same code
        await sandbox.kill_command(effect_id)
    assert (secret / "key").read_text() == "the host's own key"
    assert [path.name for path in secret.iterdir()] == ["key"]
    for taken in await shop.db.read(store.list_of, shop.workspace_id, None, 100):
        for entry in (await shop.keeper.tree(taken)).entries:
            if entry.kind == "file":
                assert b"host" not in content_of(shop.blobs, entry)


async def test_a_file_full_of_holes_does_not_fill_the_blobs(shop: Workshop) -> None:
    await shop.run("truncate -s 60M holes; truncate -s 60M more; truncate -s 60M third; echo a > a")
    before = sum(blob.size_bytes for blob in shop.blobs.stored())
    with pytest.raises(InputTooLarge, match="at most"):
        await shop.keeper.take(shop.workspace_id, "tool")
    assert sum(blob.size_bytes for blob in shop.blobs.stored()) == before
    await shop.run("rm more third")
    assert await shop.keeper.take(shop.workspace_id, "tool") is not None
