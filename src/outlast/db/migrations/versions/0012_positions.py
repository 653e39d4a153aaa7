"""Messages that waited in a queue move behind the answers that were made meanwhile.

Runs: before deploy
"""

import sqlalchemy as sa

from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    op.add_column(
        "threads",
        sa.Column(
            "last_position",
            sa.BigInteger(),
            server_default="0",
            nullable=False,
            comment="the last position given to a message; one that moved behind others left its own",
        ),
    )
    op.execute("UPDATE threads SET last_position = message_count")
    if op.get_bind().dialect.name == "postgresql":  # SQLite keeps no comments
        op.alter_column(
            "threads",
            "message_count",
            comment="messages in it",
            existing_type=sa.BigInteger(),
            existing_nullable=False,
            existing_server_default="0",
        )
