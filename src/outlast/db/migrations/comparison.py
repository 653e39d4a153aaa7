"""Differences between the tables of a database and their definitions."""

from typing import Any

import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext


def differences(conn: sa.Connection, written: sa.MetaData) -> list[Any]:
    """Alembic's entries for each difference in tables, columns, types, defaults, comments, foreign keys and indexes;
    empty if the database has the `written` tables. Additional tables, and indexes that only make a query faster, are
    ignored."""

    def counts(item: Any, name: str | None, kind: str, reflected: bool, twin: Any) -> bool:
        if not reflected or twin is not None:
            return True
        return name in written.tables if kind == "table" else kind != "index" or item.unique

    for table in written.tables.values():  # see `partial_index`
        for index in (index for index in table.indexes if "where" in index.info):
            index.dialect_options["postgresql"]["where"] = index.info["where"]
    options = {"compare_type": True, "compare_server_default": default_differs, "include_object": counts}
    return [*compare_metadata(MigrationContext.configure(conn, opts=options), written), *_keys(conn, written)]


def default_differs(context: Any, *compared: Any) -> bool | None:
    """SQLite returns a default as it was written, so quotes are ignored; None lets Alembic ask PostgreSQL."""
    if context.dialect.name != "sqlite":
        return None
    _stored_column, _written_column, stored, _written, rendered = compared
    return str(stored or "").strip("'()") != str(rendered or "").strip("'()")


def _keys(conn: sa.Connection, written: sa.MetaData) -> list[Any]:
    """Differences in primary keys, which Alembic does not compare."""
    stored = {
        name: keys["constrained_columns"] for (_, name), keys in sa.inspect(conn).get_multi_pk_constraint().items()
    }
    return [
        ("primary_key", name, stored[name])
        for name, table in written.tables.items()
        if name in stored and set(stored[name]) != {column.name for column in table.primary_key}
    ]
