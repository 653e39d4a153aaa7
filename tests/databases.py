"""Fixtures for everything that stores: each test gets a migrated database of its own, on SQLite and on PostgreSQL.

    async def test_a_row_written_is_read_back(db: Database) -> None: ...

`db` is an open database; `database_url` the same for tests that open it themselves or start a server on it.
Migrations run once per session and database kind; a test's database is a copy of the result. On PostgreSQL, where
copying takes ten times as long as most tests, one that a test has used is emptied for another: see `EmptyDatabases`.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import shutil
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from outlast.base.clock import SystemClock
from outlast.db.connect import migrate, open_database
from outlast.db.database import Database
from outlast.testing.postgres import PostgresServer

__all__ = [
    "database_url",
    "db",
    "empty_databases",
    "migrated_postgres",
    "migrated_sqlite",
    "postgres",
    "postgres_url",
    "reused_postgres_url",
    "sqlite_url",
]

TEMPLATE = "outlast_template"
# What a test leaves: its connections, rows, numbers. The role `replica` deletes without looking at references.
EMPTY = """
DO $$
DECLARE
    one record;
BEGIN
    PERFORM pg_terminate_backend(pid, 10000) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid();
    SET LOCAL session_replication_role = replica;
    FOR one IN SELECT tablename FROM pg_tables
        WHERE schemaname = 'public' AND tablename NOT IN ('alembic_version', 'meta') LOOP
        EXECUTE format('DELETE FROM public.%I', one.tablename);
    END LOOP;
    DELETE FROM public.meta WHERE key <> 'schema.compatible_from';
    PERFORM setval(format('%I.%I', schemaname, sequencename)::regclass, start_value, false) FROM pg_sequences;
END $$
"""
# Every change of a table, an index or the revision shows here; deleting rows and vacuuming do not, unless there were so
# many that the next test would find it slow.
TABLES = """
SELECT concat_ws(' ', version_num, pg_database_size(current_database()) > 20000000,
    (SELECT concat(count(*), '/', max(xmin::text::bigint)) FROM pg_class),
    (SELECT concat(count(*), '/', max(xmin::text::bigint)) FROM pg_attribute))
FROM alembic_version
"""
_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A running PostgreSQL, shared by all tests of the session. A test that stops it must start it again."""
    server = PostgresServer()
    try:
        server.start()
        yield server
    finally:
        server.remove()


@pytest.fixture(scope="session")
def migrated_postgres(postgres: PostgresServer) -> PostgresServer:
    """The server with a template database that has all tables."""
    _execute(postgres, f"CREATE DATABASE {TEMPLATE}")
    _migrate(postgres.url(TEMPLATE), Path("/"))
    return postgres


class EmptyDatabases:
    """Databases with all tables and no rows, on one server."""

    def __init__(self, server: PostgresServer) -> None:
        self._server = server
        self._spare: list[str] = []
        self._tables = _execute(server, TABLES, database=TEMPLATE)

    def take(self) -> str:
        """The name of one that nobody else uses."""
        if self._spare:
            return self._spare.pop()
        name = f"test_{next(_numbers)}"
        _execute(self._server, f"CREATE DATABASE {name} TEMPLATE {TEMPLATE}")
        return name

    def give_back(self, name: str) -> None:
        """Empty it for the next one; where the test has changed the tables or left too much, drop it."""
        if _execute(self._server, EMPTY, TABLES, database=name) == self._tables:
            self._spare.append(name)
        else:
            _execute(self._server, f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="session")
def empty_databases(migrated_postgres: PostgresServer) -> EmptyDatabases:
    return EmptyDatabases(migrated_postgres)


@pytest.fixture(scope="session")
def migrated_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database file that has all tables, to be copied."""
    folder = tmp_path_factory.mktemp("sqlite")
    _migrate("sqlite:///migrated.db", folder)
    # A file in WAL mode may leave content in the log beside it until the last connection is collected, so it is not
    # copied itself: this writes a complete file without a log.
    with contextlib.closing(sqlite3.connect(folder / "migrated.db")) as connection:
        connection.execute("VACUUM INTO ?", (str(folder / "template.db"),))
    return folder / "template.db"


@pytest.fixture
def sqlite_url(migrated_sqlite: Path, tmp_path: Path) -> str:
    """The URL of a new SQLite file with all tables, in the test's own folder."""
    shutil.copy(migrated_sqlite, tmp_path / "outlast.db")
    return f"sqlite:///{tmp_path / 'outlast.db'}"


@pytest.fixture
def postgres_url(migrated_postgres: PostgresServer) -> Iterator[str]:
    """The URL of a new PostgreSQL database with all tables, dropped after the test with whoever still uses it."""
    name = f"test_{next(_numbers)}"
    _execute(migrated_postgres, f"CREATE DATABASE {name} TEMPLATE {TEMPLATE}")
    yield migrated_postgres.url(name)
    _execute(migrated_postgres, f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


@pytest.fixture
def reused_postgres_url(empty_databases: EmptyDatabases, migrated_postgres: PostgresServer) -> Iterator[str]:
    """As `postgres_url`, but the database may have been another test's; for tests that start no process on it."""
    name = empty_databases.take()
    yield migrated_postgres.url(name)
    empty_databases.give_back(name)


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def database_url(request: pytest.FixtureRequest) -> str:
    """The URL of a new database with all tables, of each kind in turn."""
    url: str = request.getfixturevalue("sqlite_url" if request.param == "sqlite" else "reused_postgres_url")
    return url


@pytest.fixture
async def db(database_url: str, tmp_path: Path) -> AsyncIterator[Database]:
    """A new open database with all tables, of each kind in turn. Bells of other processes do not ring: `background`
    is not running."""
    database = open_database(database_url, tmp_path, SystemClock())
    try:
        yield database
    finally:
        await database.aclose()


def _migrate(url: str, data_dir: Path) -> None:
    async def run() -> None:
        database = open_database(url, data_dir, SystemClock())
        try:
            await migrate(database)
        finally:
            await database.aclose()

    _in_a_thread(run)


def _execute(server: PostgresServer, *statements: str, database: str = "postgres") -> Any:
    """The first value that the last statement gives, if any."""

    async def run() -> Any:
        connection = await asyncpg.connect(server.url(database))
        try:
            *before, last = statements
            for statement in before:
                await connection.execute(statement)
            return await connection.fetchval(last)
        finally:
            await connection.close()

    return _in_a_thread(run)


def _in_a_thread(work: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    """Runs async work to its end on a loop of its own, whether or not the caller's thread has one running."""
    failures: list[BaseException] = []
    results: list[Any] = []

    def run() -> None:
        try:
            results.append(asyncio.run(work()))
        except BaseException as failure:
            failures.append(failure)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if failures:
        raise failures[0]
    return results[0]
