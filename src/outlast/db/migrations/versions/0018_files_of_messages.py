"""Attach files of any kind to messages, uploaded in pieces.

Runs: before deploy
"""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    def ref(name: str, target: str, comment: str, *, key: bool = False) -> sa.Column[str]:
        foreign = sa.ForeignKey(f"{target}.id", ondelete="CASCADE")
        return sa.Column(name, sa.String(40), foreign, comment=comment, nullable=False, primary_key=key)

    with op.batch_alter_table("attachments") as table:
        about = "its kind, in words for people and models"
        beginning = "the first characters of its text, for models"
        table.add_column(sa.Column("about", sa.Text, nullable=False, server_default="", comment=about))
        table.add_column(sa.Column("beginning", sa.Text, nullable=False, server_default="", comment=beginning))
    op.create_table(
        "uploads",
        sa.Column("id", sa.String(40), primary_key=True, comment="prefixed id, which the attachment gets"),
        ref("project_id", "projects", "where the attachment will be"),
        sa.Column("name", sa.Text, nullable=False, comment="file name as sent"),
        sa.Column("size_bytes", sa.BigInteger, nullable=False, comment="of the whole content"),
        sa.Column(
            "received_bytes",
            sa.BigInteger,
            nullable=False,
            server_default="0",
            comment="stored so far, from the beginning",
        ),
        ref("created_by", "users", "who"),
        sa.Column("created_at", sa.BigInteger, nullable=False, comment="when; unfinished ones are removed a day later"),
    )
    op.create_index("ix_uploads_project_id", "uploads", ["project_id"])
    op.create_index("ix_uploads_created_at", "uploads", ["created_at"])
    op.create_index("ix_uploads_user", "uploads", ["created_by", "created_at"])
    op.create_table(
        "upload_pieces",
        ref("upload_id", "uploads", "whose content it is part of", key=True),
        sa.Column("start", sa.BigInteger, primary_key=True, comment="its first byte in the content"),
        sa.Column("blob", sa.String(64), nullable=False, comment="SHA-256 of the piece, its name in the blob store"),
    )
    op.create_table(
        "thread_files",
        ref("thread_id", "threads", "whose messages have the file", key=True),
        sa.Column("name", sa.String(200), primary_key=True, comment="its name in the workspace's folder of uploads"),
        ref("attachment_id", "attachments", "the file"),
        sa.Column("placed_in", sa.String(40), comment="sandbox that it was written to last; null: none yet"),
    )
    op.create_index("ix_thread_files_attachment_id", "thread_files", ["attachment_id"])
