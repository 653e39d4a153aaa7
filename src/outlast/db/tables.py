"""Facts about the database itself."""

import sqlalchemy as sa

from outlast.db.columns import metadata, text

meta = sa.Table(
    "meta",
    metadata,
    sa.Column("key", sa.String(40), primary_key=True, comment="name"),
    text("value", "value", nullable=False),
)
