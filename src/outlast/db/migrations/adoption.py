"""Adopts databases from before the first release, at one of thirteen revisions that the baseline replaced."""

import sqlalchemy as sa
from alembic.migration import MigrationContext
from alembic.operations import Operations

from outlast.base.errors import SchemaMismatch
from outlast.db.migrations.baseline import TABLES, create_search_index
from outlast.db.migrations.comparison import differences

BASELINE = "0014"
EARLIER = tuple(f"{number:04d}" for number in range(1, 14))


def adopt(conn: sa.Connection, revision: str) -> None:
    """Bring a database at one of the `EARLIER` revisions to the baseline. Every row stays. Raises `SchemaMismatch` if
    its tables then differ from the baseline; the caller must roll the transaction back."""
    _add_tables_and_columns(conn)
    _carry_rows(conn, revision)
    _add_indexes(conn, revision)
    _update_comments(conn)
    if found := differences(conn, TABLES):
        raise SchemaMismatch(
            f"The database is at revision {revision}, but its tables are not those of that revision: {found[0]}.",
            hint="Its tables were changed by hand. Restore a backup, or undo the change.",
            revision=revision,
        )
    conn.execute(sa.text("UPDATE alembic_version SET version_num = :baseline"), {"baseline": BASELINE})


def _add_tables_and_columns(conn: sa.Connection) -> None:
    operations = Operations(MigrationContext.configure(conn))
    stored = {name: columns for (_, name), columns in sa.inspect(conn).get_multi_columns().items()}
    TABLES.create_all(conn)
    for table in TABLES.sorted_tables:
        if table.name in stored:
            names = {column["name"] for column in stored[table.name]}
            for column in table.columns:
                if column.name not in names:
                    operations.add_column(table.name, column._copy())


def _carry_rows(conn: sa.Connection, revision: str) -> None:
    """Change rows as the migrations between `revision` and the baseline did."""
    if revision < "0007":
        _merge_local_owners(conn)
    if revision < "0009":
        users = TABLES.tables["users"]
        first = sa.select(sa.func.min(users.c.id)).scalar_subquery()
        conn.execute(sa.update(users).where(users.c.is_local | (users.c.id == first)).values(is_admin=True))
    if revision < "0012":
        threads = TABLES.tables["threads"]
        conn.execute(sa.update(threads).values(last_position=threads.c.message_count))


def _merge_local_owners(conn: sa.Connection) -> None:
    """Two servers that started together on an empty database each created an owner. The oldest stays and becomes a
    member of every project that the others belong to, with their role."""
    users, members = TABLES.tables["users"], TABLES.tables["members"]
    by_age = sa.select(users.c.id).where(users.c.is_local).order_by(users.c.created_at, users.c.id)
    oldest, *others = conn.execute(by_age).scalars().all() or [None]
    for other in others:
        joined = sa.select(members.c.project_id).where(members.c.user_id == oldest)
        missing = sa.select(members.c.project_id, sa.literal(oldest), members.c.role, members.c.created_at).where(
            members.c.user_id == other, members.c.project_id.not_in(joined)
        )
        conn.execute(sa.insert(members).from_select(["project_id", "user_id", "role", "created_at"], missing))
        conn.execute(sa.update(users).where(users.c.id == other).values(is_local=False))


def _add_indexes(conn: sa.Connection, revision: str) -> None:
    for table in TABLES.sorted_tables:
        for index in table.indexes:
            index.create(conn, checkfirst=True)
    if revision < "0002":
        create_search_index(conn)


def _update_comments(conn: sa.Connection) -> None:
    """Update the comments of tables and columns on PostgreSQL; SQLite has none."""
    if conn.dialect.name == "postgresql":
        for table in TABLES.sorted_tables:
            for column in table.columns:
                conn.execute(sa.schema.SetColumnComment(column))
