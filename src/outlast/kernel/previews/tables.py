"""Grants to see previews."""

import sqlalchemy as sa

from outlast.db.columns import choice, metadata, moment, ref, text, word

preview_grants = sa.Table(
    "preview_grants",
    metadata,
    sa.Column("hash", sa.String(64), primary_key=True, comment="of the ticket or cookie"),
    word("kind", "ticket (one use) | cookie", nullable=False),
    ref("workspace_id", "workspaces", "whose port is shown", nullable=False),
    sa.Column("port", sa.Integer, nullable=False, comment="inside"),
    ref("user_id", "users", "who may see it", nullable=False),
    choice("via", ["local", "token", "session"], comment="local | token | session: how they were signed in"),
    sa.Column("token_id", sa.String(40), comment="ends with this token; null: not from one"),
    sa.Column("session_hash", sa.String(64), comment="ends with this session; null: not from one"),
    text("opener", "origin of the page that may show it in a frame; empty: none", nullable=False),
    moment("created_at", "when", nullable=False),
    moment("expires_at", "good until then", nullable=False, index=True),
)
