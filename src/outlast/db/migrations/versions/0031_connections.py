"""Keep accounts of people on MCP servers, and let runs wait for them.

Runs: before deploy
"""

import sqlalchemy as sa
from alembic import op

from outlast.db.columns import UtcTime

revision = "0031"
down_revision = "0030"
KINDS = (
    "approval_pause | paused_kill | abandon | cancel_force | agent_unknown | step_due | end_children | fold | "
    "clean_up | page_dormant | schedule | account_connected"
)


def upgrade() -> None:
    login = sa.Column("login", sa.String(80), comment="user: each person connects their own account; null: none")
    op.add_column("mcp_servers", login)
    op.create_table(
        "connections",
        sa.Column("user_id", sa.String(40), nullable=False, comment="whose account"),
        sa.Column("server_id", sa.String(40), nullable=False, comment="on this server"),
        sa.Column("issuer", sa.Text, nullable=False, comment="the authorization server that gave the tokens"),
        sa.Column("state", sa.String(10), nullable=False, comment="connected | lost: the person has to connect again"),
        sa.Column("sealed", sa.Text, nullable=False, comment="the tokens, and what is needed to renew and revoke them"),
        sa.Column(
            "version", sa.Integer, nullable=False, server_default="0", comment="grows with every change of the tokens"
        ),
        sa.Column("expires_at", UtcTime, comment="when the access token ends; null: not known"),
        sa.Column("claim", sa.String(80), comment="of the process that renews the tokens; null: none does"),
        sa.Column("claimed_until", UtcTime, comment="when the claim lapses"),
        sa.Column("connected_at", UtcTime, nullable=False, comment="when the person connected"),
        sa.Column("last_used_at", UtcTime, comment="within a minute; null: never"),
        sa.PrimaryKeyConstraint("user_id", "server_id", name="pk_connections"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_connections_user_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["server_id"], ["mcp_servers.id"], name="fk_connections_server_id", ondelete="CASCADE"),
    )
    op.create_index("ix_connections_server_id", "connections", ["server_id"])
    op.create_table(
        "sign_ins",
        sa.Column("state_hash", sa.String(64), nullable=False, comment="SHA-256 of the state that comes back"),
        sa.Column("user_id", sa.String(40), nullable=False, comment="who began it"),
        sa.Column("server_id", sa.String(40), nullable=False, comment="on this server"),
        sa.Column("session_hash", sa.String(64), comment="the browser's session; null: begun with a token"),
        sa.Column("sealed", sa.Text, nullable=False, comment="the code verifier, and where the code is exchanged"),
        sa.Column("expires_at", UtcTime, nullable=False, comment="refused afterwards"),
        sa.PrimaryKeyConstraint("state_hash", name="pk_sign_ins"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_sign_ins_user_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["server_id"], ["mcp_servers.id"], name="fk_sign_ins_server_id", ondelete="CASCADE"),
    )
    op.create_index("ix_sign_ins_user_id", "sign_ins", ["user_id"])
    op.create_index("ix_sign_ins_expires_at", "sign_ins", ["expires_at"])
    op.create_table(
        "client_registrations",
        sa.Column(
            "party_hash", sa.String(64), nullable=False, comment="SHA-256 of its issuer and the address back here"
        ),
        sa.Column("sealed", sa.Text, nullable=False, comment="the client id and secret that it gave"),
        sa.Column("expires_at", UtcTime, comment="null: never"),
        sa.PrimaryKeyConstraint("party_hash", name="pk_client_registrations"),
    )
    if op.get_bind().dialect.name == "postgresql":  # SQLite keeps no comments
        subject = "the run, effect, step, thread, workspace, page, schedule or question"
        op.alter_column("timers", "kind", comment=KINDS, existing_type=sa.String(30), existing_nullable=False)
        op.alter_column("timers", "subject_id", comment=subject, existing_type=sa.String(40), existing_nullable=False)
