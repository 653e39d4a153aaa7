"""items that failed again and again and are not tried any more

Runs: before deploy
"""

import sqlalchemy as sa

from alembic import op

from outlast.db.types import UtcTime

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    op.create_table(
        "set_aside",
        sa.Column(
            "kind", sa.String(length=80), nullable=False, comment="what was tried: kernel/set_aside/kinds.py"
        ),
        sa.Column(
            "id",
            sa.String(length=200),
            nullable=False,
            comment="of the sandbox, source, run, workspace or file",
        ),
        sa.Column("since", UtcTime(), nullable=False, comment="not tried since"),
        sa.Column("tries", sa.Integer(), nullable=False, comment="after its first failure"),
        sa.Column("code", sa.String(length=80), nullable=False, comment="of the last failure"),
        sa.Column(
            "reason",
            sa.Text(),
            nullable=False,
            comment="the last failure, for administrators; holds no secret",
        ),
        sa.PrimaryKeyConstraint("kind", "id", name=op.f("pk_set_aside")),
    )
