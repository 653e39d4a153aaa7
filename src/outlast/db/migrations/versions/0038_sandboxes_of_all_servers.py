"""Keep which server works on a sandbox that all servers reach, and number the starts in a workspace.

Runs: before deploy
"""

import sqlalchemy as sa
from alembic import op

from outlast.db.columns import UtcTime

revision = "0038"
down_revision = "0037"
FENCE = "number of the newest start in it: what was started with a lower one is out of date"


def upgrade() -> None:
    op.add_column(
        "workspaces", sa.Column("host", sa.String(80), comment="the machine or service that its newest sandbox is on")
    )
    op.add_column("workspaces", sa.Column("fence", sa.BigInteger, nullable=False, server_default="0", comment=FENCE))
    op.add_column(
        "sandboxes",
        sa.Column("fence", sa.BigInteger, nullable=False, server_default="0", comment="number of its start"),
    )
    if op.get_bind().dialect.name == "postgresql":  # SQLite keeps no comments
        node = "the node whose machine it runs on; null if all nodes reach it"
        op.alter_column("sandboxes", "node_id", comment=node, existing_type=sa.String(40))
    op.create_table(
        "sandbox_leases",
        sa.Column("name", sa.String(80), primary_key=True, comment="step:WORKSPACE | attend:WORKSPACE | a task's name"),
        sa.Column("node_id", sa.String(40), nullable=False, comment="the server that alone may do it"),
        sa.Column("until", UtcTime, nullable=False, comment="then any server may"),
    )
