"""Incoming webhooks and their calls."""

import sqlalchemy as sa

from outlast.db.columns import choice, metadata, moment, own_id, ref, soft_ref, text, word

hooks = sa.Table(
    "hooks",
    metadata,
    own_id(),
    ref("project_id", "projects", "of", nullable=False, index=True),
    text("title", "shown", nullable=False),
    sa.Column("enabled", sa.Boolean, nullable=False, comment="calls start runs"),
    word("profile", "name of the agent that answers", nullable=False),
    choice("thread", ["new", "same"], comment="new | same: each call gets a thread of its own, or all share one"),
    soft_ref("thread_id", "the thread that calls share; null: none yet"),
    text("template", "the message, with {{ paths }} into the body", nullable=False),
    text("secret", "sealed; calls prove that they know it", nullable=False),
    ref("created_by", "users", "who made it, or changed what it does: runs are started as this user", nullable=False),
    moment("created_at", "when", nullable=False),
)

hook_calls = sa.Table(
    "hook_calls",
    metadata,
    own_id(),
    ref("hook_id", "hooks", "of", nullable=False),
    sa.Column("sender_id", sa.String(200), nullable=False, comment="the sender's own id of the call; empty: none"),
    soft_ref("run_id", "the run that it started; null: refused"),
    soft_ref("thread_id", "the thread of the run"),
    word("code", "code of the error; null: it started a run"),
    text("reason", "why it was refused; null: it was not"),
    moment("created_at", "when", nullable=False),
    sa.Index("ix_hook_calls_list", "hook_id", "id"),
    sa.Index("ix_hook_calls_rate", "hook_id", "created_at"),
)
