"""decisions about edits can be taken back

Runs: before deploy
"""

import sqlalchemy as sa

from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    op.add_column(
        "edits",
        sa.Column(
            "reopened",
            sa.Integer(),
            server_default="0",
            nullable=False,
            comment="how often a decision was taken back: a higher count is newer news",
        ),
    )
