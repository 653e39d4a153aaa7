"""Mentions of users."""

import sqlalchemy as sa

from outlast.db.columns import metadata, moment, own_id, ref, text, word

mentions = sa.Table(
    "mentions",
    metadata,
    own_id(),
    ref("project_id", "projects", "in", nullable=False),
    ref("user_id", "users", "who is named", nullable=False),
    sa.Column("by", sa.String(40), comment="who named them; null: an agent"),
    word("source", "message | comment | assigned", nullable=False),
    sa.Column("source_id", sa.String(40), nullable=False, index=True, comment="the message or comment"),
    sa.Column("thread_id", sa.String(40), index=True, comment="the message's; null: a comment's"),
    sa.Column("document_id", sa.String(40), index=True, comment="the comment's; null: a message's"),
    text("text", "its beginning, in one line", nullable=False),
    moment("created_at", "when", nullable=False),
    moment("read_at", "null: it waits in the inbox"),
    sa.Index("ix_mentions_inbox", "user_id", "read_at"),
)
