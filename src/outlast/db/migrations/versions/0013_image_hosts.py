"""hosts of other sites' pictures in screens; indexes for what one user made within the last minute

Runs: before deploy
"""

import sqlalchemy as sa

from alembic import op

from outlast.db.types import UtcTime

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    op.create_table(
        "screen_image_hosts",
        sa.Column("screen_id", sa.String(length=40), nullable=False, comment="of"),
        sa.Column(
            "host",
            sa.String(length=300),
            nullable=False,
            comment="whose pictures it wants to load: HOST or HOST:PORT",
        ),
        sa.Column(
            "asked_at",
            UtcTime(),
            nullable=False,
            comment="when a browser first blocked one, or somebody named the host",
        ),
        sa.Column("allowed_by", sa.String(length=40), nullable=True, comment="null: blocked"),
        sa.Column("allowed_at", UtcTime(), nullable=True, comment="null: blocked"),
        sa.ForeignKeyConstraint(
            ["allowed_by"], ["users.id"], name=op.f("fk_screen_image_hosts_allowed_by"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["screen_id"], ["screens.id"], name=op.f("fk_screen_image_hosts_screen_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("screen_id", "host", name=op.f("pk_screen_image_hosts")),
    )
    op.create_index("ix_messages_sender", "messages", ["sender_id", "created_at"], unique=False)
    op.create_index("ix_threads_user", "threads", ["created_by", "created_at"], unique=False)
    op.create_index("ix_attachments_user", "attachments", ["created_by", "created_at"], unique=False)
