"""Webhooks of projects and their deliveries."""

import sqlalchemy as sa

from outlast.db.columns import choice, count, flag, json, metadata, moment, own_id, ref, soft_ref, text, word

webhooks = sa.Table(
    "webhooks",
    metadata,
    own_id(),
    ref("project_id", "projects", "of", nullable=False, index=True),
    text("title", "shown; empty: the host of its address", nullable=False, server_default=""),
    text("url", "where its events are sent", nullable=False),
    json("events", "names of the events that are sent", nullable=False),
    sa.Column("enabled", sa.Boolean, nullable=False, comment="events are sent"),
    text("stopped_because", "why the server turned it off; null: it did not"),
    text("secret", "sealed; signs its requests", nullable=False),
    text("old_secret", "sealed; the one before, which signs too for a day"),
    moment("old_secret_until", "when the old secret ends"),
    ref("created_by", "users", "who made it", nullable=False),
    moment("created_at", "when", nullable=False),
)

deliveries = sa.Table(
    "webhook_deliveries",
    metadata,
    own_id("prefixed id; the header webhook-id"),
    ref("webhook_id", "webhooks", "to", nullable=False),
    word("event", "name of the event", nullable=False),
    soft_ref("about", "what the event is about: deliveries about one thing are sent in order", nullable=False),
    sa.Column("seq", sa.BigInteger, nullable=False, comment="number of the event in its log"),
    text("body", "what is sent, as JSON", nullable=False),
    choice("state", ["pending", "delivered", "dead"]),
    count("tries", "requests that were begun"),
    moment("tried_since", "the day of tries began then: when it was made or replayed", nullable=False),
    flag("claimed", "a server sends it now"),
    moment("due_at", "next try, or when the claim for one lapses; null: not pending", index=True),
    sa.Column("last_status", sa.Integer, comment="HTTP status of the last answer; null: there was none"),
    text("reason", "why the last try failed"),
    moment("created_at", "when", nullable=False),
    moment("ended_at", "delivered or given up; null: pending"),
    moment("kept_until", "removed then; null: pending", index=True),
    sa.Index("ix_webhook_deliveries_order", "webhook_id", "about", "state", "seq"),
    sa.Index("ix_webhook_deliveries_list", "webhook_id", "id"),
    sa.Index("ix_webhook_deliveries_states", "webhook_id", "state", "id"),
)
