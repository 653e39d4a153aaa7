"""Images that were uploaded."""

import sqlalchemy as sa

from outlast.db.columns import metadata, moment, ref
from outlast.kernel.files.tables import upload_columns

attachments = sa.Table(
    "attachments",
    metadata,
    *upload_columns(),
    sa.Column("width", sa.Integer, comment="pixels; null: not an image"),
    sa.Column("height", sa.Integer, comment="pixels; null: not an image"),
    ref("created_by", "users", "who", nullable=False),
    moment("created_at", "when", nullable=False),
    sa.Index("ix_attachments_user", "created_by", "created_at"),
)
