"""Blobs in a bucket: those in a folder have no rows."""

import sqlalchemy as sa

from outlast.db.columns import count, metadata, moment

blobs = sa.Table(
    "blobs",
    metadata,
    sa.Column("name", sa.String(64), primary_key=True, comment="SHA-256 of its content, in hex"),
    sa.Column("place", sa.String(40), nullable=False, comment="end of its object's key, never used twice"),
    count("size_bytes", "size of the content"),
    moment("used_at", "when it was last stored or kept", nullable=False, index=True),
)
