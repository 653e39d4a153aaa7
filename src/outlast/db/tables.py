"""Facts about the database itself, by name."""

import sqlalchemy as sa

from outlast.db.columns import metadata, text
from outlast.db.database import Tx

meta = sa.Table(
    "meta",
    metadata,
    sa.Column("key", sa.String(40), primary_key=True, comment="name"),
    text("value", "value", nullable=False),
)


def put_fact(tx: Tx, key: str, value: str) -> None:
    """Add or replace a fact."""
    words = "insert into meta (key, value) values (:key, :value) on conflict (key) do update set value = :value"
    tx.execute(sa.text(words), {"key": key, "value": value})
