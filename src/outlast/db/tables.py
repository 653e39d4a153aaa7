"""Every table, with a comment per column and state: the present truth (Alembic's migrations are proved equal to it).

The tables of sandboxes lie in `sandbox_tables.py`, that of screens in `screen_tables.py`, those of pages in
`page_tables.py`, those of documents in `document_tables.py`, those of documentation in `knowledge_tables.py`.
"""

import sqlalchemy as sa

from outlast.db.columns import count, json, moment, own_id, ref, text, word
from outlast.db.columns import metadata as metadata
from outlast.db.document_tables import artifacts as artifacts
from outlast.db.document_tables import blocks as blocks
from outlast.db.document_tables import comments as comments
from outlast.db.document_tables import document_versions as document_versions
from outlast.db.document_tables import documents as documents
from outlast.db.document_tables import edits as edits
from outlast.db.document_tables import mentions as mentions
from outlast.db.document_tables import proposals as proposals
from outlast.db.document_tables import sections as sections
from outlast.db.knowledge_tables import knowledge_pages as knowledge_pages
from outlast.db.knowledge_tables import knowledge_passages as knowledge_passages
from outlast.db.knowledge_tables import knowledge_sources as knowledge_sources
from outlast.db.knowledge_tables import vectors as vectors
from outlast.db.page_tables import memories as memories
from outlast.db.page_tables import modules as modules
from outlast.db.page_tables import page_actions as page_actions
from outlast.db.page_tables import page_links as page_links
from outlast.db.page_tables import page_versions as page_versions
from outlast.db.page_tables import pages as pages
from outlast.db.sandbox_tables import checkpoints as checkpoints
from outlast.db.sandbox_tables import hosted_sandboxes as hosted_sandboxes
from outlast.db.sandbox_tables import hosted_snapshots as hosted_snapshots
from outlast.db.sandbox_tables import packed_files as packed_files
from outlast.db.sandbox_tables import preview_grants as preview_grants
from outlast.db.sandbox_tables import sandboxes as sandboxes
from outlast.db.sandbox_tables import secret_uses as secret_uses
from outlast.db.sandbox_tables import services as services
from outlast.db.sandbox_tables import snapshots as snapshots
from outlast.db.sandbox_tables import workspaces as workspaces
from outlast.db.screen_tables import screen_image_hosts as screen_image_hosts
from outlast.db.screen_tables import screens as screens

users = sa.Table(
    "users",
    metadata,
    own_id(),
    text("name", "shown to other members", nullable=False),
    word("plan", "starter | pro | unlimited | an operator's own", nullable=False),
    sa.Column("is_local", sa.Boolean, nullable=False, comment="the owner that local mode signs in by itself"),
    sa.Column(
        "is_admin", sa.Boolean, nullable=False, server_default=sa.false(), comment="may run the server"
    ),
    moment("created_at", "when", nullable=False),
)
local_owner_index = sa.Index(
    "uq_users_one_local",
    users.c.is_local,
    unique=True,
    sqlite_where=users.c.is_local,
    postgresql_where=users.c.is_local,
)

tokens = sa.Table(
    "tokens",
    metadata,
    own_id(),
    ref("user_id", "users", "whose", nullable=False, index=True),
    text("name", "what its owner calls it", nullable=False),
    sa.Column(
        "hash",
        sa.String(64),
        nullable=False,
        unique=True,
        comment="SHA-256 of the token; the token is never stored",
    ),
    sa.Column("prefix", sa.String(16), nullable=False, comment="its first characters, to recognise it by"),
    moment("created_at", "when", nullable=False),
    moment("last_used_at", "within a minute; null: never"),
    moment("expires_at", "null: never"),
    moment("revoked_at", "null: valid"),
)

sessions = sa.Table(
    "sessions",
    metadata,
    sa.Column("id_hash", sa.String(64), primary_key=True, comment="SHA-256 of the cookie's value"),
    ref("user_id", "users", "whose", nullable=False, index=True),
    ref("token_id", "tokens", "the token it was exchanged for; null: local mode or invitation"),
    moment("created_at", "when", nullable=False),
    moment("expires_at", "the cookie is refused afterwards", nullable=False),
)

