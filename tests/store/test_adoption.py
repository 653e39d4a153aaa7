"""Databases that were made before the first release come to the baseline with every row they hold.

`old_revisions/*.sql` is what the thirteen migrations did to the tables, in order: the statements up to revision N make
a database at N.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from outlast.base.clock import SystemClock
from outlast.base.errors import SchemaMismatch
from outlast.db.columns import metadata
from outlast.db.connect import COMPATIBLE_FROM, VERSIONS, migrate, open_database, revisions
from outlast.db.database import Database, Tx
from outlast.db.migrations.adoption import EARLIER
from outlast.db.migrations.baseline import TABLES
from outlast.db.migrations.comparison import differences
from tests.databases import _execute

Rows = dict[str, list[dict[str, Any]]]

OLD = Path(__file__).with_name("old_revisions")
STAMP = "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY);"
AWKWARD = "it's «quoted»; --\n\u2028🙂"


def statements(kind: str, revision: str) -> str:
    """What makes the tables of `revision`, and says that they are."""
    parts = re.split(r"^-- revision (\d+)\n", (OLD / f"{kind}.sql").read_text(), flags=re.MULTILINE)
    wanted = [text for name, text in zip(parts[1::2], parts[2::2], strict=True) if name <= revision]
    return "\n".join([*wanted, STAMP, f"INSERT INTO alembic_version VALUES ('{revision}');"])


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def make_old(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[str], Database]]:
    """Makes a database as Outlast once made it, without rows."""
    made: list[str] = []
    server: Any = request.getfixturevalue("postgres") if request.param == "postgresql" else None

    def make(revision: str) -> Database:
        if request.param == "sqlite":
            with closing(sqlite3.connect(tmp_path / "old.db")) as connection:
                connection.executescript(statements("sqlite", revision))
            return open_database("sqlite:///old.db", tmp_path, SystemClock())
        made.append(f"old_{revision}_{tmp_path.name.lower()[-20:]}")
        _execute(server, f'CREATE DATABASE "{made[-1]}"')
        _execute(server, statements("postgresql", revision), "SELECT 1", database=made[-1])
        return open_database(server.url(made[-1]), tmp_path, SystemClock())

    yield make
    for name in made:
        _execute(server, f'DROP DATABASE "{name}" WITH (FORCE)')


def tables_of(tx: Tx) -> list[sa.Table]:
    """The tables that the database has, those that others refer to first."""
    found = sa.MetaData()
    found.reflect(tx.conn, only=lambda name, _: name in TABLES.tables)
    return found.sorted_tables


def value(column: sa.Column[Any], number: int) -> Any:
    """For a column that refers to nothing: another one for each number, except for a flag."""
    if isinstance(column.type, sa.Boolean):
        return False
    if isinstance(column.type, sa.LargeBinary):
        return bytes([0, 255, number])
    if isinstance(column.type, sa.Integer | sa.Float):
        return number
    length = getattr(column.type, "length", None) or 100
    return f"{column.name}{number}"[:length] if length < 40 else f"{number} {AWKWARD}"


def fill(tx: Tx) -> None:
    """Two rows in every table: the second one leaves out what may be left out."""
    for table in tables_of(tx):
        for number in (1, 2):
            row: dict[str, Any] = {}
            for column in table.columns:
                if foreign := next(iter(column.foreign_keys), None):
                    among = tx.conn.execute(sa.select(foreign.column).order_by(foreign.column)).scalars().all()
                    row[column.name] = next(iter(among[number - 1 :] or among), None)  # of its own table
                else:
                    row[column.name] = value(column, number)
                if number == 2 and column.nullable:
                    row[column.name] = None
            tx.conn.execute(table.insert().values(row))


def rows_of(tx: Tx) -> Rows:
    return {
        table.name: sorted((dict(row) for row in tx.conn.execute(sa.select(table)).mappings()), key=repr)
        for table in tables_of(tx)
    }


def add(tx: Tx, table: str, **columns: Any) -> None:
    tx.conn.execute(sa.insert(sa.table(table, *map(sa.column, columns))).values(columns))


def revision_of(tx: Tx) -> Any:
    return tx.conn.execute(sa.select(VERSIONS.c.version_num)).scalar()


@pytest.mark.parametrize("revision", EARLIER)
async def test_a_database_at_an_earlier_revision_comes_to_the_baseline_with_every_row(
    make_old: Callable[[str], Database], revision: str
) -> None:
    db = make_old(revision)
    try:
        await db.write(fill)
        before = await db.read(rows_of)
        assert {name for name, rows in before.items() if len(rows) != 2} == set()
        await migrate(db)
        after = await db.read(rows_of)
        assert await db.read(revision_of) == revisions()[-1]
        assert await db.write(lambda tx: differences(tx.conn, metadata)) == []
        await migrate(db)
    finally:
        await db.aclose()
    assert set(after) == set(TABLES.tables)
    expected_admin = {"is_admin"} if revision < "0009" else set()
    for name, rows in before.items():
        known = [row for row in after[name] if name != "meta" or row["key"] != COMPATIBLE_FROM]
        kept = [{column: row[column] for column in rows[0]} for row in known]
        assert sorted(kept, key=repr) == rows, name
        added = set(after[name][0]) - set(rows[0]) - expected_admin
        defaults = {(column, row[column]) for row in after[name] for column in added}
        assert {held for _, held in defaults} <= {None, 0, 1, 2, "", "run"}, defaults


@pytest.mark.parametrize("revision", ["0001", "0006"])
async def test_of_several_local_owners_the_oldest_stays_and_finds_the_work_of_the_others(
    make_old: Callable[[str], Database], revision: str
) -> None:
    """Servers that started together on an empty database made one each."""

    def two_owners(tx: Tx) -> None:
        add(tx, "users", id="usr_a", name="A", plan="pro", is_local=False, created_at=3)
        add(tx, "users", id="usr_b", name="B", plan="pro", is_local=True, created_at=2)
        add(tx, "users", id="usr_c", name="C", plan="pro", is_local=True, created_at=1)
        for user in ("usr_b", "usr_c"):
            add(tx, "projects", id=f"prj_{user}", name="P", default_for=user, created_at=1, updated_at=1)
            add(tx, "members", project_id=f"prj_{user}", user_id=user, role="owner", created_at=1)

    def standing(tx: Tx) -> Any:
        users = tx.conn.execute(sa.text("SELECT id, is_local, is_admin FROM users ORDER BY id")).all()
        joined = tx.conn.execute(sa.text("SELECT project_id, user_id FROM members ORDER BY 1, 2")).all()
        return [(user, bool(local), bool(admin)) for user, local, admin in users], [tuple(row) for row in joined]

    db = make_old(revision)
    try:
        await db.write(two_owners)
        await migrate(db)
        users, joined = await db.read(standing)
    finally:
        await db.aclose()
    assert users == [("usr_a", False, True), ("usr_b", False, False), ("usr_c", True, True)]
    assert joined == [("prj_usr_b", "usr_b"), ("prj_usr_b", "usr_c"), ("prj_usr_c", "usr_c")]


async def test_the_next_message_of_an_old_conversation_goes_behind_those_that_it_has(
    make_old: Callable[[str], Database],
) -> None:
    db = make_old("0011")
    try:
        await db.write(fill)
        await db.write(lambda tx: tx.conn.execute(sa.text("UPDATE threads SET message_count = 7")))
        await migrate(db)
        rows = await db.read(rows_of)
    finally:
        await db.aclose()
    assert {thread["last_position"] for thread in rows["threads"]} == {7}


async def test_words_of_a_database_without_a_search_index_are_found(make_old: Callable[[str], Database]) -> None:
    db = make_old("0001")
    with_needle = sa.text("UPDATE search_entries SET words = 'hay needle' WHERE id = 1")

    def found(tx: Tx) -> int:
        if tx.conn.dialect.name == "sqlite":
            query = "SELECT count(*) FROM search_words WHERE search_words MATCH 'needle'"
        else:
            query = (
                "SELECT count(*) FROM search_entries WHERE array_to_tsvector(string_to_array(words, ' ')) @@ 'needle'"
            )
        return tx.conn.execute(sa.text(query)).scalar_one()

    try:
        await db.write(fill)
        await db.write(lambda tx: tx.conn.execute(with_needle))
        await migrate(db)
        assert await db.read(found) == 1
    finally:
        await db.aclose()


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ("ALTER TABLE threads ADD COLUMN surplus INTEGER", "surplus"),
        ("CREATE UNIQUE INDEX one_name ON users (name)", "one_name"),
        (
            "DROP INDEX ix_threads_workspace_id; CREATE INDEX ix_threads_workspace_id ON threads (id)",
            "ix_threads_workspace_id",
        ),
    ],
)
async def test_a_database_whose_tables_were_changed_by_hand_is_refused_and_stays_as_it_was(
    make_old: Callable[[str], Database], change: str, named: str
) -> None:
    def alter(tx: Tx) -> None:
        for statement in change.split(";"):
            tx.conn.execute(sa.text(statement))

    db = make_old("0005")
    try:
        await db.write(fill)
        await db.write(alter)
        before = await db.read(rows_of)
        with pytest.raises(SchemaMismatch, match=f"revision 0005.*{named}"):
            await migrate(db)
        assert await db.read(revision_of) == "0005"
        assert await db.read(rows_of) == before
    finally:
        await db.aclose()


async def test_an_index_that_an_operator_added_is_no_reason_to_refuse(make_old: Callable[[str], Database]) -> None:
    db = make_old("0012")
    try:
        await db.write(lambda tx: tx.conn.execute(sa.text("CREATE INDEX quicker ON users (name)")))
        await migrate(db)
        assert await db.read(revision_of) == revisions()[-1]
    finally:
        await db.aclose()


@pytest.mark.parametrize("revision", ["0000", "00", "9999", "e3f1", "0014x"])
async def test_a_database_at_an_unknown_revision_is_refused(make_old: Callable[[str], Database], revision: str) -> None:
    db = make_old("0013")
    try:
        await db.write(lambda tx: tx.conn.execute(sa.update(VERSIONS).values(version_num=revision)))
        with pytest.raises(SchemaMismatch, match=f"revision {revision}, which this version"):
            await migrate(db)
    finally:
        await db.aclose()
