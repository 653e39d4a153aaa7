"""Keep summaries of the oldest messages of threads, which their agents read instead.

Runs: before deploy
"""

import sqlalchemy as sa
from alembic import op

from outlast.db.columns import UtcTime

revision = "0021"
down_revision = "0018"


def upgrade() -> None:
    op.create_table(
        "compactions",
        sa.Column("id", sa.String(40), nullable=False, comment="prefixed id"),
        sa.Column("thread_id", sa.String(40), nullable=False, comment="of"),
        sa.Column("to_position", sa.Integer, nullable=False, comment="the last user message that it covers"),
        sa.Column("last_position", sa.Integer, nullable=False, comment="the last message that it covers, with answers"),
        sa.Column("text", sa.Text, nullable=False, comment="the summary"),
        sa.Column("run_id", sa.String(40), comment="the run that made it"),
        sa.Column("model", sa.Text, nullable=False, comment="model id of the run"),
        sa.Column(
            "input_tokens", sa.BigInteger, nullable=False, server_default="0", comment="of the model turn that made it"
        ),
        sa.Column(
            "output_tokens", sa.BigInteger, nullable=False, server_default="0", comment="of the model turn that made it"
        ),
        sa.Column("created_at", UtcTime, nullable=False, comment="when"),
        sa.Column("undone_at", UtcTime, comment="not used any more; null: in use"),
        sa.Column("undone_by", sa.String(40), comment="the user who undid it"),
        sa.PrimaryKeyConstraint("id", name="pk_compactions"),
        sa.ForeignKeyConstraint(["thread_id"], ["threads.id"], name="fk_compactions_thread_id", ondelete="CASCADE"),
    )
    op.create_index("ix_compactions_thread", "compactions", ["thread_id", "to_position"])
    if op.get_bind().dialect.name == "postgresql":  # SQLite keeps no comments
        op.execute(
            "COMMENT ON COLUMN effects.kind IS 'model | tool | prepare | check | flow | ask | compaction | message'"
        )
