"""One local owner: two servers that started together on an empty database each made one.

The oldest stays and becomes a member of every project that the others belong to, with their role.

Runs: before deploy
"""

import sqlalchemy as sa

from alembic import op

revision = "0007"
down_revision = "0006"

users = sa.table("users", sa.column("id"), sa.column("is_local", sa.Boolean), sa.column("created_at"))
members = sa.table(
    "members", sa.column("project_id"), sa.column("user_id"), sa.column("role"), sa.column("created_at")
)


def merge_local_owners(conn: sa.Connection) -> None:
    owners = (
        conn.execute(sa.select(users.c.id).where(users.c.is_local).order_by(users.c.created_at, users.c.id))
        .scalars()
        .all()
    )
    for extra in owners[1:]:
        _join_projects(conn, owners[0], extra)
        conn.execute(sa.update(users).where(users.c.id == extra).values(is_local=False))


def upgrade() -> None:
    merge_local_owners(op.get_bind())
    op.create_index(
        "uq_users_one_local",
        "users",
        ["is_local"],
        unique=True,
        sqlite_where=sa.text("is_local"),
        postgresql_where=sa.text("is_local"),
    )


def _join_projects(conn: sa.Connection, oldest: str, extra: str) -> None:
    joined = sa.select(members.c.project_id).where(members.c.user_id == oldest)
    missing = sa.select(members.c.project_id, sa.literal(oldest), members.c.role, members.c.created_at).where(
        members.c.user_id == extra, members.c.project_id.not_in(joined)
    )
    conn.execute(sa.insert(members).from_select(["project_id", "user_id", "role", "created_at"], missing))
