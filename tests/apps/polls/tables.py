"""Polls."""

import sqlalchemy as sa

from outlast.db.columns import json, metadata, moment, own_id, ref, text

polls = sa.Table(
    "polls",
    metadata,
    own_id(),
    ref("project_id", "projects", "in", nullable=False, index=True),
    ref("thread_id", "threads", "the conversation with its agent", nullable=False, unique=True),
    text("title", "the question", nullable=False),
    json("options", "answers to choose from", nullable=False),
    json("votes", "the option of each user, by user id", nullable=False),
    moment("created_at", "when", nullable=False),
)
