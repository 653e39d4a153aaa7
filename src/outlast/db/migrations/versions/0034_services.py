"""Keep services of the configuration on which people connect accounts.

Runs: before deploy
"""

import sqlalchemy as sa
from alembic import op

from outlast.db.columns import UtcTime

revision = "0034"
down_revision = "0031"
CODE_KEY = "of one that agents' code or the configuration names: hash of its name and address"
KIND = "of a service of [[connections]], which is no MCP server; null: an MCP server"
PASSED = "of a service: when `outlast doctor --connections` last passed; null: never"


def upgrade() -> None:
    op.add_column("mcp_servers", sa.Column("kind", sa.String(80), comment=KIND))
    op.add_column("mcp_servers", sa.Column("passed_at", UtcTime, comment=PASSED))
    account = sa.Column("account", sa.Text, comment="its name at the other server; null: not known")
    op.add_column("connections", account)
    if op.get_bind().dialect.name == "postgresql":  # SQLite keeps no comments
        op.alter_column("mcp_servers", "code_key", comment=CODE_KEY, existing_type=sa.String(80))
