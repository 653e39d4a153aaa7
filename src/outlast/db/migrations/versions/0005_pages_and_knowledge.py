"""pages with their history, actions and links; modules and memory; indexed documentation and vectors

Runs: before deploy
"""

import sqlalchemy as sa

from alembic import op

from outlast.db.types import Json, UtcTime

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.create_table(
        "pages",
        sa.Column("id", sa.String(length=40), nullable=False, comment="prefixed id"),
        sa.Column("project_id", sa.String(length=40), nullable=False, comment="in"),
        sa.Column(
            "thread_id", sa.String(length=40), nullable=False, comment="the conversation that changes it"
        ),
        sa.Column(
            "workspace_id",
            sa.String(length=40),
            nullable=False,
            comment="where its code runs and modules lie",
        ),
        sa.Column("title", sa.Text(), nullable=False, comment="shown"),
        sa.Column(
            "named",
            sa.Boolean(),
            server_default=sa.false(),
            nullable=False,
            comment="a person chose the title, so the agent's is not taken",
        ),
        sa.Column(
            "version",
            sa.BigInteger(),
            server_default="0",
            nullable=False,
            comment="of its HTML: how many changes stand",
        ),
        sa.Column(
            "html",
            sa.Text(),
            server_default="",
            nullable=False,
            comment="as it is now: sanitised, as a browser writes it",
        ),
        sa.Column(
            "problems", Json(), nullable=False, comment="what its last run left undone; empty: nothing known"
        ),
        sa.Column("created_by", sa.String(length=40), nullable=False, comment="who"),
        sa.Column("created_at", UtcTime(), nullable=False, comment="when"),
        sa.Column("updated_at", UtcTime(), nullable=False, comment="last change"),
        sa.Column(
            "active_at", UtcTime(), nullable=False, comment="last run or action: dormancy counts from here"
        ),
        sa.ForeignKeyConstraint(
            ["created_by"], ["users.id"], name=op.f("fk_pages_created_by"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_pages_project_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["thread_id"], ["threads.id"], name=op.f("fk_pages_thread_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pages")),
        sa.UniqueConstraint("thread_id", name=op.f("uq_pages_thread_id")),
        sa.UniqueConstraint("workspace_id", name=op.f("uq_pages_workspace_id")),
    )
    op.create_index(op.f("ix_pages_project_id"), "pages", ["project_id"], unique=False)
    op.create_table(
        "page_versions",
        sa.Column("page_id", sa.String(length=40), nullable=False, comment="of"),
        sa.Column("version", sa.BigInteger(), autoincrement=False, nullable=False, comment="what it became"),
        sa.Column("base_version", sa.BigInteger(), nullable=False, comment="what it was made from"),
        sa.Column(
            "kind",
            sa.String(length=80),
            nullable=False,
            comment="created | full | patches | undo | restore | copy",
        ),
        sa.Column("patches", Json(), nullable=True, comment="as they were told; null: `html` says it all"),
        sa.Column(
            "html",
            sa.Text(),
            nullable=True,
            comment="the whole page; null: apply the patches to the version before",
        ),
        sa.Column(
            "run_id", sa.String(length=40), nullable=True, comment="made by this run; null: by a person"
        ),
        sa.Column(
            "step", sa.Integer(), nullable=True, comment="of the run: taken back when the step is asked again"
        ),
        sa.Column("summary", sa.Text(), server_default="", nullable=False, comment="one line for people"),
        sa.Column("by", sa.String(length=40), nullable=True, comment="the user who did it, or whose run did"),
        sa.Column("created_at", UtcTime(), nullable=False, comment="when"),
        sa.ForeignKeyConstraint(
            ["page_id"], ["pages.id"], name=op.f("fk_page_versions_page_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("page_id", "version", name=op.f("pk_page_versions")),
    )
    op.create_index(op.f("ix_page_versions_run_id"), "page_versions", ["run_id"], unique=False)
    op.create_table(
        "page_actions",
        sa.Column("id", sa.String(length=40), nullable=False, comment="prefixed id"),
        sa.Column("page_id", sa.String(length=40), nullable=False, comment="on"),
        sa.Column("project_id", sa.String(length=40), nullable=False, comment="in"),
        sa.Column("user_id", sa.String(length=40), nullable=False, comment="who did it"),
        sa.Column("name", sa.String(length=80), nullable=False, comment="the element's data-action"),
        sa.Column("data", Json(), nullable=False, comment="values that came with it"),
        sa.Column(
            "state", sa.String(length=80), nullable=False, comment="waiting | taken | done | failed | dropped"
        ),
        sa.Column(
            "run_id",
            sa.String(length=40),
            nullable=True,
            comment="the run that takes it up; null: taken back",
        ),
        sa.Column("created_at", UtcTime(), nullable=False, comment="when"),
        sa.ForeignKeyConstraint(
            ["page_id"], ["pages.id"], name=op.f("fk_page_actions_page_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_page_actions_project_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_page_actions_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_page_actions")),
    )
    op.create_index(op.f("ix_page_actions_page_id"), "page_actions", ["page_id"], unique=False)
    op.create_index(op.f("ix_page_actions_run_id"), "page_actions", ["run_id"], unique=False)
    op.create_index("ix_page_actions_user", "page_actions", ["user_id", "created_at"], unique=False)
    op.create_table(
        "page_links",
        sa.Column("id", sa.String(length=40), nullable=False, comment="prefixed id"),
        sa.Column("page_id", sa.String(length=40), nullable=False, comment="shown by it, read only"),
        sa.Column("project_id", sa.String(length=40), nullable=False, comment="in"),
        sa.Column("hash", sa.String(length=64), nullable=False, comment="SHA-256 of the link's secret"),
        sa.Column(
            "name",
            sa.Text(),
            server_default="",
            nullable=False,
            comment="where it is used, for its maker's eyes",
        ),
        sa.Column("created_by", sa.String(length=40), nullable=False, comment="who"),
        sa.Column("created_at", UtcTime(), nullable=False, comment="when"),
        sa.Column("expires_at", UtcTime(), nullable=True, comment="null: never"),
        sa.Column("revoked_at", UtcTime(), nullable=True, comment="null: valid"),
        sa.ForeignKeyConstraint(
            ["created_by"], ["users.id"], name=op.f("fk_page_links_created_by"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["page_id"], ["pages.id"], name=op.f("fk_page_links_page_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_page_links_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_page_links")),
        sa.UniqueConstraint("hash", name=op.f("uq_page_links_hash")),
    )
    op.create_index(op.f("ix_page_links_page_id"), "page_links", ["page_id"], unique=False)
    op.create_table(
        "modules",
        sa.Column("id", sa.String(length=40), nullable=False, comment="prefixed id"),
        sa.Column(
            "project_id",
            sa.String(length=40),
            nullable=True,
            comment="where it was written; null: that is gone, and the published one stays",
        ),
        sa.Column(
            "workspace_id",
            sa.String(length=40),
            nullable=True,
            comment="whose file it is; null: published, lies in the blobs",
        ),
        sa.Column(
            "page_id",
            sa.String(length=40),
            nullable=True,
            comment="the page it was written for; null: a thread",
        ),
        sa.Column(
            "user_id",
            sa.String(length=40),
            nullable=False,
            comment="for whom it was written, and published to",
        ),
        sa.Column("scope", sa.String(length=80), nullable=False, comment="session | user"),
        sa.Column("path", sa.Text(), nullable=False, comment="relative to the workspace"),
        sa.Column("description", sa.Text(), nullable=False, comment="what it does, in the agent's words"),
        sa.Column("exports", Json(), nullable=False, comment="names"),
        sa.Column("usage", sa.Text(), nullable=False, comment="an import to copy"),
        sa.Column(
            "hash", sa.String(length=64), nullable=False, comment="SHA-256 of the text that is searched"
        ),
        sa.Column(
            "content_hash",
            sa.String(length=64),
            nullable=True,
            comment="SHA-256 of the file when it was last looked at",
        ),
        sa.Column("blob", sa.String(length=64), nullable=True, comment="the file of a published one"),
        sa.Column(
            "dependencies",
            sa.String(length=64),
            nullable=True,
            comment="hash of the dependencies that it was verified with",
        ),
        sa.Column(
            "verified_at", UtcTime(), nullable=True, comment="null: not since the dependencies changed"
        ),
        sa.Column("run_id", sa.String(length=40), nullable=True, comment="which run announced it"),
        sa.Column(
            "published_by",
            sa.String(length=40),
            nullable=True,
            comment="who approved it; null: not published",
        ),
        sa.Column("created_at", UtcTime(), nullable=False, comment="when"),
        sa.Column("updated_at", UtcTime(), nullable=False, comment="last announced"),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_modules_project_id"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["published_by"], ["users.id"], name=op.f("fk_modules_published_by"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_modules_user_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id"], ["workspaces.id"], name=op.f("fk_modules_workspace_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_modules")),
        sa.UniqueConstraint("workspace_id", "path", name=op.f("uq_modules_workspace_id")),
    )
    op.create_index(op.f("ix_modules_project_id"), "modules", ["project_id"], unique=False)
    op.create_index(op.f("ix_modules_user_id"), "modules", ["user_id"], unique=False)
    op.create_index(op.f("ix_modules_workspace_id"), "modules", ["workspace_id"], unique=False)
    op.create_table(
        "memories",
        sa.Column("id", sa.String(length=40), nullable=False, comment="prefixed id"),
        sa.Column("project_id", sa.String(length=40), nullable=False, comment="in"),
        sa.Column("thread_id", sa.String(length=40), nullable=False, comment="whose runs"),
        sa.Column("run_id", sa.String(length=40), nullable=False, comment="of which it is the summary"),
        sa.Column("summary", sa.Text(), nullable=False, comment="one line: what was asked → what was done"),
        sa.Column(
            "hash", sa.String(length=64), nullable=False, comment="SHA-256 of the text that is searched"
        ),
        sa.Column("created_at", UtcTime(), nullable=False, comment="when"),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_memories_project_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["thread_id"], ["threads.id"], name=op.f("fk_memories_thread_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_memories")),
        sa.UniqueConstraint("run_id", name=op.f("uq_memories_run_id")),
    )
    op.create_index(op.f("ix_memories_thread_id"), "memories", ["thread_id"], unique=False)
    op.create_table(
        "knowledge_sources",
        sa.Column("id", sa.String(length=40), nullable=False, comment="prefixed id"),
        sa.Column(
            "project_id",
            sa.String(length=40),
            nullable=True,
            comment="for whom; null: everybody, from the configuration",
        ),
        sa.Column("package", sa.Text(), nullable=False, comment="npm:NAME, pypi:NAME, or any name"),
        sa.Column(
            "kind",
            sa.String(length=80),
            nullable=False,
            comment="markdown | llms_txt | sitemap | package | folder | text",
        ),
        sa.Column("location", sa.Text(), nullable=False, comment="address, file, folder or package"),
        sa.Column(
            "version",
            sa.Text(),
            server_default="",
            nullable=False,
            comment="of the package that it describes; empty: not known",
        ),
        sa.Column("etag", sa.Text(), nullable=True, comment="the last answer's; null: none"),
        sa.Column(
            "modified", sa.Text(), nullable=True, comment="the last answer's Last-Modified; null: none"
        ),
        sa.Column(
            "cut",
            sa.Text(),
            server_default="",
            nullable=False,
            comment="how its passages were cut: rules and length; another one cuts anew",
        ),
        sa.Column(
            "revision",
            sa.BigInteger(),
            server_default="0",
            nullable=False,
            comment="raised whenever its passages change",
        ),
        sa.Column(
            "hash",
            sa.String(length=64),
            nullable=True,
            comment="SHA-256 of what was last read; null: nothing yet",
        ),
        sa.Column(
            "state", sa.String(length=80), nullable=False, comment="waiting | fetching | ready | failed"
        ),
        sa.Column("error", sa.Text(), nullable=True, comment="why the last try failed; null: it did not"),
        sa.Column("passages", sa.BigInteger(), server_default="0", nullable=False, comment="in the index"),
        sa.Column(
            "size_bytes", sa.BigInteger(), server_default="0", nullable=False, comment="of what was read"
        ),
        sa.Column("added_by", sa.String(length=40), nullable=True, comment="who; null: the configuration"),
        sa.Column("fetched_at", UtcTime(), nullable=True, comment="its content was last read anew"),
        sa.Column("checked_at", UtcTime(), nullable=True, comment="it was last asked for"),
        sa.Column("due_at", UtcTime(), nullable=True, comment="to be asked for again; null: never"),
        sa.Column("created_at", UtcTime(), nullable=False, comment="when"),
        sa.ForeignKeyConstraint(
            ["added_by"], ["users.id"], name=op.f("fk_knowledge_sources_added_by"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_knowledge_sources_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_knowledge_sources")),
    )
    op.create_index(op.f("ix_knowledge_sources_due_at"), "knowledge_sources", ["due_at"], unique=False)
    op.create_index(
        op.f("ix_knowledge_sources_project_id"), "knowledge_sources", ["project_id"], unique=False
    )
    op.create_table(
        "knowledge_pages",
        sa.Column("source_id", sa.String(length=40), nullable=False, comment="a source of several documents"),
        sa.Column(
            "url", sa.Text(), nullable=False, comment="of one of them; its passages' addresses begin with it"
        ),
        sa.Column("etag", sa.Text(), nullable=True, comment="the last answer's; null: none"),
        sa.Column(
            "modified", sa.Text(), nullable=True, comment="the last answer's Last-Modified; null: none"
        ),
        sa.Column("hash", sa.String(length=64), nullable=False, comment="SHA-256 of its text"),
        sa.ForeignKeyConstraint(
            ["source_id"],
            ["knowledge_sources.id"],
            name=op.f("fk_knowledge_pages_source_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("source_id", "url", name=op.f("pk_knowledge_pages")),
    )
    op.create_table(
        "knowledge_passages",
        sa.Column("id", sa.String(length=40), nullable=False, comment="prefixed id"),
        sa.Column("source_id", sa.String(length=40), nullable=False, comment="from"),
        sa.Column("package", sa.Text(), nullable=False, comment="as its source's"),
        sa.Column("version", sa.Text(), server_default="", nullable=False, comment="as its source's"),
        sa.Column("position", sa.Integer(), nullable=False, comment="order in the source, from 0"),
        sa.Column("heading", sa.Text(), nullable=False, comment="headings above it, › between"),
        sa.Column("body", sa.Text(), nullable=False, comment="Markdown; code kept whole"),
        sa.Column(
            "url", sa.Text(), nullable=False, comment="where to read it, with a fragment where there is one"
        ),
        sa.Column(
            "hash", sa.String(length=64), nullable=False, comment="SHA-256 of the text that is searched"
        ),
        sa.ForeignKeyConstraint(
            ["source_id"],
            ["knowledge_sources.id"],
            name=op.f("fk_knowledge_passages_source_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_knowledge_passages")),
    )
    op.create_index(op.f("ix_knowledge_passages_hash"), "knowledge_passages", ["hash"], unique=False)
    op.create_index(
        op.f("ix_knowledge_passages_source_id"), "knowledge_passages", ["source_id"], unique=False
    )
    op.create_table(
        "vectors",
        sa.Column(
            "model", sa.String(length=120), nullable=False, comment="embedding model, with its dimensions"
        ),
        sa.Column("hash", sa.String(length=64), nullable=False, comment="SHA-256 of the text"),
        sa.Column("vector", sa.LargeBinary(), nullable=False, comment="float16, little-endian, length 1"),
        sa.Column("created_at", UtcTime(), nullable=False, comment="when"),
        sa.PrimaryKeyConstraint("model", "hash", name=op.f("pk_vectors")),
    )
    if op.get_bind().dialect.name == "postgresql":
        kinds = "approval_pause | paused_kill | abandon | cancel_force | fold | clean_up | page_dormant"
        op.alter_column("timers", "kind", comment=kinds)
        op.alter_column("timers", "subject_id", comment="the run, thread, workspace or page")
