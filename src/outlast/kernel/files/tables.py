"""Files of projects."""

from typing import Any

import sqlalchemy as sa

from outlast.db.columns import blob, choice, count, metadata, moment, own_id, ref, text, word


def upload_columns() -> tuple[sa.Column[Any], ...]:
    """The columns of every uploaded file."""
    return (
        own_id(),
        ref("project_id", "projects", "whose members may open it", nullable=False, index=True),
        blob("blob", "SHA-256 of the content, its name in the blob store", nullable=False),
        text("name", "file name as uploaded", nullable=False),
        word("media_type", "found from the content, not from the name", nullable=False),
        sa.Column("size_bytes", sa.BigInteger, nullable=False, comment="of the content"),
    )


artifacts = sa.Table(
    "artifacts",
    metadata,
    *upload_columns(),
    choice("state", ["reading", "ready", "no_text", "failed"]),
    sa.Column("source_id", sa.String(40), comment="its text in the index of documentation; null: none"),
    sa.Column("text_blob", sa.String(64), comment="its text in the blob store; null: none"),
    sa.Column("pages", sa.Integer, comment="of a PDF; null: it has none"),
    count("characters", "of its text"),
    sa.Column("width", sa.Integer, comment="pixels; null: not an image"),
    sa.Column("height", sa.Integer, comment="pixels; null: not an image"),
    text("trouble", "why there is no text, for people; null: none"),
    moment("due_at", "its text is to be read from then on; null: it was", index=True),
    ref("created_by", "users", "who", nullable=False),
    moment("created_at", "when", nullable=False),
    sa.Index("ix_artifacts_user", "created_by", "created_at"),
)
