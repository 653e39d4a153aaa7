"""Both roads give the same database: the migrations, and the tables as they are written down."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

import outlast
from outlast.base.clock import SystemClock
from outlast.base.errors import SchemaMismatch
from outlast.db.columns import metadata
from outlast.db.connect import MIGRATIONS, VERSIONS, migrate, open_database, revisions
from outlast.db.database import Database, Tx
from outlast.kernel.accounts.store import add_user, local_owner
from outlast.kernel.projects.store import ensure_default_project
from outlast.kernel.projects.tables import members

SOURCES = Path(outlast.__file__).parent
for path in sorted(SOURCES.rglob("*.py")):  # each room has tables of its own
    if "= sa.Table(" in path.read_text() and "versions" not in path.parts:
        import_module(".".join(("outlast", *path.relative_to(SOURCES).with_suffix("").parts)))

merge_local_owners = import_module("outlast.db.migrations.versions.0007_one_local_owner").merge_local_owners

# The word index is made by hand, differently on each database (0002_search.py): it is derived, and no table names it.
BY_HAND = ("search_words", "ix_search_entries_words")


def is_ours(_object: Any, name: str | None, kind: str, reflected: bool, _twin: Any) -> bool:
    return not (reflected and kind in {"table", "index"} and (name or "").startswith(BY_HAND))


def default_differs(context: Any, *compared: Any) -> bool | None:
    """SQLite gives a default back as it was written, so quotes alone are no difference; PostgreSQL is asked (None)."""
    if context.dialect.name != "sqlite":
        return None
    _stored_column, _written_column, stored, _written, rendered = compared
    return str(stored or "").strip("'()") != str(rendered or "").strip("'()")


def differences(tx: Tx) -> list[Any]:
    options = {"compare_type": True, "compare_server_default": default_differs, "include_object": is_ours}
    return list(compare_metadata(MigrationContext.configure(tx.conn, opts=options), metadata))


async def test_the_migrations_make_the_tables_that_are_written_down(db: Database) -> None:
    assert await db.write(differences) == []


async def test_every_column_has_a_comment_also_in_postgresql(db: Database) -> None:
    def uncommented(tx: Tx) -> list[str]:
        inspector = sa.inspect(tx.conn)
        return [
            f"{table}.{column['name']}"
            for table in metadata.tables
            for column in inspector.get_columns(table)
            if not column.get("comment")
        ]

    assert [
        str(column) for table in metadata.tables.values() for column in table.columns if not column.comment
    ] == []
    assert db.dialect == "sqlite" or await db.read(uncommented) == []


async def test_a_difference_would_be_seen(db: Database) -> None:
    """The comparison is not blind: a column that only the database has is found."""

    def with_one_more_column(tx: Tx) -> list[Any]:
        tx.execute(sa.text("ALTER TABLE threads ADD COLUMN surplus INTEGER"))
        return differences(tx)

    found = await db.write(with_one_more_column)
    assert [(entry[0], entry[3].name) for entry in found] == [("remove_column", "surplus")]


async def test_migrating_again_changes_nothing(db: Database) -> None:
    await migrate(db)
    assert await db.write(differences) == []


def test_files_of_migrations_are_named_by_their_revisions() -> None:
    """A start compares these names with the database's revision, and loads Alembic only where something is missing."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    walked = [script.revision for script in ScriptDirectory.from_config(config).walk_revisions()]
    assert revisions() == walked[::-1]


async def test_a_database_of_a_newer_version_is_refused(db: Database) -> None:
    await db.write(lambda tx: tx.execute(sa.update(VERSIONS).values(version_num="9999")))
    with pytest.raises(SchemaMismatch, match="revision 9999"):
        await migrate(db)


async def test_of_several_local_owners_the_oldest_stays_and_finds_the_work_of_the_others(
    database_url: str, tmp_path: Path
) -> None:
    """Servers that started together on an empty database made one each."""
    db = open_database(database_url, tmp_path, SystemClock())

    def without_index(tx: Tx) -> None:
        tx.execute(sa.text("DROP INDEX uq_users_one_local"))

    def twice(tx: Tx) -> tuple[str, str, str]:
        oldest = add_user(tx, "Owner", "unlimited", is_local=True)
        extra = add_user(tx, "Owner", "unlimited", is_local=True)
        project_id = ensure_default_project(tx, extra)
        merge_local_owners(tx.conn)
        return oldest, extra, project_id

    def role(tx: Tx, user_id: str, project_id: str) -> Any:
        mine = sa.and_(members.c.project_id == project_id, members.c.user_id == user_id)
        return tx.execute(sa.select(members.c.role).where(mine)).scalar()

    try:
        await db.write(without_index)
        oldest, extra, project_id = await db.write(twice)
        assert await db.read(role, oldest, project_id) == "owner"
        assert await db.read(role, extra, project_id) == "owner"
        assert (await db.read(local_owner))["id"] == oldest  # type: ignore[index]  # there is one
    finally:
        await db.aclose()
