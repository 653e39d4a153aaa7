"""Pages, their versions, actions and links."""

import sqlalchemy as sa

from outlast.db.columns import choice, count, flag, json, metadata, moment, own_id, ref, text, word
from outlast.db.lock_order import Place, locked_as

pages = sa.Table(
    "pages",
    metadata,
    own_id(),
    ref("project_id", "projects", "in", nullable=False, index=True),
    ref("thread_id", "threads", "the conversation that changes it", nullable=False, unique=True),
    sa.Column(
        "workspace_id", sa.String(40), nullable=False, unique=True, comment="where its code runs and modules lie"
    ),
    text("title", "shown", nullable=False),
    flag("named", "a person chose the title, so the agent's is not taken"),
    count("version", "of its HTML: how many changes stand"),
    text("html", "as it is now: sanitised, as a browser writes it", nullable=False, server_default=""),
    json("problems", "what its last run left undone; empty: nothing known", nullable=False),
    ref("created_by", "users", "who", nullable=False),
    moment("created_at", "when", nullable=False),
    moment("updated_at", "last change", nullable=False),
    moment("active_at", "last run or action: dormancy counts from here", nullable=False),
    info=locked_as(Place.SUBJECT),
)

page_versions = sa.Table(
    "page_versions",
    metadata,
    ref("page_id", "pages", "of", nullable=False, primary_key=True),
    sa.Column("version", sa.BigInteger, primary_key=True, autoincrement=False, comment="what it became"),
    sa.Column("base_version", sa.BigInteger, nullable=False, comment="what it was made from"),
    choice("kind", ["created", "full", "patches", "undo", "restore", "copy"]),
    json("patches", "as published; null: see `html`"),
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
    choice("state", ["waiting", "taken", "done", "failed", "dropped"]),
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
