"""Keep services of the configuration on which people connect accounts, and secrets and MCP
servers that are a person's own.

Runs: before deploy
"""

import sqlalchemy as sa
from alembic import op

from outlast.db.columns import UtcTime

revision = "0033"
down_revision = "0032"
CODE_KEY = "of one that agents' code or the configuration names: hash of its name and address"
OWN = "a person's own, for the runs that they start; null: it is shared"
OWN_SERVER = "a person's own, for the runs that they start in every project; null: it is not"
OF = "of; null: of the code of agents, or a person's own"
KIND = "of a service of [[connections]], which is no MCP server; null: an MCP server"
PASSED = "of a service: when `outlast doctor --connections` last passed; null: never"


def upgrade() -> None:
    op.add_column("mcp_servers", sa.Column("kind", sa.String(80), comment=KIND))
    op.add_column("mcp_servers", sa.Column("passed_at", UtcTime, comment=PASSED))
    account = sa.Column("account", sa.Text, comment="its name at the other server; null: not known")
    op.add_column("connections", account)
    op.add_column("secrets", sa.Column("owner_id", sa.String(40), comment=OWN))
    op.add_column("mcp_servers", sa.Column("owner_id", sa.String(40), comment=OWN_SERVER))
    op.create_index("uq_mcp_servers_owner_id_name", "mcp_servers", ["owner_id", "name"], unique=True)
    op.create_index("uq_secrets_owner_id_name", "secrets", ["owner_id", "name"], unique=True)
    op.drop_index("uq_secrets_server", "secrets")
    where = sa.text("project_id IS NULL AND owner_id IS NULL")
    op.create_index("uq_secrets_server", "secrets", ["name"], unique=True, sqlite_where=where, postgresql_where=where)
    if op.get_bind().dialect.name == "postgresql":  # SQLite keeps no comments
        op.alter_column("mcp_servers", "project_id", comment=OF, existing_type=sa.String(40))
        op.alter_column("mcp_servers", "code_key", comment=CODE_KEY, existing_type=sa.String(80))
