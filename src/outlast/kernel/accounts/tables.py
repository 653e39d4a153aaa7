"""Users and their ways to sign in."""

import sqlalchemy as sa

from outlast.db.columns import flag, metadata, moment, own_id, partial_index, ref, text, word
from outlast.db.lock_order import Place, locked_as

users = sa.Table(
    "users",
    metadata,
    own_id(),
    text("name", "shown to other members", nullable=False),
    word("plan", "starter | pro | unlimited | an operator's own", nullable=False),
    sa.Column("is_local", sa.Boolean, nullable=False, comment="the owner that local mode signs in by itself"),
    flag("is_admin", "may run the server"),
    moment("created_at", "when", nullable=False),
    info=locked_as(Place.USER),
)

local_owner_index = partial_index("uq_users_one_local", users.c.is_local, where=users.c.is_local)

tokens = sa.Table(
    "tokens",
    metadata,
    own_id(),
    ref("user_id", "users", "whose", nullable=False, index=True),
    text("name", "what its owner calls it", nullable=False),
    sa.Column(
        "hash", sa.String(64), nullable=False, unique=True, comment="SHA-256 of the token; the token is never stored"
    ),
    sa.Column("prefix", sa.String(16), nullable=False, comment="its first characters, to recognise it by"),
    moment("created_at", "when", nullable=False),
    moment("last_used_at", "within a minute; null: never"),
    moment("expires_at", "null: never"),
    moment("revoked_at", "null: valid"),
)

sessions = sa.Table(
    "sessions",
    metadata,
    sa.Column("id_hash", sa.String(64), primary_key=True, comment="SHA-256 of the cookie's value"),
    ref("user_id", "users", "whose", nullable=False, index=True),
    ref("token_id", "tokens", "the token it was exchanged for; null: local mode or invitation"),
    moment("created_at", "when", nullable=False),
    moment("expires_at", "the cookie is refused afterwards", nullable=False),
)
