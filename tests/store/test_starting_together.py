"""Server and worker that start at once on an empty PostgreSQL."""

from __future__ import annotations

from pathlib import Path

import anyio

from outlast.base.clock import SystemClock
from outlast.db.connect import migrate, open_database
from outlast.testing.postgres import PostgresServer
from tests.databases import _execute


async def test_processes_that_start_at_once_on_an_empty_database_all_find_its_tables(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    """The second one broke off with a duplicate key while the first was making the tables."""
    await anyio.to_thread.run_sync(_execute, postgres, "CREATE DATABASE starting_together")
    databases = [open_database(postgres.url("starting_together"), tmp_path, SystemClock()) for _ in range(3)]
    try:
        async with anyio.create_task_group() as tasks:
            for database in databases:
                tasks.start_soon(migrate, database)
    finally:
        for database in databases:
            await database.aclose()
