"""An SQLite database moves to PostgreSQL with every row, or not at all."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from shutil import copy
from typing import Any

import anyio
import asyncpg
import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from outlast.base.clock import SystemClock
from outlast.base.node_errors import DatabaseNotMoved
from outlast.db import sqlite_to_postgres
from outlast.db.columns import metadata
from outlast.db.connect import COMPATIBLE_FROM, MIGRATING, VERSIONS
from outlast.db.sqlite_to_postgres import MovedTable, move
from outlast.testing.postgres import PostgresServer
from tests.databases import EmptyDatabases, _execute, _in_a_thread
from tests.store.test_migrations import SOURCES

pytestmark = [pytest.mark.postgres]
assert SOURCES.is_dir()  # importing it has declared the tables of every room
Rows = dict[str, list[tuple[Any, ...]]]
TEXTS = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=60)
TALL = 20_000  # rows


@pytest.fixture
def source(migrated_sqlite: Path, tmp_path: Path) -> Path:
    return fresh(migrated_sqlite, tmp_path / "outlast.db")


def fresh(migrated_sqlite: Path, to: Path) -> Path:
    """A database with all tables and no row: not even what the migrations note, which each database has of its own."""
    copy(migrated_sqlite, to)
    add(to, "DELETE FROM meta WHERE key = ?", COMPATIBLE_FROM)
    return to


def moved(source: Path, target: str, progress: sqlite_to_postgres.Progress = lambda *_: None) -> list[MovedTable]:
    found: list[MovedTable] = _in_a_thread(lambda: move(source, target, SystemClock(), progress))
    return found


def rows_of_sqlite(source: Path) -> Rows:
    with closing(sqlite3.connect(source)) as connection:
        return {name: sorted(connection.execute(selected(name)), key=repr) for name in metadata.tables}


def rows_of_postgres(target: str) -> Rows:
    async def read() -> Rows:
        connection = await asyncpg.connect(target)
        try:
            found: Rows = {}
            for name in metadata.tables:
                found_rows = await connection.fetch(selected(name))
                rows = [tuple(map(plain, row)) for row in found_rows if row[0] != COMPATIBLE_FROM]
                found[name] = sorted(rows, key=repr)
            return found
        finally:
            await connection.close()

    rows: Rows = _in_a_thread(read)
    return rows


def plain(value: object) -> object:
    return int(value) if isinstance(value, bool) else value


def selected(name: str) -> str:
    names = ", ".join(sqlite_to_postgres.quoted(column.name) for column in metadata.tables[name].columns)
    return f'SELECT {names} FROM "{name}"'


def add(source: Path, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(source)) as connection, connection:
        connection.execute(statement, values)


def add_row(source: Path, name: str, **given: object) -> None:
    """A row with the least that the table takes."""
    table = metadata.tables[name]
    for column in table.columns:
        if column.name not in given and not column.nullable and column.server_default is None:
            given[column.name] = "x" if column.type.python_type is str else 1
    names, marks = ", ".join(given), ", ".join("?" for _ in given)
    add(source, f"INSERT INTO {name} ({names}) VALUES ({marks})", *given.values())


class Values:
    """Values for columns, taken from what Hypothesis drew."""

    def __init__(self, seed: int, texts: list[str], numbers: list[int], reals: list[float], blobs: list[bytes]) -> None:
        self._random = random.Random(seed)
        self._texts, self._numbers, self._reals, self._blobs = texts, numbers, reals, blobs
        self._serial = 0

    def fill(self, connection: sqlite3.Connection) -> None:
        """Up to three rows in every table; those whose keys are taken are left out."""
        connection.execute("PRAGMA foreign_keys = ON")
        for table in metadata.sorted_tables:
            for _ in range(self._random.randint(0, 3)):
                row = [self._of(connection, column) for column in table.columns]
                names = ", ".join(sqlite_to_postgres.quoted(column.name) for column in table.columns)
                marks = ", ".join("?" for _ in row)
                connection.execute(f'INSERT OR IGNORE INTO "{table.name}" ({names}) VALUES ({marks})', row)

    def _of(self, connection: sqlite3.Connection, column: sa.Column[Any]) -> Any:
        choose = self._random.choice
        if column.nullable and choose((True, False)):
            return None
        if foreign := next(iter(column.foreign_keys), None):
            known = connection.execute(f'SELECT "{foreign.column.name}" FROM "{foreign.column.table.name}"').fetchall()
            return choose(known)[0] if known else None
        self._serial += 1
        if isinstance(column.type, sa.Boolean):
            return choose((0, 1))
        if isinstance(column.type, sa.LargeBinary):
            return choose(self._blobs)
        if isinstance(column.type, sa.Float):
            return choose(self._reals)
        kind = column.type.impl if isinstance(column.type, sa.types.TypeDecorator) else column.type
        if isinstance(kind, sa.BigInteger):
            return choose(self._numbers)
        if isinstance(kind, sa.Integer):
            return choose(self._numbers) % 2**31
        length = getattr(kind, "length", None)
        text = f"{self._serial}{choose(self._texts)}"
        return text if length is None else text[:length]


@settings(
    max_examples=settings().max_examples // 8,
    phases=[Phase.generate],  # each takes a second: nothing is made smaller
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    seed=st.integers(0, 2**32),
    texts=st.lists(TEXTS, min_size=1, max_size=5),
    numbers=st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=5),
    reals=st.lists(st.floats(allow_nan=False), min_size=1, max_size=3),
    blobs=st.lists(st.binary(max_size=300), min_size=1, max_size=3),
)
def test_any_rows_of_all_tables_are_the_same_in_postgresql(
    migrated_sqlite: Path,
    tmp_path: Path,
    empty_databases: EmptyDatabases,
    migrated_postgres: PostgresServer,
    seed: int,
    texts: list[str],
    numbers: list[int],
    reals: list[float],
    blobs: list[bytes],
) -> None:
    source = fresh(migrated_sqlite, tmp_path / "any.db")
    with closing(sqlite3.connect(source)) as connection, connection:
        Values(seed, texts, numbers, reals, blobs).fill(connection)
    before, name = rows_of_sqlite(source), empty_databases.take()
    try:
        tables = moved(source, migrated_postgres.url(name))
        assert rows_of_postgres(migrated_postgres.url(name)) == before
    finally:
        empty_databases.give_back(name)
    assert {table.name: table.rows for table in tables} == {table: len(rows) for table, rows in before.items()}
    assert all(table.sqlite == table.postgresql for table in tables)
    assert rows_of_sqlite(source) == before


def test_a_target_without_tables_gets_them(source: Path, postgres: PostgresServer, tmp_path: Path) -> None:
    add(source, "INSERT INTO meta VALUES ('deployment.id', 'dep_1')")
    _execute(postgres, "CREATE DATABASE without_tables")
    url = postgres.url("without_tables")
    tables = moved(source, url)
    assert {table.name for table in tables} == set(metadata.tables)
    assert (
        _execute(postgres, "SELECT value FROM meta WHERE key = 'deployment.id'", database="without_tables") == "dep_1"
    )


def test_numbers_that_postgresql_gives_go_on_behind_those_that_were_moved(
    source: Path, reused_postgres_url: str
) -> None:
    """The next entry of the search index must not find its number taken."""
    for table in ("users", "projects", "workspaces", "threads"):
        add_row(source, table, id="x")
    add_row(source, "search_entries", id=41)
    moved(source, reused_postgres_url)
    again = "INSERT INTO search_entries (thread_id, position, words) VALUES ('x', 2, 'w') RETURNING id"
    assert _execute_on(reused_postgres_url, again) == 42


@pytest.mark.parametrize(
    ("statement", "values", "reason"),
    [
        ("INSERT INTO meta VALUES ('k', ?)", ("a\x00b",), "column value of the table meta has a text with a NUL"),
        ("INSERT INTO meta VALUES (?, 'v')", ("k" * 41,), "too long"),
        ("INSERT INTO log VALUES ('run_1', ?, 2, 0, X'00', 3)", ("first",), r"cannot store a row \(table log\)"),
    ],
    ids=["NUL", "too long", "no number"],
)
def test_a_value_that_postgresql_cannot_store_is_named_and_nothing_is_copied(
    source: Path, reused_postgres_url: str, statement: str, values: tuple[object, ...], reason: str
) -> None:
    add(source, "INSERT INTO meta VALUES ('first', 'stays in SQLite')")
    add(source, statement, *values)
    with pytest.raises(DatabaseNotMoved, match=reason):
        moved(source, reused_postgres_url)
    assert not any(rows_of_postgres(reused_postgres_url).values())


def test_a_target_with_rows_is_refused_and_stays_as_it_is(source: Path, reused_postgres_url: str) -> None:
    add(source, "INSERT INTO meta VALUES ('deployment.id', 'dep_1')")
    moved(source, reused_postgres_url)
    before = rows_of_postgres(reused_postgres_url)
    with pytest.raises(DatabaseNotMoved, match="not empty: its table meta has rows") as refused:
        moved(source, reused_postgres_url)
    assert "set database.url" in (refused.value.hint or "")
    assert rows_of_postgres(reused_postgres_url) == before


def test_a_database_of_another_program_is_refused_and_gets_no_tables(source: Path, postgres: PostgresServer) -> None:
    _execute(postgres, "CREATE DATABASE of_another")
    _execute(postgres, "CREATE TABLE invoices (id int)", "SELECT 1", database="of_another")
    with pytest.raises(DatabaseNotMoved, match=r"another program \(invoices\)"):
        moved(source, postgres.url("of_another"))
    assert _execute(postgres, "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'", database="of_another") == 1


@pytest.fixture
def busy(reused_postgres_url: str) -> Iterator[Callable[[str], None]]:
    """Another process on the target, which runs a statement and keeps its transaction open."""
    loop = anyio.from_thread.start_blocking_portal()
    with loop as portal:
        connection = portal.call(asyncpg.connect, reused_postgres_url)

        def hold(statement: str) -> None:
            portal.call(connection.execute, "BEGIN")
            portal.call(connection.execute, statement)

        yield hold
        portal.call(connection.close)


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        (f"SELECT pg_advisory_xact_lock({MIGRATING})", "Another process"),
        ("INSERT INTO meta VALUES ('a', 'b')", "Another process uses the target"),
    ],
)
def test_a_target_that_another_process_uses_is_refused(
    source: Path,
    reused_postgres_url: str,
    busy: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
    statement: str,
    reason: str,
) -> None:
    monkeypatch.setitem(sqlite_to_postgres.UNLIMITED, "lock_timeout", "200")

    async def migrated(_database: object) -> None:
        """As if it had waited, and found the tables there."""

    monkeypatch.setattr(sqlite_to_postgres, "migrate", migrated)
    busy(statement)
    with pytest.raises(DatabaseNotMoved, match=reason):
        moved(source, reused_postgres_url)


def test_a_table_that_comes_back_changed_is_refused(
    source: Path, postgres_url: str, migrated_postgres: PostgresServer
) -> None:
    """A trigger of the target, for example, or a bug here."""
    add(source, "INSERT INTO meta VALUES ('k', 'v')")
    _execute(
        migrated_postgres,
        "CREATE FUNCTION louder() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.value := upper(NEW.value); "
        "RETURN NEW; END $$",
        "CREATE TRIGGER louder BEFORE INSERT ON meta FOR EACH ROW EXECUTE FUNCTION louder()",
        "SELECT 1",
        database=postgres_url.rsplit("/", 1)[1],
    )
    with pytest.raises(DatabaseNotMoved, match="table meta differs after copying: 1 rows"):
        moved(source, postgres_url)
    assert rows_of_postgres(postgres_url)["meta"] == []


def test_a_long_copy_says_how_far_it_is(
    source: Path, reused_postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_to_postgres, "PROGRESS_S", 0.0)
    said: list[tuple[str, str, int, int]] = []
    for number in range(3):
        add(source, "INSERT INTO meta VALUES (?, 'v')", f"k{number}")
    moved(source, reused_postgres_url, lambda *words: said.append(words))
    assert said == [(what, "meta", done, 3) for what in ("copying", "verifying") for done in (1, 2, 3)]


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("postgresql://outlast:hidden@127.0.0.1:1/outlast", "does not answer"),
        ("postgresql://outlast:hid/den@127.0.0.1:1/outlast", "address cannot be read"),
        ("{server}/no_such_database", "refuses: database .* does not exist"),
    ],
)
def test_a_target_that_cannot_be_opened_is_refused_without_its_password(
    source: Path, postgres: PostgresServer, target: str, reason: str
) -> None:
    with pytest.raises(DatabaseNotMoved, match=reason) as refused:
        moved(source, target.format(server=postgres.url("").rstrip("/")))
    assert "hid" not in f"{refused.value} {refused.value.hint}"


def test_a_server_of_this_version_takes_the_tables_as_they_are(source: Path, reused_postgres_url: str) -> None:
    moved(source, reused_postgres_url)
    assert _execute_on(reused_postgres_url, f"SELECT version_num FROM {VERSIONS.name}") == newest(source)


def newest(source: Path) -> str:
    with closing(sqlite3.connect(source)) as connection:
        return str(connection.execute(f"SELECT version_num FROM {VERSIONS.name}").fetchone()[0])


def _execute_on(url: str, statement: str) -> Any:
    async def run() -> Any:
        connection = await asyncpg.connect(url)
        try:
            return await connection.fetchval(statement)
        finally:
            await connection.close()

    return _in_a_thread(run)
