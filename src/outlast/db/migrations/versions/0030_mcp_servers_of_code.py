"""Keep MCP servers that the code of agents names, packages as servers, and why a server could not be listed.

Runs: before deploy
"""

import sqlalchemy as sa
from alembic import op

from outlast.db.columns import Json, UtcTime

revision = "0030"
down_revision = "0029"


def upgrade() -> None:
    # SQLite makes the table again; dropping the old one would delete the tools with it.
    on_sqlite = op.get_bind().dialect.name == "sqlite"
    if on_sqlite:
        op.execute("CREATE TABLE mcp_tools_kept AS SELECT * FROM mcp_tools")
    with op.batch_alter_table("mcp_servers") as table:
        table.alter_column(
            "project_id",
            existing_type=sa.String(40),
            nullable=True,
            comment="of; null: of the code of agents",
            existing_comment="of",
        )
        table.alter_column(
            "created_by",
            existing_type=sa.String(40),
            nullable=True,
            comment="who added it; null: of the code of agents",
            existing_comment="who added it",
        )
        table.alter_column(
            "listed_at",
            existing_type=UtcTime,
            nullable=True,
            comment="when its tools were last listed; null: never",
            existing_comment="when its tools were last listed",
        )
        table.add_column(
            sa.Column(
                "code_key", sa.String(80), comment="of one that the code of agents names: hash of its name and address"
            )
        )
        table.alter_column(
            "url",
            existing_type=sa.Text,
            existing_nullable=False,
            comment="its address; empty for a package",
            existing_comment="its address",
        )
        table.add_column(
            sa.Column(
                "command",
                sa.Text,
                comment="of a package: npx or uvx, the package and its arguments; null: it has an address",
            )
        )
        table.add_column(sa.Column("hosts", Json, comment="hosts that a package may reach; null: none"))
        table.add_column(sa.Column("secrets", Json, comment="secrets whose placeholders a package gets; null: none"))
        table.add_column(
            sa.Column(
                "installed",
                Json,
                comment="version, digest and program of an installed package; null: it is not installed yet",
            )
        )
        table.add_column(
            sa.Column("problem", sa.Text, comment="why they could not be listed the last time; null: they were")
        )
        table.add_column(
            sa.Column(
                "tries",
                sa.BigInteger,
                nullable=False,
                server_default="0",
                comment="listings that failed since the last one that did not",
            )
        )
        table.add_column(sa.Column("retry_at", UtcTime, comment="when they may be listed again, after one that failed"))
    op.create_index("uq_mcp_servers_code_key", "mcp_servers", ["code_key"], unique=True)
    if on_sqlite:
        op.execute("INSERT INTO mcp_tools SELECT * FROM mcp_tools_kept")
        op.execute("DROP TABLE mcp_tools_kept")
