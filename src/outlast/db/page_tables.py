"""The tables of pages: live HTML documents, their history, what people did on them, modules and memory."""

import sqlalchemy as sa

from outlast.db.columns import count, json, metadata, moment, own_id, ref, text, word

pages = sa.Table(
    "pages",
    metadata,
    own_id(),
    ref("project_id", "projects", "in", nullable=False, index=True),
    ref("thread_id", "threads", "the conversation that changes it", nullable=False, unique=True),
    sa.Column(
        "workspace_id",
        sa.String(40),
        nullable=False,
        unique=True,
        comment="where its code runs and modules lie",
    ),
    text("title", "shown", nullable=False),
    sa.Column(
        "named",
        sa.Boolean,
        nullable=False,
        server_default=sa.false(),
        comment="a person chose the title, so the agent's is not taken",
    ),
    count("version", "of its HTML: how many changes stand"),
    text("html", "as it is now: sanitised, as a browser writes it", nullable=False, server_default=""),
    json("problems", "what its last run left undone; empty: nothing known", nullable=False),
    ref("created_by", "users", "who", nullable=False),
    moment("created_at", "when", nullable=False),
    moment("updated_at", "last change", nullable=False),
    moment("active_at", "last run or action: dormancy counts from here", nullable=False),
)

page_versions = sa.Table(
    "page_versions",
    metadata,
    ref("page_id", "pages", "of", nullable=False, primary_key=True),
    sa.Column("version", sa.BigInteger, primary_key=True, autoincrement=False, comment="what it became"),
    sa.Column("base_version", sa.BigInteger, nullable=False, comment="what it was made from"),
    word("kind", "created | full | patches | undo | restore | copy", nullable=False),
    json("patches", "as they were told; null: `html` says it all"),
    text("html", "the whole page; null: apply the patches to the version before"),
    sa.Column("run_id", sa.String(40), index=True, comment="made by this run; null: by a person"),
    sa.Column("step", sa.Integer, comment="of the run: taken back when the step is asked again"),
    text("summary", "one line for people", nullable=False, server_default=""),
    sa.Column("by", sa.String(40), comment="the user who did it, or whose run did"),
    moment("created_at", "when", nullable=False),
)

page_actions = sa.Table(
    "page_actions",
    metadata,
    own_id(),
    ref("page_id", "pages", "on", nullable=False, index=True),
    ref("project_id", "projects", "in", nullable=False),
    ref("user_id", "users", "who did it", nullable=False),
    word("name", "the element's data-action", nullable=False),
    json("data", "values that came with it", nullable=False),
    word("state", "waiting | taken | done | failed | dropped", nullable=False),
    sa.Column("run_id", sa.String(40), index=True, comment="the run that takes it up; null: taken back"),
    moment("created_at", "when", nullable=False),
    sa.Index("ix_page_actions_user", "user_id", "created_at"),
)

page_links = sa.Table(
    "page_links",
    metadata,
    own_id(),
    ref("page_id", "pages", "shown by it, read only", nullable=False, index=True),
    ref("project_id", "projects", "in", nullable=False),
    sa.Column("hash", sa.String(64), nullable=False, unique=True, comment="SHA-256 of the link's secret"),
    text("name", "where it is used, for its maker's eyes", nullable=False, server_default=""),
    ref("created_by", "users", "who", nullable=False),
    moment("created_at", "when", nullable=False),
    moment("expires_at", "null: never"),
    moment("revoked_at", "null: valid"),
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
    word("scope", "session | user", nullable=False),
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
    ref("project_id", "projects", "in", nullable=False),
    ref("thread_id", "threads", "whose runs", nullable=False, index=True),
    sa.Column("run_id", sa.String(40), nullable=False, unique=True, comment="of which it is the summary"),
    text("summary", "one line: what was asked → what was done", nullable=False),
    sa.Column("hash", sa.String(64), nullable=False, comment="SHA-256 of the text that is searched"),
    moment("created_at", "when", nullable=False),
)
