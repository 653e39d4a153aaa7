"""Checkpoint: a workspace of 1,000 files, of which 200 changed, stored in the database and the blobs; and by git."""

import os
import random
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

import anyio.to_thread
import sqlalchemy as sa

from bench.client import now_ms, percentile
from bench.figures import Figure
from outlast.base.clock import SystemClock
from outlast.base.ids import new_id
from outlast.db.blobs.folder import FolderBlobs
from outlast.db.connect import migrate, open_database
from outlast.db.database import Database, Tx
from outlast.kernel.accounts.store import add_user
from outlast.kernel.projects.store import add_project
from outlast.kernel.sandboxes.checkpoints.keeper import CheckpointKeeper
from outlast.kernel.sandboxes.settings import SandboxSettings
from outlast.kernel.sandboxes.tables import workspaces
from outlast.kernel.threads.store import add_thread
from outlast_sandbox.interface import Sandbox

FILES: Final = 1_000
CHANGED: Final = 200
GOAL_MS: Final = 50
GIT: Final = ("git", "-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "gc.auto=0")


async def measure(quick: bool) -> list[Figure]:
    rounds = 8 if quick else 25
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        db = open_database("sqlite:///outlast.db", folder, SystemClock())
        try:
            await migrate(db)
            return await _measure(db, folder, rounds)
        finally:
            await db.aclose()


async def _measure(db: Database, folder: Path, rounds: int) -> list[Figure]:
    keeper = CheckpointKeeper(
        db,
        FolderBlobs(folder / "blobs"),
        SystemClock(),
        SandboxSettings(),
        folder,
        node_id="bench",
        local=True,
        find=_nobody,
    )
    workspace_id = await db.write(_workspace)
    root, beside = folder / "workspaces" / workspace_id, folder / "git"
    write_files(root, FILES)
    await keeper.take(workspace_id, "tool")
    with_git = shutil.which("git") is not None
    if with_git:
        await anyio.to_thread.run_sync(begin_git, beside)
    ours, unchanged, git, back = [], [], [], []
    for _ in range(rounds):  # in turn, so that a slow moment of the machine hits all
        write_files(root, CHANGED)
        began = now_ms()
        assert await keeper.take(workspace_id, "tool") is not None
        ours.append(now_ms() - began)
        began = now_ms()
        assert await keeper.take(workspace_id, "tool") is None
        unchanged.append(now_ms() - began)
        if with_git:
            write_files(beside, CHANGED)
            git.append(await anyio.to_thread.run_sync(_timed, lambda: commit(beside)))
        await anyio.to_thread.run_sync(shutil.rmtree, root)
        began = now_ms()
        await keeper.bring_back(workspace_id)
        back.append(now_ms() - began)
        await keeper.take(workspace_id, "tool")  # it has to read all of a folder that was brought back
    figures = [
        Figure("checkpoint after 200 of 1,000 files changed p50", percentile(ours, 0.5), "ms", GOAL_MS),
        Figure("the same, slowest", percentile(ours, 1), "ms"),
        Figure("scan without changes p50", percentile(unchanged, 0.5), "ms"),
        Figure("restore of a lost folder of 1,000 files p50", percentile(back, 0.5), "ms"),
    ]
    if with_git:
        figures.append(Figure("git add and commit of the same change p50", percentile(git, 0.5), "ms"))
    return figures


def write_files(root: Path, count: int) -> None:
    """New contents of 1.5 to 4.5 KB, 50 files a folder."""
    for number in range(count):
        path = root / f"part-{number // 50}" / f"module-{number}.ts"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(os.urandom(1_500) + b"x" * random.randrange(3_000))


def begin_git(folder: Path) -> None:
    write_files(folder, FILES)
    subprocess.run([*GIT, "init", "-q"], cwd=folder, check=True)
    commit(folder)


def commit(folder: Path) -> None:
    """A git commit of a folder, with its objects synced to disk as ours are."""
    subprocess.run([*GIT, "add", "-A"], cwd=folder, check=True)
    subprocess.run([*GIT, "-c", "core.fsync=all", "commit", "-q", "--allow-empty", "-m", "x"], cwd=folder, check=True)


def _timed(work: Callable[[], None]) -> float:
    began = now_ms()
    work()
    return now_ms() - began


async def _nobody(_workspace_id: str) -> Sandbox | None:
    return None


def _workspace(tx: Tx) -> str:
    user_id = add_user(tx, "Bench", "unlimited")
    project_id = add_project(tx, user_id, "Bench")
    row = {
        "id": new_id("workspace"),
        "project_id": project_id,
        "owner_type": "thread",
        "owner_id": add_thread(tx, project_id, user_id),
    }
    tx.execute(sa.insert(workspaces).values(**row, created_at=tx.now, last_used_at=tx.now))
    return str(row["id"])
