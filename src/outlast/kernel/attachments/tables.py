"""Files that were uploaded for messages, uploads in progress, and the files of threads."""

import sqlalchemy as sa

from outlast.db.columns import blob, count, metadata, moment, own_id, ref, soft_ref, text
from outlast.kernel.files.tables import upload_columns

attachments = sa.Table(
    "attachments",
    metadata,
    *upload_columns(),
    sa.Column("width", sa.Integer, comment="pixels; null: not an image"),
    sa.Column("height", sa.Integer, comment="pixels; null: not an image"),
    text("about", "its kind, in words for people and models", nullable=False, server_default=""),
    text("beginning", "the first characters of its text, for models", nullable=False, server_default=""),
    ref("created_by", "users", "who", nullable=False),
    moment("created_at", "when", nullable=False),
    sa.Index("ix_attachments_user", "created_by", "created_at"),
)

uploads = sa.Table(
    "uploads",
    metadata,
    own_id("prefixed id, which the attachment gets"),
    ref("project_id", "projects", "where the attachment will be", nullable=False, index=True),
    text("name", "file name as sent", nullable=False),
    sa.Column("size_bytes", sa.BigInteger, nullable=False, comment="of the whole content"),
    count("received_bytes", "stored so far, from the beginning"),
    ref("created_by", "users", "who", nullable=False),
    moment("created_at", "when; unfinished ones are removed a day later", nullable=False, index=True),
    sa.Index("ix_uploads_user", "created_by", "created_at"),
)

upload_pieces = sa.Table(
    "upload_pieces",
    metadata,
    ref("upload_id", "uploads", "whose content it is part of", primary_key=True),
    sa.Column("start", sa.BigInteger, primary_key=True, comment="its first byte in the content"),
    blob("blob", "SHA-256 of the piece, its name in the blob store", nullable=False),
)

thread_files = sa.Table(
    "thread_files",
    metadata,
    ref("thread_id", "threads", "whose messages have the file", primary_key=True),
    sa.Column("name", sa.String(200), primary_key=True, comment="its name in the workspace's folder of uploads"),
    ref("attachment_id", "attachments", "the file", nullable=False, index=True),
    soft_ref("placed_in", "sandbox that it was written to last; null: none yet"),
)