projects = sa.Table(
    "projects",
    metadata,
    own_id(),
    text("name", "shown", nullable=False),
    ref("default_for", "users", "whose default project this is; null: nobody's", unique=True),
    count("log_seq", "last number given in the project's log"),
    moment("created_at", "when", nullable=False),
    moment("updated_at", "last change of the project's own fields", nullable=False),
)

members = sa.Table(
    "members",
    metadata,
    ref("project_id", "projects", "of", nullable=False, primary_key=True),
    ref("user_id", "users", "who", nullable=False, primary_key=True, index=True),
    sa.Column("role", sa.String(10), nullable=False, comment="owner | editor | viewer"),
    moment("created_at", "since", nullable=False),
)

invitations = sa.Table(
    "invitations",
    metadata,
    own_id(),
    ref("project_id", "projects", "to", nullable=False, index=True),
    sa.Column("role", sa.String(10), nullable=False, comment="owner | editor | viewer"),
    text("name", "who is meant, for the inviter's eyes", nullable=False, server_default=""),
    sa.Column(
        "hash", sa.String(64), nullable=False, unique=True, comment="SHA-256 of the invitation's token"
    ),
    ref("created_by", "users", "who invited", nullable=False),
    moment("created_at", "when", nullable=False),
    moment("expires_at", "not accepted afterwards", nullable=False),
    moment("accepted_at", "null: open"),
    ref("accepted_by", "users", "null: open"),
)

threads = sa.Table(
    "threads",
    metadata,
    own_id(),
    ref("project_id", "projects", "in", nullable=False),
    text("title", "shown; made from the first message until renamed", nullable=False),
    sa.Column(
        "titled", sa.Boolean, nullable=False, server_default=sa.false(), comment="a person chose the title"
    ),
    word("profile", "agent profile: chat | …", nullable=False),
    sa.Column("status", sa.String(10), nullable=False, comment="open | archived"),
    sa.Column(
        "run_status",
        sa.String(20),
        nullable=False,
        comment="idle | generating | awaiting_approval | paused | complete | error",
    ),
    sa.Column(
        "active_run_id",
        sa.String(40),
        comment="the run that is not ended and not waiting behind another; null: none",
    ),
    sa.Column(
        "workspace_id", sa.String(40), index=True, comment="where its agent works; null until the first use"
    ),
    json("anchor", "what it is about: {type: section|comment|screen|page|selection, …}; null: nothing"),
    sa.Column(
        "document_id",
        sa.String(40),
        index=True,
        comment="the document that its anchor is, or lies in; null: none",
    ),
    sa.Column("parent_thread_id", sa.String(40), comment="forked from; null: not a fork"),
    sa.Column("parent_message_id", sa.String(40), comment="last message copied at the fork"),
    count("message_count", "messages in it"),
    count("last_position", "the last position given to a message; one that moved behind others left its own"),
    count("log_seq", "last number given in the thread's log"),
    ref("created_by", "users", "who", nullable=False),
    moment("created_at", "when", nullable=False),
    moment("updated_at", "last message, run or rename; lists are sorted by it", nullable=False),
    sa.Index("ix_threads_list", "project_id", "status", "updated_at"),
    sa.Index("ix_threads_user", "created_by", "created_at"),
)

messages = sa.Table(
    "messages",
    metadata,
    own_id(),
    ref("thread_id", "threads", "in", nullable=False),
    sa.Column("position", sa.Integer, nullable=False, comment="1, 2, 3 … within the thread"),
    sa.Column("role", sa.String(10), nullable=False, comment="user | assistant | tool | system"),
    sa.Column("sender_id", sa.String(40), comment="the user who wrote it; null: an agent"),
    sa.Column("status", sa.String(10), nullable=False, comment="complete | partial | cancelled | error"),
    json("parts", "list of parts as in base/events.py", nullable=False),
    text("model", "model id of an answer"),
    sa.Column("run_id", sa.String(40), index=True, comment="for an answer: the run that made it"),
    sa.Column("reply_to", sa.String(40), comment="for an answer: the user message it answers"),
    sa.Column("credits", sa.Integer, comment="settled for an answer"),
    json("error", "code, message, hint of a failed answer"),
    sa.Column("stop_reason", sa.String(20), comment="of the run that made it"),
    moment("created_at", "when", nullable=False),
    sa.UniqueConstraint("thread_id", "position"),
    sa.Index("ix_messages_sender", "sender_id", "created_at"),
)

