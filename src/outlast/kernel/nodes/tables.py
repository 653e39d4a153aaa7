"""Servers and workers of one database."""

import sqlalchemy as sa

from outlast.db.columns import choice, metadata, moment, own_id, word

KINDS = ("server", "worker")

nodes = sa.Table(
    "nodes",
    metadata,
    own_id("of the data directory"),
    choice("kind", KINDS),
    word("version", "of Outlast", nullable=False),
    sa.Column("host", sa.String(255), nullable=False, comment="name of its machine"),
    sa.Column("blobs", sa.String(80), nullable=False, comment="identity of its store of files"),
    word("sandbox", "provider of its sandboxes; empty: it has none", nullable=False),
    moment("started_at", "start of its process", nullable=False),
    moment("seen_at", "renewed several times in a lease", nullable=False),
    moment("left_at", "when it stopped cleanly; null: it did not"),
)
