"""Runs count the processes that died under them.

Runs: before deploy
"""

import sqlalchemy as sa

from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.add_column(
        "runs",
        sa.Column(
            "deaths",
            sa.BigInteger(),
            server_default="0",
            nullable=False,
            comment="attempts in a row whose process died before they recorded a result; from 2 on a suspect",
        ),
    )
    op.add_column(
        "runs",
        sa.Column(
            "died_attempt",
            sa.Integer(),
            nullable=True,
            comment="the attempt counted last in deaths; null: none",
        ),
    )
