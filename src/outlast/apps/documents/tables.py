"""Documents, their parts, history, proposals and comments."""

import sqlalchemy as sa

from outlast.db.columns import choice, count, flag, json, metadata, moment, own_id, ref, text, word
from outlast.db.lock_order import Place, locked_as

documents = sa.Table(
    "documents",
    metadata,
    own_id(),
    ref("project_id", "projects", "in", nullable=False, index=True),
    ref("thread_id", "threads", "its own conversation", nullable=False, unique=True),
    text("title", "shown", nullable=False),
    count("version", "how many changes were made: the newest of document_versions"),
    count("words", "in its headings and blocks"),
    ref("created_by", "users", "who", nullable=False),
    moment("created_at", "when", nullable=False),
    moment("updated_at", "last change", nullable=False),
    info=locked_as(Place.SUBJECT),
)

sections = sa.Table(
    "sections",
    metadata,
    own_id(),
    ref("document_id", "documents", "of", nullable=False, index=True),
    ref("project_id", "projects", "in", nullable=False),
    sa.Column("rank", sa.String(200), nullable=False, comment="its place: they are sorted by it as text"),
    text("heading", "plain text, one line; empty at level 0", nullable=False),
    sa.Column("level", sa.Integer, nullable=False, comment="1 to 6; 0: before the first heading"),
    sa.Column("version", sa.BigInteger, nullable=False, comment="the document's that changed it last"),
    moment("updated_at", "last change", nullable=False),
)

blocks = sa.Table(
    "blocks",
    metadata,
    own_id(),
    ref("document_id", "documents", "of", nullable=False, index=True),
    ref("section_id", "sections", "in", nullable=False, index=True),
    sa.Column("rank", sa.String(200), nullable=False, comment="its place in the section"),
    choice(
        "kind",
        ["paragraph", "list", "code", "table", "quote", "rule", "html", "front_matter"],
        comment="paragraph | list | code | table | quote | rule | html",
    ),
    text("markdown", "one block, never empty", nullable=False),
    sa.Column("version", sa.BigInteger, nullable=False, comment="the document's that changed it last"),
    choice("editor_kind", ["person", "agent"], comment="person | agent: who wrote its text last"),
    ref("editor_id", "users", "who wrote it, or accepted it", ondelete="SET NULL"),
    moment("updated_at", "last change", nullable=False),
)

document_versions = sa.Table(
    "document_versions",
    metadata,
    ref("document_id", "documents", "of", nullable=False, primary_key=True),
    sa.Column("version", sa.BigInteger, primary_key=True, autoincrement=False, comment="1, 2, 3 …"),
    word("kind", "created | edit | agent | import | restore", nullable=False),
    text("summary", "one line for people", nullable=False, server_default=""),
    json("changes", "each section and block touched: {noun, id, before, after}; null: was not, is not", nullable=False),
    json("touched", "{sections, blocks}: the ids of what people call changed", nullable=False),
    json("state", "the whole document after it, now and then, so that no reader walks far; null: walk"),
    ref("by", "users", "who wrote, or accepted", ondelete="SET NULL"),
    sa.Column("thread_id", sa.String(40), comment="the conversation that proposed it"),
    sa.Column("message_id", sa.String(40), comment="the answer that proposed it"),
    sa.Column("run_id", sa.String(40), comment="whose answer that is"),
    sa.Column("proposal_id", sa.String(40), index=True, comment="whose edits were accepted"),
    moment("created_at", "when", nullable=False),
    sa.Index("ix_document_versions_by", "by", "created_at"),
)

comments = sa.Table(
    "comments",
    metadata,
    own_id(),
    ref("document_id", "documents", "on", nullable=False, index=True),
    ref("project_id", "projects", "in", nullable=False),
    ref("parent_id", "comments", "answers this one; null: begins a talk", index=True),
    sa.Column("section_id", sa.String(40), comment="where; null: on the whole document; stays when it goes"),
    sa.Column("block_id", sa.String(40), comment="the block; null: the section; stays when it goes"),
    json("quote", "selected text {text, prefix, suffix}; null: none"),
    flag("orphaned", "the section, block or quote is not there now"),
    json("linked_sections", "ids of further sections that it is about", nullable=False),
    text("body", "Markdown", nullable=False),
    json("mentions", "ids of users named in it", nullable=False),
    choice("status", ["open", "resolved"]),
    sa.Column("assigned_to", sa.String(40), comment="a user's id, or agent; null: unassigned"),
    sa.Column("thread_id", sa.String(40), index=True, comment="the conversation about it"),
    sa.Column("by", sa.String(40), comment="the user who wrote it; null: an agent"),
    sa.Column("resolved_by", sa.String(40), comment="null: open"),
    moment("resolved_at", "null: open"),
    moment("created_at", "when", nullable=False),
    moment("updated_at", "last change", nullable=False),
    sa.Index("ix_comments_by", "by", "created_at"),
)

proposals = sa.Table(
    "proposals",
    metadata,
    own_id(),
    ref("project_id", "projects", "in", nullable=False),
    ref("document_id", "documents", "about", nullable=False, index=True),
    ref("thread_id", "threads", "whose agent proposes it", nullable=False, index=True),
    sa.Column("message_id", sa.String(40), comment="the answer; null: its run has not ended"),
    sa.Column("run_id", sa.String(40), index=True, comment="the run that proposed it; null: copied into a fork"),
    sa.Column("effect_id", sa.String(40), unique=True, comment="the tool call that made it: once; null: a copy"),
    text("summary", "one line for people", nullable=False, server_default=""),
    choice("state", ["open", "closed"]),
    moment("created_at", "when", nullable=False),
)

edits = sa.Table(
    "edits",
    metadata,
    own_id(),
    ref("proposal_id", "proposals", "of", nullable=False, index=True),
    ref("document_id", "documents", "about", nullable=False),
    ref("project_id", "projects", "in", nullable=False),
    sa.Column("ordinal", sa.Integer, nullable=False, comment="1, 2, 3 … within the proposal"),
    word("op", "replace | insert | delete | move | insert_section", nullable=False),
    sa.Column("block_id", sa.String(40), index=True, comment="which block; null: a new one"),
    sa.Column("section_id", sa.String(40), comment="the block's section, or where it goes; null: a new one"),
    sa.Column("after_id", sa.String(40), comment="goes after this block or section; null: first"),
    text("heading", "of a new section"),
    sa.Column("level", sa.Integer, comment="of a new section"),
    text("old_text", "the block's when it was proposed; empty: a new one", nullable=False),
    text("new_text", "proposed; empty: none", nullable=False),
    word("state", "open | accepted | rejected | superseded", nullable=False),
    text("applied_text", "what was written; null: nothing yet"),
    sa.Column("decided_by", sa.String(40), comment="who; null: open, or superseded"),
    moment("decided_at", "null: open"),
    sa.Column("version", sa.BigInteger, comment="of the document, made by its acceptance"),
    sa.Column("superseded_by", sa.String(40), comment="an edit's id, or version:NUMBER"),
    text("reason", "why it is superseded, for people", nullable=False, server_default=""),
    sa.Column(
        "origin_id",
        sa.String(40),
        index=True,
        comment="a copy in a fork: the edit that it was copied from, the first of all; null: it is the first",
    ),
    sa.Column(
        "reopened",
        sa.Integer,
        nullable=False,
        server_default="0",
        comment="how often a decision was taken back: a higher count is newer news",
    ),
    sa.UniqueConstraint("proposal_id", "ordinal"),
    sa.Index("ix_edits_open", "document_id", "state"),
    sa.Index("ix_edits_decided", "decided_by", "decided_at"),
)