search_entries = sa.Table(
    "search_entries",
    metadata,
    sa.Column(
        "id", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True, comment="row in the index"
    ),
    ref("thread_id", "threads", "in", nullable=False),
    sa.Column("position", sa.Integer, nullable=False, comment="the message's; 0: the thread's title"),
    text(
        "words",
        "derived: the project's mark and the distinct words, as kernel/threads/search.py cuts them",
        nullable=False,
    ),
    sa.UniqueConstraint("thread_id", "position"),
)

attachments = sa.Table(
    "attachments",
    metadata,
    own_id(),
    ref("project_id", "projects", "whose members may open it", nullable=False, index=True),
    sa.Column(
        "blob", sa.String(64), nullable=False, comment="SHA-256 of the content, its name in the blob store"
    ),
    text("name", "file name as uploaded", nullable=False),
    word("media_type", "found from the content, not from the name", nullable=False),
    sa.Column("size_bytes", sa.BigInteger, nullable=False, comment="of the content"),
    sa.Column("width", sa.Integer, comment="pixels; null: not an image"),
    sa.Column("height", sa.Integer, comment="pixels; null: not an image"),
    ref("created_by", "users", "who", nullable=False),
    moment("created_at", "when", nullable=False),
    sa.Index("ix_attachments_user", "created_by", "created_at"),
)

locks = sa.Table(
    "locks",
    metadata,
    sa.Column("resource_type", sa.String(10), primary_key=True, comment="thread | section"),
    sa.Column("resource_id", sa.String(40), primary_key=True, comment="which"),
    ref("project_id", "projects", "in", nullable=False, index=True),
    ref("holder_id", "users", "who drives", nullable=False),
    moment("acquired_at", "since", nullable=False),
    moment("expires_at", "from then on anyone may take over", nullable=False),
    ref("requested_by", "users", "who asked for a hand-over; null: nobody"),
    moment("requested_at", "when they asked"),
)

grants = sa.Table(
    "grants",
    metadata,
    own_id(),
    ref("thread_id", "threads", "remembered for", nullable=False, index=True),
    word("tool", "tool name", nullable=False),
    text("arguments", "glob over the canonical arguments that is allowed without asking", nullable=False),
    ref("created_by", "users", "who approved", nullable=False),
    moment("created_at", "when", nullable=False),
)

