"""Summaries of the oldest messages of threads."""

import sqlalchemy as sa

from outlast.db.columns import count, metadata, moment, own_id, ref, soft_ref, text

compactions = sa.Table(
    "compactions",
    metadata,
    own_id(),
    ref("thread_id", "threads", "of", nullable=False),
    sa.Column("to_position", sa.Integer, nullable=False, comment="the last user message that it covers"),
    sa.Column("last_position", sa.Integer, nullable=False, comment="the last message that it covers, with answers"),
    text("text", "the summary", nullable=False),
    soft_ref("run_id", "the run that made it"),
    text("model", "model id of the run", nullable=False),
    count("input_tokens", "of the model turn that made it"),
    count("output_tokens", "of the model turn that made it"),
    moment("created_at", "when", nullable=False),
    moment("undone_at", "not used any more; null: in use"),
    soft_ref("undone_by", "the user who undid it"),
    sa.Index("ix_compactions_thread", "thread_id", "to_position"),
)
