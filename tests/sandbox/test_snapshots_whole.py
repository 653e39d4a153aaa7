"""Snapshots from the configuration to the sandbox: the command line, and a manager over the real provider."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
import sqlalchemy as sa

from outlast.base.clock import SystemClock
from outlast.base.events import event_adapter
from outlast.base.ids import new_id
from outlast.db.connect import open_database
from outlast.db.database import Database, Tx
from outlast.kernel.accounts.store import add_user
from outlast.kernel.apps import registry
from outlast.kernel.projects.store import add_project
from outlast.kernel.sandboxes.manager import SandboxManager
from outlast.kernel.sandboxes.settings import DependencySettings, SandboxSettings
from outlast.kernel.sandboxes.shapes import SnapshotProgress
from outlast.kernel.sandboxes.snapshots.keeper import SnapshotKeeper
from outlast.kernel.sandboxes.tables import sandboxes, workspaces
from outlast.kernel.streams.log_store import read_all
from outlast_sandbox.interface import Command
from outlast_sandbox.providers.local.provider import LocalProvider
from tests.flow.program.test_cli import outlast
from tests.sandbox.package_indexes import write_wheel

pytestmark = pytest.mark.sandbox
SHOUTER = "def shout(text): return text.upper()\ndef say(): print('said')\n"


@pytest.fixture
async def sqlite(sqlite_url: str, tmp_path: Path) -> AsyncIterator[Database]:
    database = open_database(sqlite_url, tmp_path, SystemClock())
    try:
        yield database
    finally:
        await database.aclose()


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is the only index pip knows."""
    folder = tmp_path / "wheels"
    write_wheel(folder, "shouter", "2.0", SHOUTER)
    for path in (tmp_path, folder):
        path.chmod(0o755)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


@asynccontextmanager
async def running(keeper: SnapshotKeeper) -> AsyncIterator[None]:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(keeper.run)
        yield
        tasks.cancel_scope.cancel()


async def test_the_first_sandbox_waits_for_the_snapshot_and_the_next_server_has_it_ready(
    sqlite: Database, local: LocalProvider, tmp_path: Path, wheels: Path
) -> None:
    def fill(tx: Tx) -> tuple[str, str]:
        project_id = add_project(tx, add_user(tx, "Ada", "unlimited"), "House")
        values = {"id": new_id("workspace"), "project_id": project_id, "created_at": tx.now}
        owner = {"owner_type": "thread", "owner_id": "thr_1", "last_used_at": tx.now}
        tx.execute(workspaces.insert().values(**values, **owner))
        return project_id, str(values["id"])

    project_id, workspace_id = await sqlite.write(fill)
    settings = SandboxSettings(memory_mb=512, dependencies=(DependencySettings("pypi:shouter==2.0"),))
    for _ in range(2):
        manager = SandboxManager(sqlite, local, SystemClock(), settings, tmp_path / "data")
        keeper = SnapshotKeeper(sqlite, local, SystemClock(), settings, node_id="nod_1")
        manager.lives.snapshots = keeper
        async with running(keeper):
            sandbox = await manager.ensure(workspace_id, project_id)
            result = await sandbox.run(
                Command(f"eff_{sandbox.sandbox_id}", 1, "python3 -c 'import shouter; print(shouter.shout(\"a\"))'")
            )
            assert result.output == "A\n"
        await manager.kill(workspace_id)
        await manager.aclose()
    events = [
        event_adapter(registry.load().events).validate_json(line) for _, line in await sqlite.read(read_all, project_id)
    ]
    told = [event.data for event in events if isinstance(event.data, SnapshotProgress)]
    assert told[-1].state == "ready"
    assert [data.state for data in told].count("ready") == 1
    names = await sqlite.read(lambda tx: tx.execute(sa.select(sandboxes.c.snapshot)).scalars().all())
    assert names == [told[-1].name] * 2
    await local.remove_snapshot(told[-1].name)


def test_an_operator_builds_lists_and_removes_a_snapshot(tmp_path: Path, wheels: Path, cache_dir: Path) -> None:
    config = tmp_path / "outlast.toml"
    config.write_text(
        f'[server]\ndata_dir = "{tmp_path / "data"}"\n[sandbox]\nsetup = ["echo laid out > ~/x"]\n'
        '[[sandbox.dependencies]]\npackage = "pypi:shouter==2.0"\n'
    )

    (tmp_path / "outlast").symlink_to(cache_dir)  # the base layer is there already

    def snapshot(*words: str) -> tuple[int, str, str]:
        done = outlast("snapshots", *words, "--config", str(config), XDG_CACHE_HOME=str(tmp_path))
        return done.returncode, done.stdout, done.stderr

    code, said, heard = snapshot("build")
    assert code == 0, heard
    name = said.split()[0]
    assert said == f"{name} is ready.\n"
    assert "install Python packages …" in heard
    assert "Successfully installed shouter-2.0" in heard
    listed = json.loads(snapshot("list", "--json")[1])["items"]
    assert [(one["name"], one["state"], one["configured"], one["dependencies"]) for one in listed] == [
        (name, "ready", True, ["pypi:shouter==2.0"])
    ]
    assert f"{name}  ready  yes" in snapshot("list")[1]
    assert snapshot("remove", name)[:2] == (0, f"{name}: deleted\n")
    assert "does not exist" in snapshot("remove", name)[2]
    config.write_text(config.read_text().replace("shouter==2.0", "shouter==3.0"))
    code, _, heard = snapshot("build")
    assert code != 0
    assert "No matching distribution found for shouter==3.0" in heard
    assert "  failed  yes" in snapshot("list")[1]


def test_without_anything_to_install_the_command_says_that_there_is_no_snapshot(tmp_path: Path) -> None:
    words = ("--data-dir", str(tmp_path / "data"))
    assert "base system" in outlast("snapshots", "build", *words, XDG_CACHE_HOME=str(tmp_path)).stdout
    assert "No snapshots" in outlast("snapshots", "list", *words, XDG_CACHE_HOME=str(tmp_path)).stderr
