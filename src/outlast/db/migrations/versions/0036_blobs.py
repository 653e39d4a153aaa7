"""Keep for each blob in a bucket where it lies and when it was last used.

Runs: before deploy
"""

import sqlalchemy as sa
from alembic import op

from outlast.db.columns import UtcTime

revision = "0036"
down_revision = "0035"


def upgrade() -> None:
    op.create_table(
        "blobs",
        sa.Column("name", sa.String(64), nullable=False, comment="SHA-256 of its content, in hex"),
        sa.Column("place", sa.String(40), nullable=False, comment="end of its object's key, never used twice"),
        sa.Column("size_bytes", sa.BigInteger, nullable=False, server_default="0", comment="size of the content"),
        sa.Column("used_at", UtcTime, nullable=False, comment="when it was last stored or kept"),
        sa.PrimaryKeyConstraint("name", name="pk_blobs"),
    )
    op.create_index("ix_blobs_used_at", "blobs", ["used_at"])
