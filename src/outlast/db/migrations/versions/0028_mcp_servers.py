"""Keep MCP servers of projects and their tools.

Runs: before deploy
"""

import sqlalchemy as sa
from alembic import op

from outlast.db.columns import Json, UtcTime

revision = "0028"
down_revision = "0027"


def upgrade() -> None:
    op.create_table(
        "mcp_servers",
        sa.Column("id", sa.String(40), nullable=False, comment="prefixed id"),
        sa.Column("project_id", sa.String(40), nullable=False, comment="of"),
        sa.Column("name", sa.String(80), nullable=False, comment="the first part of its tools' names"),
        sa.Column("url", sa.Text, nullable=False, comment="its address"),
        sa.Column("header", sa.String(80), comment="name of the header that carries the secret; null: none"),
        sa.Column("secret", sa.String(80), comment="name of the saved secret that the header carries; null: none"),
        sa.Column("created_by", sa.String(40), nullable=False, comment="who added it"),
        sa.Column("created_at", UtcTime, nullable=False, comment="when"),
        sa.Column("listed_at", UtcTime, nullable=False, comment="when its tools were last listed"),
        sa.PrimaryKeyConstraint("id", name="pk_mcp_servers"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_mcp_servers_project_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["created_by"], ["users.id"], name="fk_mcp_servers_created_by", ondelete="CASCADE"),
    )
    op.create_index("uq_mcp_servers_project_id_name", "mcp_servers", ["project_id", "name"], unique=True)
    op.create_table(
        "mcp_tools",
        sa.Column("server_id", sa.String(40), nullable=False, comment="of"),
        sa.Column("name", sa.String(128), nullable=False, comment="as the server calls it"),
        sa.Column("call_name", sa.String(80), nullable=False, comment="as models call it"),
        sa.Column("definition", Json, nullable=False, comment="as the server last described it"),
        sa.Column("digest", sa.String(80), nullable=False, comment="hash of the definition"),
        sa.Column("listed", sa.Boolean, nullable=False, comment="it was in the last listing"),
        sa.Column(
            "allowed_definition", Json, comment="as it was described when it was allowed; null: it is not allowed"
        ),
        sa.Column("allowed_digest", sa.String(80), comment="hash of that; offered while it is the same as the digest"),
        sa.Column("allowed_by", sa.String(40), comment="who allowed it"),
        sa.Column("allowed_at", UtcTime, comment="when"),
        sa.PrimaryKeyConstraint("server_id", "name", name="pk_mcp_tools"),
        sa.ForeignKeyConstraint(["server_id"], ["mcp_servers.id"], name="fk_mcp_tools_server_id", ondelete="CASCADE"),
    )
