"""Keep summaries of the oldest messages of threads, which their agents read instead.

Runs: before deploy
"""

import sqlalchemy as sa
from alembic import op

from outlast.db.columns import UtcTime

revision = "0021"
down_revision = "0015"


def upgrade() -> None:
    op.create_table(
        "compactions",
        sa.Column("id", sa.String(40), nullable=False),
        sa.Column("thread_id", sa.String(40), nullable=False),
        sa.Column("to_position", sa.Integer, nullable=False),
        sa.Column("last_position", sa.Integer, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("run_id", sa.String(40)),
        sa.Column("model", sa.Text, nullable=False),
        sa.Column("input_tokens", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("output_tokens", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("created_at", UtcTime, nullable=False),
        sa.Column("undone_at", UtcTime),
        sa.Column("undone_by", sa.String(40)),
        sa.PrimaryKeyConstraint("id", name="pk_compactions"),
        sa.ForeignKeyConstraint(["thread_id"], ["threads.id"], name="fk_compactions_thread_id", ondelete="CASCADE"),
    )
    op.create_index("ix_compactions_thread", "compactions", ["thread_id", "to_position"])
