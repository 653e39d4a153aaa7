"""documents with their history, comments and proposals; mentions; files of projects

Runs: before deploy
"""

import sqlalchemy as sa

from alembic import op

from outlast.db.types import Json, UtcTime

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.create_table(
        "documents",
        sa.Column("id", sa.String(length=40), nullable=False, comment="prefixed id"),
        sa.Column("project_id", sa.String(length=40), nullable=False, comment="in"),
        sa.Column("thread_id", sa.String(length=40), nullable=False, comment="its own conversation"),
        sa.Column("title", sa.Text(), nullable=False, comment="shown"),
        sa.Column(
            "version",
            sa.BigInteger(),
            server_default="0",
            nullable=False,
            comment="how many changes were made: the newest of document_versions",
        ),
        sa.Column(
            "words", sa.BigInteger(), server_default="0", nullable=False, comment="in its headings and blocks"
        ),
        sa.Column("created_by", sa.String(length=40), nullable=False, comment="who"),
        sa.Column("created_at", UtcTime(), nullable=False, comment="when"),
        sa.Column("updated_at", UtcTime(), nullable=False, comment="last change"),
        sa.ForeignKeyConstraint(
            ["created_by"], ["users.id"], name=op.f("fk_documents_created_by"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_documents_project_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["thread_id"], ["threads.id"], name=op.f("fk_documents_thread_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_documents")),
        sa.UniqueConstraint("thread_id", name=op.f("uq_documents_thread_id")),
    )
    op.create_index(op.f("ix_documents_project_id"), "documents", ["project_id"], unique=False)
    op.create_table(
        "sections",
        sa.Column("id", sa.String(length=40), nullable=False, comment="prefixed id"),
        sa.Column("document_id", sa.String(length=40), nullable=False, comment="of"),
        sa.Column("project_id", sa.String(length=40), nullable=False, comment="in"),
        sa.Column(
            "rank", sa.String(length=200), nullable=False, comment="its place: they are sorted by it as text"
        ),
        sa.Column("heading", sa.Text(), nullable=False, comment="plain text, one line; empty at level 0"),
        sa.Column("level", sa.Integer(), nullable=False, comment="1 to 6; 0: before the first heading"),
        sa.Column("version", sa.BigInteger(), nullable=False, comment="the document's that changed it last"),
        sa.Column("updated_at", UtcTime(), nullable=False, comment="last change"),
        sa.ForeignKeyConstraint(
            ["document_id"], ["documents.id"], name=op.f("fk_sections_document_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_sections_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sections")),
    )
    op.create_index(op.f("ix_sections_document_id"), "sections", ["document_id"], unique=False)
    op.create_table(
        "blocks",
        sa.Column("id", sa.String(length=40), nullable=False, comment="prefixed id"),
        sa.Column("document_id", sa.String(length=40), nullable=False, comment="of"),
        sa.Column("section_id", sa.String(length=40), nullable=False, comment="in"),
        sa.Column("rank", sa.String(length=200), nullable=False, comment="its place in the section"),
        sa.Column(
            "kind",
            sa.String(length=80),
            nullable=False,
            comment="paragraph | list | code | table | quote | rule | html",
        ),
        sa.Column("markdown", sa.Text(), nullable=False, comment="one block, never empty"),
        sa.Column("version", sa.BigInteger(), nullable=False, comment="the document's that changed it last"),
        sa.Column(
            "editor_kind",
            sa.String(length=80),
            nullable=False,
            comment="person | agent: who wrote its text last",
        ),
        sa.Column("editor_id", sa.String(length=40), nullable=True, comment="who wrote it, or accepted it"),
        sa.Column("updated_at", UtcTime(), nullable=False, comment="last change"),
        sa.ForeignKeyConstraint(
            ["document_id"], ["documents.id"], name=op.f("fk_blocks_document_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["editor_id"], ["users.id"], name=op.f("fk_blocks_editor_id"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["section_id"], ["sections.id"], name=op.f("fk_blocks_section_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_blocks")),
    )
    op.create_index(op.f("ix_blocks_document_id"), "blocks", ["document_id"], unique=False)
    op.create_index(op.f("ix_blocks_section_id"), "blocks", ["section_id"], unique=False)
    op.create_table(
        "document_versions",
        sa.Column("document_id", sa.String(length=40), nullable=False, comment="of"),
        sa.Column("version", sa.BigInteger(), autoincrement=False, nullable=False, comment="1, 2, 3 …"),
        sa.Column(
            "kind", sa.String(length=80), nullable=False, comment="created | edit | agent | import | restore"
        ),
        sa.Column("summary", sa.Text(), server_default="", nullable=False, comment="one line for people"),
        sa.Column(
            "changes",
            Json(),
            nullable=False,
            comment="each section and block touched: {noun, id, before, after}; null: was not, is not",
        ),
        sa.Column(
            "touched",
            Json(),
            nullable=False,
            comment="{sections, blocks}: the ids of what people call changed",
        ),
        sa.Column(
            "state",
            Json(),
            nullable=True,
            comment="the whole document after it, now and then, so that no reader walks far; null: walk",
        ),
        sa.Column("by", sa.String(length=40), nullable=True, comment="who wrote, or accepted"),
        sa.Column(
            "thread_id", sa.String(length=40), nullable=True, comment="the conversation that proposed it"
        ),
        sa.Column("message_id", sa.String(length=40), nullable=True, comment="the answer that proposed it"),
        sa.Column("run_id", sa.String(length=40), nullable=True, comment="whose answer that is"),
        sa.Column("proposal_id", sa.String(length=40), nullable=True, comment="whose edits were accepted"),
        sa.Column("created_at", UtcTime(), nullable=False, comment="when"),
        sa.ForeignKeyConstraint(
            ["by"], ["users.id"], name=op.f("fk_document_versions_by"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["document_id"],
            ["documents.id"],
            name=op.f("fk_document_versions_document_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("document_id", "version", name=op.f("pk_document_versions")),
    )
    op.create_index("ix_document_versions_by", "document_versions", ["by", "created_at"], unique=False)
    op.create_index(
        op.f("ix_document_versions_proposal_id"), "document_versions", ["proposal_id"], unique=False
    )
    op.create_table(
        "comments",
        sa.Column("id", sa.String(length=40), nullable=False, comment="prefixed id"),
        sa.Column("document_id", sa.String(length=40), nullable=False, comment="on"),
        sa.Column("project_id", sa.String(length=40), nullable=False, comment="in"),
        sa.Column(
            "parent_id", sa.String(length=40), nullable=True, comment="answers this one; null: begins a talk"
        ),
        sa.Column(
            "section_id",
            sa.String(length=40),
            nullable=True,
            comment="where; null: on the whole document; stays when it goes",
        ),
        sa.Column(
            "block_id",
            sa.String(length=40),
            nullable=True,
            comment="the block; null: the section; stays when it goes",
        ),
        sa.Column("quote", Json(), nullable=True, comment="selected text {text, prefix, suffix}; null: none"),
        sa.Column(
            "orphaned",
            sa.Boolean(),
            server_default=sa.false(),
            nullable=False,
            comment="the section, block or quote is not there now",
        ),
        sa.Column(
            "linked_sections", Json(), nullable=False, comment="ids of further sections that it is about"
        ),
        sa.Column("body", sa.Text(), nullable=False, comment="Markdown"),
        sa.Column("mentions", Json(), nullable=False, comment="ids of users named in it"),
        sa.Column("status", sa.String(length=80), nullable=False, comment="open | resolved"),
        sa.Column(
            "assigned_to", sa.String(length=40), nullable=True, comment="a user's id, or agent; null: nobody"
        ),
        sa.Column("thread_id", sa.String(length=40), nullable=True, comment="the conversation about it"),
        sa.Column("by", sa.String(length=40), nullable=True, comment="the user who wrote it; null: an agent"),
        sa.Column("resolved_by", sa.String(length=40), nullable=True, comment="null: open"),
        sa.Column("resolved_at", UtcTime(), nullable=True, comment="null: open"),
        sa.Column("created_at", UtcTime(), nullable=False, comment="when"),
        sa.Column("updated_at", UtcTime(), nullable=False, comment="last change"),
        sa.ForeignKeyConstraint(
            ["document_id"], ["documents.id"], name=op.f("fk_comments_document_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["parent_id"], ["comments.id"], name=op.f("fk_comments_parent_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_comments_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_comments")),
    )
    op.create_index("ix_comments_by", "comments", ["by", "created_at"], unique=False)
    op.create_index(op.f("ix_comments_document_id"), "comments", ["document_id"], unique=False)
    op.create_index(op.f("ix_comments_parent_id"), "comments", ["parent_id"], unique=False)
    op.create_index(op.f("ix_comments_thread_id"), "comments", ["thread_id"], unique=False)
    op.create_table(
        "mentions",
        sa.Column("id", sa.String(length=40), nullable=False, comment="prefixed id"),
        sa.Column("project_id", sa.String(length=40), nullable=False, comment="in"),
        sa.Column("user_id", sa.String(length=40), nullable=False, comment="who is named"),
        sa.Column("by", sa.String(length=40), nullable=True, comment="who named them; null: an agent"),
        sa.Column("source", sa.String(length=80), nullable=False, comment="message | comment | assigned"),
        sa.Column("source_id", sa.String(length=40), nullable=False, comment="the message or comment"),
        sa.Column(
            "thread_id", sa.String(length=40), nullable=True, comment="the message's; null: a comment's"
        ),
        sa.Column(
            "document_id", sa.String(length=40), nullable=True, comment="the comment's; null: a message's"
        ),
        sa.Column("text", sa.Text(), nullable=False, comment="its beginning, in one line"),
        sa.Column("created_at", UtcTime(), nullable=False, comment="when"),
        sa.Column("read_at", UtcTime(), nullable=True, comment="null: it waits in the inbox"),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_mentions_project_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_mentions_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_mentions")),
    )
    op.create_index(op.f("ix_mentions_document_id"), "mentions", ["document_id"], unique=False)
    op.create_index("ix_mentions_inbox", "mentions", ["user_id", "read_at"], unique=False)
    op.create_index(op.f("ix_mentions_source_id"), "mentions", ["source_id"], unique=False)
    op.create_index(op.f("ix_mentions_thread_id"), "mentions", ["thread_id"], unique=False)
    op.create_table(
        "proposals",
        sa.Column("id", sa.String(length=40), nullable=False, comment="prefixed id"),
        sa.Column("project_id", sa.String(length=40), nullable=False, comment="in"),
        sa.Column("document_id", sa.String(length=40), nullable=False, comment="about"),
        sa.Column("thread_id", sa.String(length=40), nullable=False, comment="whose agent proposes it"),
        sa.Column(
            "message_id",
            sa.String(length=40),
            nullable=True,
            comment="the answer; null: its run has not ended",
        ),
        sa.Column(
            "run_id",
            sa.String(length=40),
            nullable=True,
            comment="the run that proposed it; null: copied into a fork",
        ),
        sa.Column(
            "effect_id",
            sa.String(length=40),
            nullable=True,
            comment="the tool call that made it: once; null: a copy",
        ),
        sa.Column("summary", sa.Text(), server_default="", nullable=False, comment="one line for people"),
        sa.Column("state", sa.String(length=80), nullable=False, comment="open | closed"),
        sa.Column("created_at", UtcTime(), nullable=False, comment="when"),
        sa.ForeignKeyConstraint(
            ["document_id"], ["documents.id"], name=op.f("fk_proposals_document_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_proposals_project_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["thread_id"], ["threads.id"], name=op.f("fk_proposals_thread_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_proposals")),
        sa.UniqueConstraint("effect_id", name=op.f("uq_proposals_effect_id")),
    )
    op.create_index(op.f("ix_proposals_document_id"), "proposals", ["document_id"], unique=False)
    op.create_index(op.f("ix_proposals_run_id"), "proposals", ["run_id"], unique=False)
    op.create_index(op.f("ix_proposals_thread_id"), "proposals", ["thread_id"], unique=False)
    op.create_table(
        "edits",
        sa.Column("id", sa.String(length=40), nullable=False, comment="prefixed id"),
        sa.Column("proposal_id", sa.String(length=40), nullable=False, comment="of"),
        sa.Column("document_id", sa.String(length=40), nullable=False, comment="about"),
        sa.Column("project_id", sa.String(length=40), nullable=False, comment="in"),
        sa.Column("ordinal", sa.Integer(), nullable=False, comment="1, 2, 3 … within the proposal"),
        sa.Column(
            "op",
            sa.String(length=80),
            nullable=False,
            comment="replace | insert | delete | move | insert_section",
        ),
        sa.Column("block_id", sa.String(length=40), nullable=True, comment="which block; null: a new one"),
        sa.Column(
            "section_id",
            sa.String(length=40),
            nullable=True,
            comment="the block's section, or where it goes; null: a new one",
        ),
        sa.Column(
            "after_id",
            sa.String(length=40),
            nullable=True,
            comment="goes after this block or section; null: first",
        ),
        sa.Column("heading", sa.Text(), nullable=True, comment="of a new section"),
        sa.Column("level", sa.Integer(), nullable=True, comment="of a new section"),
        sa.Column(
            "old_text",
            sa.Text(),
            nullable=False,
            comment="the block's when it was proposed; empty: a new one",
        ),
        sa.Column("new_text", sa.Text(), nullable=False, comment="proposed; empty: none"),
        sa.Column(
            "state", sa.String(length=80), nullable=False, comment="open | accepted | rejected | superseded"
        ),
        sa.Column("applied_text", sa.Text(), nullable=True, comment="what was written; null: nothing yet"),
        sa.Column(
            "decided_by", sa.String(length=40), nullable=True, comment="who; null: open, or superseded"
        ),
        sa.Column("decided_at", UtcTime(), nullable=True, comment="null: open"),
        sa.Column(
            "version", sa.BigInteger(), nullable=True, comment="of the document, made by its acceptance"
        ),
        sa.Column(
            "superseded_by", sa.String(length=40), nullable=True, comment="an edit's id, or version:NUMBER"
        ),
        sa.Column(
            "reason", sa.Text(), server_default="", nullable=False, comment="why it is superseded, for people"
        ),
        sa.Column(
            "origin_id",
            sa.String(length=40),
            nullable=True,
            comment="a copy in a fork: the edit that it was copied from, the first of all; null: it is the first",
        ),
        sa.ForeignKeyConstraint(
            ["document_id"], ["documents.id"], name=op.f("fk_edits_document_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_edits_project_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["proposal_id"], ["proposals.id"], name=op.f("fk_edits_proposal_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_edits")),
        sa.UniqueConstraint("proposal_id", "ordinal", name=op.f("uq_edits_proposal_id")),
    )
    op.create_index(op.f("ix_edits_block_id"), "edits", ["block_id"], unique=False)
    op.create_index("ix_edits_decided", "edits", ["decided_by", "decided_at"], unique=False)
    op.create_index("ix_edits_open", "edits", ["document_id", "state"], unique=False)
    op.create_index(op.f("ix_edits_origin_id"), "edits", ["origin_id"], unique=False)
    op.create_index(op.f("ix_edits_proposal_id"), "edits", ["proposal_id"], unique=False)
    op.create_table(
        "artifacts",
        sa.Column("id", sa.String(length=40), nullable=False, comment="prefixed id"),
        sa.Column("project_id", sa.String(length=40), nullable=False, comment="whose members may open it"),
        sa.Column(
            "blob",
            sa.String(length=64),
            nullable=False,
            comment="SHA-256 of the content, its name in the blob store",
        ),
        sa.Column("name", sa.Text(), nullable=False, comment="file name as uploaded"),
        sa.Column(
            "media_type",
            sa.String(length=80),
            nullable=False,
            comment="found from the content, not from the name",
        ),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False, comment="of the content"),
        sa.Column(
            "state", sa.String(length=80), nullable=False, comment="reading | ready | no_text | failed"
        ),
        sa.Column(
            "source_id",
            sa.String(length=40),
            nullable=True,
            comment="its text in the index of documentation; null: none",
        ),
        sa.Column(
            "text_blob", sa.String(length=64), nullable=True, comment="its text in the blob store; null: none"
        ),
        sa.Column("pages", sa.Integer(), nullable=True, comment="of a PDF; null: it has none"),
        sa.Column("characters", sa.BigInteger(), server_default="0", nullable=False, comment="of its text"),
        sa.Column("width", sa.Integer(), nullable=True, comment="pixels; null: not an image"),
        sa.Column("height", sa.Integer(), nullable=True, comment="pixels; null: not an image"),
        sa.Column(
            "trouble", sa.Text(), nullable=True, comment="why there is no text, for people; null: none"
        ),
        sa.Column(
            "due_at", UtcTime(), nullable=True, comment="its text is to be read from then on; null: it was"
        ),
        sa.Column("created_by", sa.String(length=40), nullable=False, comment="who"),
        sa.Column("created_at", UtcTime(), nullable=False, comment="when"),
        sa.ForeignKeyConstraint(
            ["created_by"], ["users.id"], name=op.f("fk_artifacts_created_by"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_artifacts_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_artifacts")),
    )
    op.create_index("ix_artifacts_user", "artifacts", ["created_by", "created_at"], unique=False)
    op.create_index(op.f("ix_artifacts_project_id"), "artifacts", ["project_id"], unique=False)
    op.add_column(
        "threads",
        sa.Column(
            "document_id",
            sa.String(length=40),
            nullable=True,
            comment="the document that its anchor is, or lies in; null: none",
        ),
    )
    op.create_index(op.f("ix_threads_document_id"), "threads", ["document_id"], unique=False)
    op.create_index(op.f("ix_artifacts_due_at"), "artifacts", ["due_at"], unique=False)
