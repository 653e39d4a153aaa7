"""Look after calls that go on as tasks of MCP servers, and log the secrets that calls use.

Runs: before deploy
"""

import sqlalchemy as sa
from alembic import op

revision = "0032"
down_revision = "0031"
KINDS = (
    "approval_pause | paused_kill | abandon | cancel_force | agent_unknown | step_due | end_children | fold | "
    "clean_up | page_dormant | schedule | account_connected | mcp_task"
)


def upgrade() -> None:
    server = "the MCP server that was called; null: a sandbox sent the request"
    op.add_column("secret_uses", sa.Column("mcp_server", sa.String(80), comment=server))
    if op.get_bind().dialect.name == "postgresql":  # SQLite keeps no comments
        op.alter_column("timers", "kind", comment=KINDS, existing_type=sa.String(30), existing_nullable=False)
        sandbox = "the sandbox that sent the request; empty: a call of an MCP server did"
        op.alter_column(
            "secret_uses", "sandbox_id", comment=sandbox, existing_type=sa.String(40), existing_nullable=False
        )
        secret = "its name; empty: the user's account; the value is never stored"
        op.alter_column("secret_uses", "secret", comment=secret, existing_type=sa.String(80), existing_nullable=False)
