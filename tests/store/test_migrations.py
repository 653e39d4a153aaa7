"""Both roads give the same database: the migrations, and the tables as they are written down."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic.config import Config
from alembic.script import ScriptDirectory

import outlast
from outlast.base.clock import SystemClock
from outlast.base.errors import SchemaMismatch
from outlast.db.columns import metadata
from outlast.db.connect import (
    BASE,
    COMPATIBLE_FROM,
    MIGRATIONS,
    VERSIONS,
    migrate,
    oldest_beside,
    open_database,
    revisions,
)
from outlast.db.database import Database, Tx
from outlast.db.migrations.comparison import differences
from outlast.db.tables import meta

SOURCES = Path(outlast.__file__).parent
for path in sorted(SOURCES.rglob("*.py")):  # each room has tables of its own
    if "= sa.Table(" in path.read_text() and "migrations" not in path.parts:
        import_module(".".join(("outlast", *path.relative_to(SOURCES).with_suffix("").parts)))


def differences_from_written(tx: Tx) -> list[Any]:
    return differences(tx.conn, metadata)


async def test_the_migrations_make_the_tables_that_are_written_down(db: Database) -> None:
    assert await db.write(differences_from_written) == []


async def test_every_column_has_a_comment_also_in_postgresql(db: Database) -> None:
    def uncommented(tx: Tx) -> list[str]:
        inspector = sa.inspect(tx.conn)
        return [
            f"{table}.{column['name']}"
            for table in metadata.tables
            for column in inspector.get_columns(table)
            if not column.get("comment")
        ]

    assert [str(column) for table in metadata.tables.values() for column in table.columns if not column.comment] == []
    assert db.dialect == "sqlite" or await db.read(uncommented) == []


async def test_a_difference_would_be_seen(db: Database) -> None:
    """The comparison is not blind: a column that only the database has is found."""

    def with_one_more_column(tx: Tx) -> list[Any]:
        tx.execute(sa.text("ALTER TABLE threads ADD COLUMN surplus INTEGER"))
        return differences_from_written(tx)

    found = await db.write(with_one_more_column)
    assert [(entry[0], entry[3].name) for entry in found] == [("remove_column", "surplus")]


async def test_migrating_again_changes_nothing(db: Database) -> None:
    await migrate(db)
    assert await db.write(differences_from_written) == []


def test_files_of_migrations_are_named_by_their_revisions() -> None:
    """A start compares these names with the database's revision, and loads Alembic only where something is missing."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    walked = [script.revision for script in ScriptDirectory.from_config(config).walk_revisions()]
    assert revisions() == walked[::-1]


async def _as_if_updated(db: Database, revision: str, compatible_from: str | None) -> None:
    """As a newer version leaves the database: its revision, and the oldest one whose servers work on it."""

    def update(tx: Tx) -> None:
        tx.execute(sa.update(VERSIONS).values(version_num=revision))
        tx.execute(sa.delete(meta).where(meta.c.key == COMPATIBLE_FROM))
        if compatible_from is not None:
            tx.insert(meta, key=COMPATIBLE_FROM, value=compatible_from)

    await db.write(update)


async def test_a_database_that_a_newer_version_only_expanded_is_used(
    db: Database, caplog: pytest.LogCaptureFixture
) -> None:
    await _as_if_updated(db, "9999", revisions()[-1])
    await migrate(db)
    assert await db.read(lambda tx: tx.execute(sa.select(VERSIONS.c.version_num)).scalar()) == "9999"
    assert "a newer version has updated the database" in caplog.text


@pytest.mark.parametrize(
    ("revision", "oldest"), [("9999", "9998"), ("9999", None), ("abcd", "0001"), ("99999", "0001")]
)
async def test_a_database_on_which_this_version_does_not_work_is_refused(
    db: Database, revision: str, oldest: str | None
) -> None:
    await _as_if_updated(db, revision, oldest)
    with pytest.raises(SchemaMismatch, match=f"revision {revision}"):
        await migrate(db)


async def test_a_database_keeps_the_oldest_revision_whose_servers_work_on_it(tmp_path: Path) -> None:
    database = open_database("sqlite:///new.db", tmp_path, SystemClock())
    try:
        await migrate(database)
        noted = await database.read(lambda tx: tx.value(meta.c.value, {"key": COMPATIBLE_FROM}))
    finally:
        await database.aclose()
    assert noted == oldest_beside()
    assert BASE <= oldest_beside() <= revisions()[-1]
