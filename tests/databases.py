"""Fixtures for everything that stores: each test gets a migrated database of its own, on SQLite and on PostgreSQL.

    async def test_a_row_written_is_read_back(db: Database) -> None: ...

`db` is an open database; `database_url` the same for tests that open it themselves or start a server on it.
Migrations run once per session and database kind; a test's database is a copy of the result.
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
from outlast.db.database import Database
from outlast.db.opening import migrate, open_database
from tests.postgres import PostgresServer

__all__ = [
    "database_url",
    "db",
    "migrated_postgres",
    "migrated_sqlite",
    "postgres",
    "postgres_url",
    "sqlite_url",
]

TEMPLATE = "outlast_template"
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


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def database_url(request: pytest.FixtureRequest) -> str:
    """The URL of a new database with all tables, of each kind in turn."""
    url: str = request.getfixturevalue("sqlite_url" if request.param == "sqlite" else "postgres_url")
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


def _execute(server: PostgresServer, statement: str) -> None:
    async def run() -> None:
        connection = await asyncpg.connect(server.url("postgres"))
        try:
            await connection.execute(statement)
        finally:
            await connection.close()

    _in_a_thread(run)


def _in_a_thread(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Runs async work to its end on a loop of its own, whether or not the caller's thread has one running."""
    failures: list[BaseException] = []

    def run() -> None:
        try:
            asyncio.run(work())
        except BaseException as failure:
            failures.append(failure)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if failures:
        raise failures[0]
