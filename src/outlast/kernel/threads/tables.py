"""Threads, their messages, and what a search of them reads."""

import sqlalchemy as sa

from outlast.db.columns import choice, count, flag, json, metadata, moment, own_id, ref, soft_ref, text, word
from outlast.db.lock_order import Place, locked_as

threads = sa.Table(
    "threads",
    metadata,
    own_id(),
    ref("project_id", "projects", "in", nullable=False),
    text("title", "shown; made from the first message until renamed", nullable=False),
    flag("titled", "a person chose the title"),
    word("profile", "agent profile: chat | …", nullable=False),
    choice("status", ["open", "archived"], chars=10),
    choice("run_status", ["idle", "generating", "awaiting_approval", "paused", "complete", "error"], chars=20),
    soft_ref("active_run_id", "the run that is not ended and not waiting behind another; null: none"),
    soft_ref("workspace_id", "where its agent works; null until the first use", index=True),
    json("anchor", "what it is about: {type: section|comment|screen|page|selection, …}; null: nothing"),
    soft_ref("document_id", "the document that its anchor is, or lies in; null: none", index=True),
    soft_ref("parent_thread_id", "forked from; null: not a fork"),
    soft_ref("parent_message_id", "last message copied at the fork"),
    soft_ref("caller_run_id", "the run whose function started it, and that shows it; null: none", index=True),
    count("message_count", "messages in it"),
    count("last_position", "the last position given to a message; one that moved behind others left its own"),
    count("log_seq", "last number given in the thread's log"),
    ref("created_by", "users", "who", nullable=False),
    moment("created_at", "when", nullable=False),
    moment("updated_at", "last message, run or rename; lists are sorted by it", nullable=False),
    sa.Index("ix_threads_list", "project_id", "status", "updated_at"),
    sa.Index("ix_threads_user", "created_by", "created_at"),
    info=locked_as(Place.THREAD),
)

messages = sa.Table(
    "messages",
    metadata,
    own_id(),
    ref("thread_id", "threads", "in", nullable=False),
    sa.Column("position", sa.Integer, nullable=False, comment="1, 2, 3 … within the thread"),
    sa.Column("role", sa.String(10), nullable=False, comment="user | assistant | tool | system"),
    soft_ref("sender_id", "the user who wrote it; null: an agent"),
    sa.Column("status", sa.String(10), nullable=False, comment="complete | partial | cancelled | error"),
    json("parts", "list of parts as in base/events.py", nullable=False),
    text("model", "model id of an answer"),
    word("profile", "agent of an answer"),
    soft_ref("run_id", "of an answer: the run that made it; else the run that it was sent to", index=True),
    soft_ref("reply_to", "for an answer: the user message it answers"),
    sa.Column("credits", sa.Integer, comment="settled for an answer"),
    json("error", "code, message, hint of a failed answer"),
    sa.Column("stop_reason", sa.String(20), comment="of the run that made it"),
    moment("created_at", "when", nullable=False),
    sa.UniqueConstraint("thread_id", "position"),
    sa.Index("ix_messages_sender", "sender_id", "created_at"),
)

thread_states = sa.Table(
    "thread_states",
    metadata,
    ref("thread_id", "threads", "of", primary_key=True),
    json("content", "what its agents keep there: an object of at most 64 KiB", nullable=False),
    count("revision", "raised at each change"),
)
"""Apart from `threads`, whose rows are written at each event and read in lists."""

search_entries = sa.Table(
    "search_entries",
    metadata,
    sa.Column("id", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True, comment="row in the index"),
    ref("thread_id", "threads", "in", nullable=False),
    sa.Column("position", sa.Integer, nullable=False, comment="the message's; 0: the thread's title"),
    text(
        "words",
        "derived: the project's mark and the distinct words, as kernel/threads/search_index.py cuts them",
        nullable=False,
    ),
    sa.UniqueConstraint("thread_id", "position"),
)
