"""Images that were uploaded."""

import sqlalchemy as sa

from outlast.db.columns import blob, metadata, moment, own_id, ref, text, word

attachments = sa.Table(
    "attachments",
    metadata,
    own_id(),
    ref("project_id", "projects", "whose members may open it", nullable=False, index=True),
    blob("blob", "SHA-256 of the content, its name in the blob store", nullable=False),
    text("name", "file name as uploaded", nullable=False),
    word("media_type", "found from the content, not from the name", nullable=False),
    sa.Column("size_bytes", sa.BigInteger, nullable=False, comment="of the content"),
    sa.Column("width", sa.Integer, comment="pixels; null: not an image"),
    sa.Column("height", sa.Integer, comment="pixels; null: not an image"),
    ref("created_by", "users", "who", nullable=False),
    moment("created_at", "when", nullable=False),
    sa.Index("ix_attachments_user", "created_by", "created_at"),
)