runs = sa.Table(
    "runs",
    metadata,
    own_id(),
    ref("project_id", "projects", "in", nullable=False),
    ref("thread_id", "threads", "in", nullable=False, index=True),
    sa.Column("workspace_id", sa.String(40), comment="where it works; null until the first use"),
    word("profile", "agent profile", nullable=False),
    text("model", "model id", nullable=False),
    sa.Column(
        "message_id",
        sa.String(40),
        nullable=False,
        comment="the user message it answers; its context ends there",
    ),
    sa.Column(
        "answer_id",
        sa.String(40),
        comment="the saved answer; null until the run has ended, or if none was made",
    ),
    sa.Column("parent_run_id", sa.String(40), comment="retried or continued from"),
    sa.Column("mode", sa.String(10), nullable=False, comment="start | retry | continue"),
    sa.Column("after_run_id", sa.String(40), index=True, comment="queued behind this run; null: none"),
    ref("started_by", "users", "who started and pays", nullable=False),
    sa.Column(
        "status",
        sa.String(20),
        nullable=False,
        comment="queued | running | awaiting_approval | paused | completed | cancelled | error",
    ),
    sa.Column(
        "leg",
        sa.String(10),
        nullable=False,
        comment="blocked: behind another run | ready: to be claimed | held: by a worker | parked: waits "
        "for a person | ended",
    ),
    sa.Column("waiting_for", sa.String(10), comment="approval | answer while parked"),
    sa.Column(
        "stop_reason",
        sa.String(20),
        comment="end | user | steps | abandoned | credits | policy | provider | sandbox | problems | superseded",
    ),
    json("problems", "what is wrong with a run completed with problems", nullable=False),
    json("error", "code, message, hint"),
    sa.Column(
        "attempt",
        sa.Integer,
        nullable=False,
        server_default="0",
        comment="the fence: raised at each claim; writes naming an older one are refused",
    ),
    sa.Column("owner", sa.String(40), comment="the node that holds the lease"),
    moment("lease_until", "the lease lapses then"),
    count(
        "deaths", "attempts in a row whose process died before they recorded a result; from 2 on a suspect"
    ),
    sa.Column("died_attempt", sa.Integer, comment="the attempt counted last in deaths; null: none"),
    moment("ready_at", "not claimed before; null: at once"),
    count("seq_saved", "last number saved in its log"),
    count("seq_reserved", "no number above this has been sent to anybody"),
    moment("cancel_requested_at", "durable cancel flag; null: no"),
    sa.Column("cancelled_by", sa.String(40), comment="the user who cancelled first"),
    sa.Column("cancel_reason", sa.String(20), comment="user | abandoned | superseded"),
    moment(
        "unwatched_since",
        "running with nobody following since then; null: somebody follows, or it waits for a person",
    ),
    moment("paused_at", "since when the run is paused"),
    sa.Column(
        "input_tokens", sa.BigInteger, nullable=False, server_default="0", comment="sum over its model turns"
    ),
    sa.Column(
        "output_tokens", sa.BigInteger, nullable=False, server_default="0", comment="sum over its model turns"
    ),
    sa.Column(
        "cached_tokens",
        sa.BigInteger,
        nullable=False,
        server_default="0",
        comment="part of the input that the provider had cached",
    ),
    sa.Column(
        "reasoning_tokens", sa.BigInteger, nullable=False, server_default="0", comment="part of the output"
    ),
    sa.Column("cost_usd", sa.Float, comment="sum where known; null: unknown"),
    sa.Column("credits", sa.Integer, nullable=False, comment="reserved at the start, settled at the end"),
    moment("created_at", "when it was asked for", nullable=False),
    moment("started_at", "first claim"),
    moment("ended_at", "null: not ended"),
    sa.Column(
        "cleaned",
        sa.Boolean,
        nullable=False,
        server_default=sa.false(),
        comment="its raw records (effects, log) were removed after the retention time",
    ),
    sa.Index("ix_runs_claim", "leg", "ready_at", "created_at"),
    sa.Index("ix_runs_list", "project_id", "created_at"),
    sa.Index("ix_runs_user", "started_by", "created_at"),
)
active_run_index = sa.Index(
    "uq_runs_one_active",
    runs.c.thread_id,
    unique=True,
    sqlite_where=runs.c.leg.in_(["ready", "held", "parked"]),
    postgresql_where=runs.c.leg.in_(["ready", "held", "parked"]),
)

effects = sa.Table(
    "effects",
    metadata,
    own_id(),
    ref("run_id", "runs", "of", nullable=False),
    sa.Column("ordinal", sa.Integer, nullable=False, comment="order within the run"),
    sa.Column("step", sa.Integer, nullable=False, comment="1, 2, 3 … the model turn it belongs to"),
    sa.Column("kind", sa.String(10), nullable=False, comment="model | tool | prepare | check"),
    sa.Column(
        "status",
        sa.String(12),
        nullable=False,
        comment="allowed | waiting | started | finished | denied | interrupted | cancelled | failed",
    ),
    word("tool", "tool name; null: a model turn"),
    sa.Column("call_id", sa.String(120), comment="the model's id of the call"),
    sa.Column("part_id", sa.String(40), comment="the part that shows it"),
    text("arguments", "JSON text the tool is called with (edited arguments replace the model's)"),
    sa.Column(
        "attempt",
        sa.Integer,
        nullable=False,
        server_default="0",
        comment="the run attempt that started it last",
    ),
    sa.Column("retries", sa.Integer, nullable=False, server_default="0", comment="transient failures so far"),
    json("result", "model: the turn as pieces, finish, usage; tool: content, is_error"),
    json("error", "last failure"),
    json("usage", "tokens and cost of a model turn"),
    sa.Column(
        "inherited",
        sa.Boolean,
        nullable=False,
        server_default=sa.false(),
        comment="copied from the run this one continues",
    ),
    moment("created_at", "when it was named", nullable=False),
    moment("started_at", "first start"),
    moment("ended_at", "null: open"),
    sa.UniqueConstraint("run_id", "ordinal"),
)

