"""Keep the servers and workers of the database.

Runs: before deploy
"""

import sqlalchemy as sa
from alembic import op

from outlast.db.columns import UtcTime

revision = "0037"
down_revision = "0036"


def upgrade() -> None:
    op.create_table(
        "nodes",
        sa.Column("id", sa.String(40), nullable=False, comment="of the data directory"),
        sa.Column("kind", sa.String(80), nullable=False, comment="server | worker"),
        sa.Column("version", sa.String(80), nullable=False, comment="of Outlast"),
        sa.Column("host", sa.String(255), nullable=False, comment="name of its machine"),
        sa.Column("blobs", sa.String(80), nullable=False, comment="identity of its store of files"),
        sa.Column("sandbox", sa.String(80), nullable=False, comment="provider of its sandboxes; empty: it has none"),
        sa.Column("started_at", UtcTime, nullable=False, comment="start of its process"),
        sa.Column("seen_at", UtcTime, nullable=False, comment="renewed several times in a lease"),
        sa.Column("left_at", UtcTime, comment="when it stopped cleanly; null: it did not"),
        sa.PrimaryKeyConstraint("id", name="pk_nodes"),
    )
