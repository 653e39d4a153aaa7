"""Projects, their members and invitations."""

import sqlalchemy as sa

from outlast.db.columns import choice, count, json, metadata, moment, own_id, ref, text
from outlast.db.lock_order import Place, locked_as

projects = sa.Table(
    "projects",
    metadata,
    own_id(),
    text("name", "shown", nullable=False),
    ref("default_for", "users", "the user whose default project it is, or null", unique=True),
    json("agents", "names of the agents that may be used; null: all"),
    text("instructions", "what every agent of the project reads", nullable=False, server_default=""),
    count("log_seq", "last number given in the project's log"),
    moment("created_at", "when", nullable=False),
    moment("updated_at", "last change of the project's own fields", nullable=False),
    info=locked_as(Place.PROJECT),
)


def role_column() -> sa.Column[str]:
    return choice("role", ["owner", "editor", "viewer"], chars=10)


members = sa.Table(
    "members",
    metadata,
    ref("project_id", "projects", "of", nullable=False, primary_key=True),
    ref("user_id", "users", "who", nullable=False, primary_key=True, index=True),
    role_column(),
    moment("created_at", "since", nullable=False),
)

invitations = sa.Table(
    "invitations",
    metadata,
    own_id(),
    ref("project_id", "projects", "to", nullable=False, index=True),
    role_column(),
    text("name", "who is meant, for the inviter's eyes", nullable=False, server_default=""),
    sa.Column("hash", sa.String(64), nullable=False, unique=True, comment="SHA-256 of the invitation's token"),
    ref("created_by", "users", "who invited", nullable=False),
    moment("created_at", "when", nullable=False),
    moment("expires_at", "not accepted afterwards", nullable=False),
    moment("accepted_at", "null: open"),
    ref("accepted_by", "users", "null: open"),
)
