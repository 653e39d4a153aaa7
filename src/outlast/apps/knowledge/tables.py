"""Indexed documentation, saved modules, memories, and vectors of any text that is searched."""

import sqlalchemy as sa

from outlast.db.columns import choice, count, json, metadata, moment, own_id, ref, soft_ref, text

knowledge_sources = sa.Table(
    "knowledge_sources",
    metadata,
    own_id(),
    ref("project_id", "projects", "for whom; null: everybody, from the configuration", index=True),
    text("package", "npm:NAME, pypi:NAME, or any name", nullable=False),
    choice(
        "kind",
        ["markdown", "llms_txt", "sitemap", "package", "folder", "text", "artifact"],
        comment="markdown | llms_txt | sitemap | package | folder | text",
    ),
    text("location", "address, file, folder or package", nullable=False),
    text("version", "of the package that it describes; empty: not known", nullable=False, server_default=""),
    text("etag", "the last answer's; null: none"),
    text("modified", "the last answer's Last-Modified; null: none"),
    text("cut", "rules and length of its passages; another value cuts again", nullable=False, server_default=""),
    count("revision", "raised whenever its passages change"),
    sa.Column("hash", sa.String(64), comment="SHA-256 of what was last read; null: nothing yet"),
    choice("state", ["waiting", "fetching", "ready", "failed"]),
    text("error", "why the last try failed; null: it did not"),
    count("passages", "in the index"),
    count("size_bytes", "of what was read"),
    ref("added_by", "users", "who; null: the configuration", ondelete="SET NULL"),
    moment("fetched_at", "its content last changed"),
    moment("checked_at", "it was last asked for"),
    moment("due_at", "to be asked for again; null: never", index=True),
    moment("created_at", "when", nullable=False),
)

knowledge_pages = sa.Table(
    "knowledge_pages",
    metadata,
    ref("source_id", "knowledge_sources", "a source of several documents", nullable=False, primary_key=True),
    sa.Column("url", sa.Text, primary_key=True, comment="of one of them; its passages' addresses begin with it"),
    text("etag", "the last answer's; null: none"),
    text("modified", "the last answer's Last-Modified; null: none"),
    sa.Column("hash", sa.String(64), nullable=False, comment="SHA-256 of its text"),
)

knowledge_passages = sa.Table(
    "knowledge_passages",
    metadata,
    own_id(),
    ref("source_id", "knowledge_sources", "from", nullable=False, index=True),
    text("package", "as its source's", nullable=False),
    text("version", "as its source's", nullable=False, server_default=""),
    sa.Column("position", sa.Integer, nullable=False, comment="order in the source, from 0"),
    text("heading", "headings above it, › between", nullable=False),
    text("body", "Markdown; code kept whole", nullable=False),
    text("url", "where to read it, with a fragment where there is one", nullable=False),
    sa.Column("hash", sa.String(64), nullable=False, index=True, comment="SHA-256 of the text that is searched"),
)

vectors = sa.Table(
    "vectors",
    metadata,
    sa.Column("model", sa.String(120), primary_key=True, comment="embedding model, with its dimensions"),
    sa.Column("hash", sa.String(64), primary_key=True, comment="SHA-256 of the text"),
    sa.Column("vector", sa.LargeBinary, nullable=False, comment="float16, little-endian, length 1"),
    moment("created_at", "when", nullable=False),
)

modules = sa.Table(
    "modules",
    metadata,
    own_id(),
    ref(
        "project_id",
        "projects",
        "where it was written; null: that is gone, and the published one stays",
        index=True,
        ondelete="SET NULL",
    ),
    ref("workspace_id", "workspaces", "whose file it is; null: published, lies in the blobs", index=True),
    sa.Column("page_id", sa.String(40), comment="the page it was written for; null: a thread"),
    ref("user_id", "users", "for whom it was written, and published to", nullable=False, index=True),
    choice("scope", ["session", "user"]),
    text("path", "relative to the workspace", nullable=False),
    text("description", "what it does, in the agent's words", nullable=False),
    json("exports", "names", nullable=False),
    text("usage", "an import to copy", nullable=False),
    sa.Column("hash", sa.String(64), nullable=False, comment="SHA-256 of the text that is searched"),
    sa.Column("content_hash", sa.String(64), comment="SHA-256 of the file when it was last looked at"),
    sa.Column("blob", sa.String(64), comment="the file of a published one"),
    sa.Column("dependencies", sa.String(64), comment="hash of the dependencies that it was verified with"),
    moment("verified_at", "null: not since the dependencies changed"),
    sa.Column("run_id", sa.String(40), comment="which run announced it"),
    ref("published_by", "users", "who approved it; null: not published", ondelete="SET NULL"),
    moment("created_at", "when", nullable=False),
    moment("updated_at", "last announced", nullable=False),
    sa.UniqueConstraint("workspace_id", "path"),
)

memories = sa.Table(
    "memories",
    metadata,
    own_id(),
    ref("project_id", "projects", "in which it was written", nullable=False),
    choice("scope", ["run", "project", "person"], chars=10, server_default="run"),
    ref("user_id", "users", "of a person's: whose; else null"),
    ref("thread_id", "threads", "of a run's: whose runs; else null", index=True),
    sa.Column("run_id", sa.String(40), unique=True, comment="of a run's: of which it is the summary; else null"),
    soft_ref("from_thread_id", "in which an agent remembered it; null: written by hand, or of a run"),
    ref("created_by", "users", "for whom it was written, or who wrote it; null: not known", ondelete="SET NULL"),
    text("summary", "one line; of a run: what was asked → what was done", nullable=False),
    sa.Column("hash", sa.String(64), nullable=False, comment="SHA-256 of the text that is searched"),
    moment("created_at", "when", nullable=False),
    moment("updated_at", "last edited by a person; null: never"),
    sa.Index("ix_memories_scope", "project_id", "scope", "id"),
    sa.Index("ix_memories_person", "user_id", "id"),
)

projects_without_memory = sa.Table(
    "projects_without_memory",
    metadata,
    ref("project_id", "projects", "where memory is off", nullable=False, primary_key=True),
    moment("created_at", "since", nullable=False),
)

users_without_memory = sa.Table(
    "users_without_memory",
    metadata,
    ref("user_id", "users", "who turned memory off for their runs", nullable=False, primary_key=True),
    moment("created_at", "since", nullable=False),
)
