"""The log of every stream."""

import sqlalchemy as sa

from outlast.db.columns import flag, metadata, moment

log = sa.Table(
    "log",
    metadata,
    sa.Column("stream_id", sa.String(40), primary_key=True, comment="a run's, thread's or project's id"),
    sa.Column("first_seq", sa.BigInteger, primary_key=True, comment="number of the block's first event"),
    sa.Column("last_seq", sa.BigInteger, nullable=False, comment="number of the block's last event"),
    flag("folded", "deltas were folded into part.snapshot"),
    sa.Column("body", sa.LargeBinary, nullable=False, comment="events as JSON lines, in order"),
    moment("saved_at", "when", nullable=False),
)
