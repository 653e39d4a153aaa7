"""Keep the states of threads, and the steps of functions that read and write them.

Runs: before deploy
"""

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"


def upgrade() -> None:
    op.create_table(
        "thread_states",
        sa.Column("thread_id", sa.String(40), nullable=False, comment="of"),
        sa.Column(
            "content", sa.Text, nullable=False, comment="what its agents keep there: an object of at most 64 KiB"
        ),
        sa.Column("revision", sa.BigInteger, nullable=False, server_default="0", comment="raised at each change"),
        sa.PrimaryKeyConstraint("thread_id", name="pk_thread_states"),
        sa.ForeignKeyConstraint(["thread_id"], ["threads.id"], name="fk_thread_states_thread_id", ondelete="CASCADE"),
    )
    if op.get_bind().dialect.name == "postgresql":  # SQLite keeps no comments
        op.execute("COMMENT ON COLUMN function_steps.kind IS 'step | run | ask | sleep | state | sandbox | file'")
