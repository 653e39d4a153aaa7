"""The version before this one and this one serve one database side by side."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import asyncpg
import pytest

from outlast.testing.model_server import ModelServer
from outlast.testing.postgres import PostgresServer
from tests.crash.balancer import NGINX
from tests.crash.server import CrashServer
from tests.crash.test_rolling import STARTERS, behind_nginx, restart

ROOT = Path(__file__).resolve().parents[2]
# What was landed before migrations had a rule: no server is older that runs beside a newer one.
PREVIOUS = os.environ.get("OUTLAST_PREVIOUS", "f02758706536a5c42da88d6c2d30b92a707c318a")
SIDE_BY_SIDE_S = float(os.environ.get("OUTLAST_SIDE_BY_SIDE_S", "600"))
SOURCES = ("src", "packages/sandbox/src", "packages/demo/src")
pytestmark = [
    pytest.mark.postgres,
    pytest.mark.deep,
    pytest.mark.timeout(SIDE_BY_SIDE_S + 600),
    pytest.mark.skipif(NGINX is None, reason="needs nginx, as of Debian's nginx-light"),
]


@dataclass
class Versioned(CrashServer):
    """A server of the version before, as long as `old` names its sources."""

    old: Path | None = None

    def launch(self) -> Any:
        if self.old is None:
            return super().launch()
        words = self.command()
        environment = self.environment() | {"PYTHONPATH": os.pathsep.join(str(self.old / one) for one in SOURCES)}
        with (self.folder / "server.log").open("a") as log:
            self.process = subprocess.Popen(  # type: ignore[assignment] # as much of it as is used
                [sys.executable, "-m", "outlast", *words], stdout=log, stderr=log, env=environment, cwd=self.old
            )
        self.starts += 1
        return self.process


@pytest.fixture
def previous(tmp_path: Path) -> Path:
    """The sources of the version before, from the history."""
    folder, packed = tmp_path / "previous", tmp_path / "previous.tar"
    words = ["git", "-C", str(ROOT), "archive", "--output", str(packed), PREVIOUS, "src", "packages"]
    made = subprocess.run(words, capture_output=True, text=True, check=False)
    if made.returncode:
        pytest.skip(f"the history has no {PREVIOUS}: {made.stderr.strip()}")
    with tarfile.open(packed) as archive:
        archive.extractall(folder, filter="data")
    return folder


async def test_the_version_before_and_this_one_run_side_by_side_under_load(
    previous: Path, model: ModelServer, postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = await asyncpg.connect(postgres.url("postgres"))
    await connection.execute("CREATE DATABASE two_versions")
    await connection.close()
    url = postgres.url("two_versions")
    old, new = (Versioned(tmp_path / name, model.base_url, database=url, old=previous) for name in ("old", "new"))
    async with behind_nginx([old, new], tmp_path, monkeypatch) as rig:
        new.old = None
        await restart(new)  # it updates the tables, which the other one goes on using
        people, over = rig.people, anyio.Event()
        async with anyio.create_task_group() as tasks:
            people.use(tasks, over)
            await anyio.sleep(SIDE_BY_SIDE_S)
            over.set()
        assert old.starts == 1
        assert '"level":"error"' not in old.log() + new.log()
    print(f"{SIDE_BY_SIDE_S:.0f} s side by side: {people}")
    assert not [status for status in people.statuses if status >= 500]
    assert people.cuts == 0
    assert people.completed >= STARTERS
