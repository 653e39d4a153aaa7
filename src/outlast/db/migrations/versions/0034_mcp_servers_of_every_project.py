"""Allow MCP servers that an administrator adds for every project.

Runs: before deploy
"""

import sqlalchemy as sa
from alembic import op

revision = "0034"
down_revision = "0033"
OF = "of; null: of every project, of the code of agents, or a person's own"


def upgrade() -> None:
    where = sa.text("project_id IS NULL AND owner_id IS NULL AND code_key IS NULL")
    index = "uq_mcp_servers_server"
    op.create_index(index, "mcp_servers", ["name"], unique=True, sqlite_where=where, postgresql_where=where)
    if op.get_bind().dialect.name == "postgresql":  # SQLite keeps no comments
        op.alter_column("mcp_servers", "project_id", comment=OF, existing_type=sa.String(40))
