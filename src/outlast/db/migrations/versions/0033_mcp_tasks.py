"""Look after calls that go on as tasks of MCP servers.

Runs: before deploy
"""

import sqlalchemy as sa
from alembic import op

revision = "0033"
down_revision = "0031"
KINDS = (
    "approval_pause | paused_kill | abandon | cancel_force | agent_unknown | step_due | end_children | fold | "
    "clean_up | page_dormant | schedule | account_connected | mcp_task"
)


def upgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":  # SQLite keeps no comments
        op.alter_column("timers", "kind", comment=KINDS, existing_type=sa.String(30), existing_nullable=False)
