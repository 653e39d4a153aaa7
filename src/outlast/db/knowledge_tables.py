"""The tables of indexed documentation: sources, their passages, and vectors of any text that is searched."""

import sqlalchemy as sa

from outlast.db.columns import count, metadata, moment, own_id, ref, text, word

knowledge_sources = sa.Table(
    "knowledge_sources",
    metadata,
    own_id(),
    ref("project_id", "projects", "for whom; null: everybody, from the configuration", index=True),
    text("package", "npm:NAME, pypi:NAME, or any name", nullable=False),
    word("kind", "markdown | llms_txt | sitemap | package | folder | text", nullable=False),
    text("location", "address, file, folder or package", nullable=False),
    text("version", "of the package that it describes; empty: not known", nullable=False, server_default=""),
    text("etag", "the last answer's; null: none"),
    text("modified", "the last answer's Last-Modified; null: none"),
    text(
        "cut",
        "how its passages were cut: rules and length; another one cuts anew",
        nullable=False,
        server_default="",
    ),
    count("revision", "raised whenever its passages change"),
    sa.Column("hash", sa.String(64), comment="SHA-256 of what was last read; null: nothing yet"),
    word("state", "waiting | fetching | ready | failed", nullable=False),
    text("error", "why the last try failed; null: it did not"),
    count("passages", "in the index"),
    count("size_bytes", "of what was read"),
    ref("added_by", "users", "who; null: the configuration", ondelete="SET NULL"),
    moment("fetched_at", "its content was last read anew"),
    moment("checked_at", "it was last asked for"),
    moment("due_at", "to be asked for again; null: never", index=True),
    moment("created_at", "when", nullable=False),
)

knowledge_pages = sa.Table(
    "knowledge_pages",
    metadata,
    ref("source_id", "knowledge_sources", "a source of several documents", nullable=False, primary_key=True),
    sa.Column(
        "url", sa.Text, primary_key=True, comment="of one of them; its passages' addresses begin with it"
    ),
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
    sa.Column(
        "hash", sa.String(64), nullable=False, index=True, comment="SHA-256 of the text that is searched"
    ),
)

vectors = sa.Table(
    "vectors",
    metadata,
    sa.Column("model", sa.String(120), primary_key=True, comment="embedding model, with its dimensions"),
    sa.Column("hash", sa.String(64), primary_key=True, comment="SHA-256 of the text"),
    sa.Column("vector", sa.LargeBinary, nullable=False, comment="float16, little-endian, length 1"),
    moment("created_at", "when", nullable=False),
)