approvals = sa.Table(
    "approvals",
    metadata,
    own_id("apr_… or que_…"),
    ref("run_id", "runs", "of", nullable=False, index=True),
    ref("thread_id", "threads", "in", nullable=False, index=True),
    ref("effect_id", "effects", "the tool call", nullable=False),
    sa.Column("kind", sa.String(10), nullable=False, comment="approval | question"),
    sa.Column(
        "status", sa.String(10), nullable=False, comment="open | approved | denied | answered | cancelled"
    ),
    word("tool", "tool name", nullable=False),
    text("arguments", "the exact arguments (JSON text) the decision is bound to", nullable=False),
    text("reason", "which policy asked", nullable=False, server_default=""),
    json("decision", "reason, edited arguments, remember; or the answers"),
    sa.Column("decided_by", sa.String(40), comment="who; null: open, or closed by the run's end"),
    moment("decided_at", "null: open"),
    sa.Column(
        "announced",
        sa.Boolean,
        nullable=False,
        server_default=sa.false(),
        comment="its resolution stands in the run's log",
    ),
    moment("created_at", "when", nullable=False),
    sa.Index("ix_approvals_open", "status", "created_at"),
)

log = sa.Table(
    "log",
    metadata,
    sa.Column("stream_id", sa.String(40), primary_key=True, comment="a run's, thread's or project's id"),
    sa.Column("first_seq", sa.BigInteger, primary_key=True, comment="number of the block's first event"),
    sa.Column("last_seq", sa.BigInteger, nullable=False, comment="number of its last"),
    sa.Column(
        "folded",
        sa.Boolean,
        nullable=False,
        server_default=sa.false(),
        comment="deltas were folded into part.snapshot",
    ),
    sa.Column("body", sa.LargeBinary, nullable=False, comment="events as JSON lines, in order"),
    moment("saved_at", "when", nullable=False),
)

ledger = sa.Table(
    "ledger",
    metadata,
    own_id(),
    ref("user_id", "users", "whose", nullable=False),
    sa.Column(
        "kind",
        sa.String(10),
        nullable=False,
        comment="grant | expire | reserve | release | settle (0, closes a reserve)",
    ),
    sa.Column("credits", sa.Integer, nullable=False, comment="signed; the balance is the sum"),
    sa.Column("run_id", sa.String(40), comment="what for; null: grant or expire"),
    sa.Column("period", sa.String(7), comment="YYYY-MM of a grant or expire"),
    moment("created_at", "when", nullable=False),
    sa.UniqueConstraint("run_id", "kind"),
    sa.UniqueConstraint("user_id", "kind", "period"),
    sa.Index("ix_ledger_user", "user_id", "created_at"),
)

idempotency = sa.Table(
    "idempotency",
    metadata,
    ref("user_id", "users", "whose key", nullable=False, primary_key=True),
    sa.Column("key", sa.String(255), primary_key=True, comment="the Idempotency-Key header"),
    sa.Column(
        "request_hash",
        sa.String(64),
        nullable=False,
        comment="SHA-256 of the request: another request under the same key is refused",
    ),
    json("response", "the first answer", nullable=False),
    moment("created_at", "when; kept 24 hours", nullable=False, index=True),
)

timers = sa.Table(
    "timers",
    metadata,
    sa.Column(
        "kind",
        sa.String(30),
        primary_key=True,
        comment="approval_pause | paused_kill | abandon | cancel_force | fold | clean_up | page_dormant",
    ),
    sa.Column("subject_id", sa.String(40), primary_key=True, comment="the run, thread, workspace or page"),
    moment("due_at", "handled then, or as soon as a server runs", nullable=False, index=True),
)

followers = sa.Table(
    "followers",
    metadata,
    ref("thread_id", "threads", "followed", nullable=False, primary_key=True),
    sa.Column("node_id", sa.String(40), primary_key=True, comment="the node with at least one follower"),
    moment("lease_until", "refreshed while followed", nullable=False),
)

set_aside = sa.Table(
    "set_aside",
    metadata,
    sa.Column("kind", sa.String(80), primary_key=True, comment="what was tried: kernel/set_aside/kinds.py"),
    sa.Column(
        "id", sa.String(200), primary_key=True, comment="of the sandbox, source, run, workspace or file"
    ),
    moment("since", "not tried since", nullable=False),
    sa.Column("tries", sa.Integer, nullable=False, comment="after its first failure"),
    word("code", "of the last failure", nullable=False),
    text("reason", "the last failure, for administrators; holds no secret", nullable=False),
)

meta = sa.Table(
    "meta",
    metadata,
    sa.Column("key", sa.String(40), primary_key=True, comment="name"),
    text("value", "value", nullable=False),
)
