"""Projects choose their agents and give them instructions; an answer keeps the agent that wrote it.

Runs: before deploy
"""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"


def upgrade() -> None:
    op.add_column("projects", sa.Column("agents", sa.Text(), comment="names of the agents that may be used; null: all"))
    op.add_column(
        "projects",
        sa.Column(
            "instructions",
            sa.Text(),
            nullable=False,
            server_default="",
            comment="what every agent of the project reads",
        ),
    )
    op.add_column("messages", sa.Column("profile", sa.String(80), comment="agent of an answer"))
    op.add_column(
        "runs",
        sa.Column(
            "instructions",
            sa.Text(),
            nullable=False,
            server_default="",
            comment="those of the project when the run was started",
        ),
    )
