"""Secrets that projects and people saved, each sealed with the server's key."""

import sqlalchemy as sa

from outlast.db.columns import json, metadata, moment, own_id, partial_index, ref, soft_ref, text, word

secrets = sa.Table(
    "secrets",
    metadata,
    own_id(),
    ref("project_id", "projects", "for its sandboxes; null: for those of every project"),
    soft_ref("owner_id", "a person's own, for the runs that they start; null: it is shared"),
    word("name", "the environment variable that holds its placeholder in sandboxes", nullable=False),
    json("hosts", "where sandboxes may go and its value is sent to", nullable=False),
    text("sealed", "the value for everybody; null: each person enters their own"),
    ref("created_by", "users", "who made it", nullable=False),
    moment("created_at", "when", nullable=False),
    moment("updated_at", "last change", nullable=False),
)
sa.Index("uq_secrets_project_id_name", secrets.c.project_id, secrets.c.name, unique=True)
sa.Index("uq_secrets_owner_id_name", secrets.c.owner_id, secrets.c.name, unique=True)
partial_index("uq_secrets_server", secrets.c.name, secrets.c.project_id.is_(None) & secrets.c.owner_id.is_(None))

secret_values = sa.Table(
    "secret_values",
    metadata,
    ref("secret_id", "secrets", "of", nullable=False, primary_key=True),
    ref("user_id", "users", "whose; goes before the value for everybody", nullable=False, primary_key=True),
    text("sealed", "the value", nullable=False),
    moment("updated_at", "when it was entered", nullable=False),
)
