"""Accounts of people on other servers, and this server as a client of those that sign them in."""

import sqlalchemy as sa

from outlast.db.columns import choice, count, metadata, moment, ref, text, word

connections = sa.Table(
    "connections",
    metadata,
    ref("user_id", "users", "whose account", nullable=False, primary_key=True),
    ref("server_id", "mcp_servers", "on this server", nullable=False, primary_key=True, index=True),
    text("issuer", "the authorization server that gave the tokens", nullable=False),
    choice("state", ["connected", "lost"], "connected | lost: the person has to connect again", chars=10),
    text("sealed", "the tokens, and what is needed to renew and revoke them", nullable=False),
    count("version", "grows with every change of the tokens", kind=sa.Integer),
    moment("expires_at", "when the access token ends; null: not known"),
    word("claim", "of the process that renews the tokens; null: none does"),
    moment("claimed_until", "when the claim lapses"),
    moment("connected_at", "when the person connected", nullable=False),
    moment("last_used_at", "within a minute; null: never"),
    text("account", "its name at the other server; null: not known"),
)

sign_ins = sa.Table(
    "sign_ins",
    metadata,
    sa.Column("state_hash", sa.String(64), primary_key=True, comment="SHA-256 of the state that comes back"),
    ref("user_id", "users", "who began it", nullable=False, index=True),
    ref("server_id", "mcp_servers", "on this server", nullable=False),
    sa.Column("session_hash", sa.String(64), comment="the browser's session; null: begun with a token"),
    text("sealed", "the code verifier, and where the code is exchanged", nullable=False),
    moment("expires_at", "refused afterwards", nullable=False, index=True),
)

client_registrations = sa.Table(
    "client_registrations",
    metadata,
    sa.Column("party_hash", sa.String(64), primary_key=True, comment="SHA-256 of its issuer and the address back here"),
    text("sealed", "the client id and secret that it gave", nullable=False),
    moment("expires_at", "null: never"),
)
