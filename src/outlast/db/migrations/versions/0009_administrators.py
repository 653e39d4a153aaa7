"""Users may be administrators of the server: the local owner and the first user are.

Runs: before deploy
"""

import sqlalchemy as sa

from alembic import op

revision = "0009"
down_revision = "0008"

users = sa.table(
    "users", sa.column("id"), sa.column("is_local", sa.Boolean), sa.column("is_admin", sa.Boolean)
)


def upgrade() -> None:
    op.add_column(
        "users",
        sa.Column(
            "is_admin", sa.Boolean(), server_default=sa.false(), nullable=False, comment="may run the server"
        ),
    )
    first = sa.select(sa.func.min(users.c.id)).scalar_subquery()
    chosen = sa.or_(users.c.is_local, users.c.id == first)
    op.get_bind().execute(sa.update(users).where(chosen).values(is_admin=True))
