"""Memories of projects and people beside the lines of runs, and where memory is off.

Runs: before deploy
"""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    with op.batch_alter_table("memories") as memories:
        memories.alter_column("project_id", existing_type=sa.String(40), comment="in which it was written")
        # Servers of the version before write lines of runs only.
        memories.add_column(
            sa.Column("scope", sa.String(10), nullable=False, server_default="run", comment="run | project | person")
        )
        memories.add_column(sa.Column("user_id", sa.String(40), comment="of a person's: whose; else null"))
        memories.alter_column(
            "thread_id", existing_type=sa.String(40), nullable=True, comment="of a run's: whose runs; else null"
        )
        memories.alter_column(
            "run_id",
            existing_type=sa.String(40),
            nullable=True,
            comment="of a run's: of which it is the summary; else null",
        )
        memories.add_column(
            sa.Column(
                "from_thread_id",
                sa.String(40),
                comment="in which an agent remembered it; null: written by hand, or of a run",
            )
        )
        memories.add_column(
            sa.Column("created_by", sa.String(40), comment="for whom it was written, or who wrote it; null: not known")
        )
        memories.alter_column(
            "summary", existing_type=sa.Text, comment="one line; of a run: what was asked → what was done"
        )
        memories.add_column(sa.Column("updated_at", sa.BigInteger, comment="last edited by a person; null: never"))
        memories.create_foreign_key("fk_memories_user_id", "users", ["user_id"], ["id"], ondelete="CASCADE")
        memories.create_foreign_key("fk_memories_created_by", "users", ["created_by"], ["id"], ondelete="SET NULL")
        memories.create_index("ix_memories_scope", ["project_id", "scope", "id"])
        memories.create_index("ix_memories_person", ["user_id", "id"])
    _switch("projects_without_memory", "project_id", "projects", "where memory is off")
    _switch("users_without_memory", "user_id", "users", "who turned memory off for their runs")


def _switch(table: str, key: str, target: str, comment: str) -> None:
    op.create_table(
        table,
        sa.Column(
            key,
            sa.String(40),
            sa.ForeignKey(f"{target}.id", ondelete="CASCADE"),
            primary_key=True,
            nullable=False,
            comment=comment,
        ),
        sa.Column("created_at", sa.BigInteger, nullable=False, comment="since"),
    )
