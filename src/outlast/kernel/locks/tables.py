"""The drivers of threads and the holders of sections."""

import sqlalchemy as sa

from outlast.db.columns import metadata, moment, ref

locks = sa.Table(
    "locks",
    metadata,
    sa.Column("resource_type", sa.String(10), primary_key=True, comment="thread | section"),
    sa.Column("resource_id", sa.String(40), primary_key=True, comment="which"),
    ref("project_id", "projects", "in", nullable=False, index=True),
    ref("holder_id", "users", "who drives", nullable=False),
    moment("acquired_at", "since", nullable=False),
    moment("expires_at", "from then on any editor may take over", nullable=False),
    ref("requested_by", "users", "the user who asked for a hand-over; null if none did"),
    moment("requested_at", "time of the request"),
)
