"""What the benchmarks put into a database is what a server would have left there."""

from __future__ import annotations

import shutil
from pathlib import Path

from bench.seed import Seeder
from outlast.base.clock import SystemClock
from outlast.db.connect import open_database
from outlast.db.database import Tx
from outlast.kernel.accounts.store import ensure_local_owner
from outlast.kernel.projects.store import ensure_default_project
from outlast.kernel.threads.message_store import add_message


async def test_a_thread_that_was_put_there_takes_a_message(migrated_sqlite: Path, tmp_path: Path) -> None:
    shutil.copy(migrated_sqlite, tmp_path / "outlast.db")
    db = open_database("sqlite:///outlast.db", tmp_path, SystemClock())
    await db.write(_begin)
    with Seeder(tmp_path) as seeder:
        thread_id = seeder.thread_with(2_500)
    added = await db.write(add_message, thread_id, "user", None, "complete", [])
    await db.aclose()
    assert added.position == 3


def _begin(tx: Tx) -> None:
    ensure_default_project(tx, ensure_local_owner(tx, "free").id)
