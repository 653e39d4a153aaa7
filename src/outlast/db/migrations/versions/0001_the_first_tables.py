"""the first tables

Runs: before deploy

Long, because a migration is a record of one change: all first tables at once, written from `db/tables.py`.
"""

import sqlalchemy as sa

from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "log",
        sa.Column(
            "stream_id", sa.String(length=40), nullable=False, comment="a run's, thread's or project's id"
        ),
        sa.Column("first_seq", sa.BigInteger(), nullable=False, comment="number of the block's first event"),
        sa.Column("last_seq", sa.BigInteger(), nullable=False, comment="number of its last"),
        sa.Column(
            "folded",
            sa.Boolean(),
            server_default=sa.false(),
            nullable=False,
            comment="deltas were folded into part.snapshot",
        ),
        sa.Column("body", sa.LargeBinary(), nullable=False, comment="events as JSON lines, in order"),
        sa.Column("saved_at", sa.BigInteger(), nullable=False, comment="when"),
        sa.PrimaryKeyConstraint("stream_id", "first_seq", name=op.f("pk_log")),
    )
    op.create_table(
        "meta",
        sa.Column("key", sa.String(length=40), nullable=False, comment="name"),
        sa.Column("value", sa.Text(), nullable=False, comment="value"),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_meta")),
    )
    op.create_table(
        "timers",
        sa.Column(
            "kind",
            sa.String(length=30),
            nullable=False,
            comment="approval_pause | paused_kill | abandon | cancel_force | fold | clean_up",
        ),
        sa.Column("subject_id", sa.String(length=40), nullable=False, comment="the run, thread or workspace"),
        sa.Column(
            "due_at", sa.BigInteger(), nullable=False, comment="handled then, or as soon as a server runs"
        ),
        sa.PrimaryKeyConstraint("kind", "subject_id", name=op.f("pk_timers")),
    )
    op.create_index(op.f("ix_timers_due_at"), "timers", ["due_at"], unique=False)

    op.create_table(
        "users",
        sa.Column("id", sa.String(length=40), nullable=False, comment="prefixed id"),
        sa.Column("name", sa.Text(), nullable=False, comment="shown to other members"),
        sa.Column(
            "plan",
            sa.String(length=80),
            nullable=False,
            comment="starter | pro | unlimited | an operator's own",
        ),
        sa.Column(
            "is_local", sa.Boolean(), nullable=False, comment="the owner that local mode signs in by itself"
        ),
        sa.Column("created_at", sa.BigInteger(), nullable=False, comment="when"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_users")),
    )
    op.create_table(
        "idempotency",
        sa.Column("user_id", sa.String(length=40), nullable=False, comment="whose key"),
        sa.Column("key", sa.String(length=255), nullable=False, comment="the Idempotency-Key header"),
        sa.Column(
            "request_hash",
            sa.String(length=64),
            nullable=False,
            comment="SHA-256 of the request: another request under the same key is refused",
        ),
        sa.Column("response", sa.Text(), nullable=False, comment="the first answer"),
        sa.Column("created_at", sa.BigInteger(), nullable=False, comment="when; kept 24 hours"),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_idempotency_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("user_id", "key", name=op.f("pk_idempotency")),
    )
    op.create_index(op.f("ix_idempotency_created_at"), "idempotency", ["created_at"], unique=False)

    op.create_table(
        "ledger",
        sa.Column("id", sa.String(length=40), nullable=False, comment="prefixed id"),
        sa.Column("user_id", sa.String(length=40), nullable=False, comment="whose"),
        sa.Column(
            "kind",
            sa.String(length=10),
            nullable=False,
            comment="grant | expire | reserve | release | settle (0, closes a reserve)",
        ),
        sa.Column("credits", sa.Integer(), nullable=False, comment="signed; the balance is the sum"),
        sa.Column("run_id", sa.String(length=40), nullable=True, comment="what for; null: grant or expire"),
        sa.Column("period", sa.String(length=7), nullable=True, comment="YYYY-MM of a grant or expire"),
        sa.Column("created_at", sa.BigInteger(), nullable=False, comment="when"),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_ledger_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_ledger")),
        sa.UniqueConstraint("run_id", "kind", name=op.f("uq_ledger_run_id")),
        sa.UniqueConstraint("user_id", "kind", "period", name=op.f("uq_ledger_user_id")),
    )
    op.create_index("ix_ledger_user", "ledger", ["user_id", "created_at"], unique=False)

    op.create_table(
        "projects",
        sa.Column("id", sa.String(length=40), nullable=False, comment="prefixed id"),
        sa.Column("name", sa.Text(), nullable=False, comment="shown"),
        sa.Column(
            "default_for",
            sa.String(length=40),
            nullable=True,
            comment="whose default project this is; null: nobody's",
        ),
        sa.Column(
            "log_seq",
            sa.BigInteger(),
            server_default="0",
            nullable=False,
            comment="last number given in the project's log",
        ),
        sa.Column("created_at", sa.BigInteger(), nullable=False, comment="when"),
        sa.Column(
            "updated_at", sa.BigInteger(), nullable=False, comment="last change of the project's own fields"
        ),
        sa.ForeignKeyConstraint(
            ["default_for"], ["users.id"], name=op.f("fk_projects_default_for"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_projects")),
        sa.UniqueConstraint("default_for", name=op.f("uq_projects_default_for")),
    )
    op.create_table(
        "tokens",
        sa.Column("id", sa.String(length=40), nullable=False, comment="prefixed id"),
        sa.Column("user_id", sa.String(length=40), nullable=False, comment="whose"),
        sa.Column("name", sa.Text(), nullable=False, comment="what its owner calls it"),
        sa.Column(
            "hash",
            sa.String(length=64),
            nullable=False,
            comment="SHA-256 of the token; the token is never stored",
        ),
        sa.Column(
            "prefix", sa.String(length=16), nullable=False, comment="its first characters, to recognise it by"
        ),
        sa.Column("created_at", sa.BigInteger(), nullable=False, comment="when"),
        sa.Column("last_used_at", sa.BigInteger(), nullable=True, comment="within a minute; null: never"),
        sa.Column("expires_at", sa.BigInteger(), nullable=True, comment="null: never"),
        sa.Column("revoked_at", sa.BigInteger(), nullable=True, comment="null: valid"),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_tokens_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tokens")),
        sa.UniqueConstraint("hash", name=op.f("uq_tokens_hash")),
    )
    op.create_index(op.f("ix_tokens_user_id"), "tokens", ["user_id"], unique=False)

    op.create_table(
        "attachments",
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
        sa.Column("width", sa.Integer(), nullable=True, comment="pixels; null: not an image"),
        sa.Column("height", sa.Integer(), nullable=True, comment="pixels; null: not an image"),
        sa.Column("created_by", sa.String(length=40), nullable=False, comment="who"),
        sa.Column("created_at", sa.BigInteger(), nullable=False, comment="when"),
        sa.ForeignKeyConstraint(
            ["created_by"], ["users.id"], name=op.f("fk_attachments_created_by"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_attachments_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_attachments")),
    )
    op.create_index(op.f("ix_attachments_project_id"), "attachments", ["project_id"], unique=False)

    op.create_table(
        "invitations",
        sa.Column("id", sa.String(length=40), nullable=False, comment="prefixed id"),
        sa.Column("project_id", sa.String(length=40), nullable=False, comment="to"),
        sa.Column("role", sa.String(length=10), nullable=False, comment="owner | editor | viewer"),
        sa.Column(
            "name",
            sa.Text(),
            server_default="",
            nullable=False,
            comment="who is meant, for the inviter's eyes",
        ),
        sa.Column("hash", sa.String(length=64), nullable=False, comment="SHA-256 of the invitation's token"),
        sa.Column("created_by", sa.String(length=40), nullable=False, comment="who invited"),
        sa.Column("created_at", sa.BigInteger(), nullable=False, comment="when"),
        sa.Column("expires_at", sa.BigInteger(), nullable=False, comment="not accepted afterwards"),
        sa.Column("accepted_at", sa.BigInteger(), nullable=True, comment="null: open"),
        sa.Column("accepted_by", sa.String(length=40), nullable=True, comment="null: open"),
        sa.ForeignKeyConstraint(
            ["accepted_by"], ["users.id"], name=op.f("fk_invitations_accepted_by"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["created_by"], ["users.id"], name=op.f("fk_invitations_created_by"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_invitations_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_invitations")),
        sa.UniqueConstraint("hash", name=op.f("uq_invitations_hash")),
    )
    op.create_index(op.f("ix_invitations_project_id"), "invitations", ["project_id"], unique=False)

    op.create_table(
        "locks",
        sa.Column("resource_type", sa.String(length=10), nullable=False, comment="thread | section"),
        sa.Column("resource_id", sa.String(length=40), nullable=False, comment="which"),
        sa.Column("project_id", sa.String(length=40), nullable=False, comment="in"),
        sa.Column("holder_id", sa.String(length=40), nullable=False, comment="who drives"),
        sa.Column("acquired_at", sa.BigInteger(), nullable=False, comment="since"),
        sa.Column("expires_at", sa.BigInteger(), nullable=False, comment="from then on anyone may take over"),
        sa.Column(
            "requested_by",
            sa.String(length=40),
            nullable=True,
            comment="who asked for a hand-over; null: nobody",
        ),
        sa.Column("requested_at", sa.BigInteger(), nullable=True, comment="when they asked"),
        sa.ForeignKeyConstraint(
            ["holder_id"], ["users.id"], name=op.f("fk_locks_holder_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_locks_project_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["requested_by"], ["users.id"], name=op.f("fk_locks_requested_by"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("resource_type", "resource_id", name=op.f("pk_locks")),
    )
    op.create_index(op.f("ix_locks_project_id"), "locks", ["project_id"], unique=False)

    op.create_table(
        "members",
        sa.Column("project_id", sa.String(length=40), nullable=False, comment="of"),
        sa.Column("user_id", sa.String(length=40), nullable=False, comment="who"),
        sa.Column("role", sa.String(length=10), nullable=False, comment="owner | editor | viewer"),
        sa.Column("created_at", sa.BigInteger(), nullable=False, comment="since"),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_members_project_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_members_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("project_id", "user_id", name=op.f("pk_members")),
    )
    op.create_index(op.f("ix_members_user_id"), "members", ["user_id"], unique=False)

    op.create_table(
        "sessions",
        sa.Column("id_hash", sa.String(length=64), nullable=False, comment="SHA-256 of the cookie's value"),
        sa.Column("user_id", sa.String(length=40), nullable=False, comment="whose"),
        sa.Column(
            "token_id",
            sa.String(length=40),
            nullable=True,
            comment="the token it was exchanged for; null: local mode or invitation",
        ),
        sa.Column("created_at", sa.BigInteger(), nullable=False, comment="when"),
        sa.Column("expires_at", sa.BigInteger(), nullable=False, comment="the cookie is refused afterwards"),
        sa.ForeignKeyConstraint(
            ["token_id"], ["tokens.id"], name=op.f("fk_sessions_token_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_sessions_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id_hash", name=op.f("pk_sessions")),
    )
    op.create_index(op.f("ix_sessions_user_id"), "sessions", ["user_id"], unique=False)

    op.create_table(
        "threads",
        sa.Column("id", sa.String(length=40), nullable=False, comment="prefixed id"),
        sa.Column("project_id", sa.String(length=40), nullable=False, comment="in"),
        sa.Column(
            "title", sa.Text(), nullable=False, comment="shown; made from the first message until renamed"
        ),
        sa.Column(
            "titled",
            sa.Boolean(),
            server_default=sa.false(),
            nullable=False,
            comment="a person chose the title",
        ),
        sa.Column("profile", sa.String(length=80), nullable=False, comment="agent profile: chat | …"),
        sa.Column("status", sa.String(length=10), nullable=False, comment="open | archived"),
        sa.Column(
            "run_status",
            sa.String(length=20),
            nullable=False,
            comment="idle | generating | awaiting_approval | paused | complete | error",
        ),
        sa.Column(
            "active_run_id",
            sa.String(length=40),
            nullable=True,
            comment="the run that is not ended and not waiting behind another; null: none",
        ),
        sa.Column(
            "workspace_id",
            sa.String(length=40),
            nullable=True,
            comment="where its agent works; null until the first use",
        ),
        sa.Column(
            "anchor",
            sa.Text(),
            nullable=True,
            comment="what it is about: {type: section|comment|screen|page|selection, …}; null: nothing",
        ),
        sa.Column(
            "parent_thread_id", sa.String(length=40), nullable=True, comment="forked from; null: not a fork"
        ),
        sa.Column(
            "parent_message_id",
            sa.String(length=40),
            nullable=True,
            comment="last message copied at the fork",
        ),
        sa.Column(
            "message_count",
            sa.BigInteger(),
            server_default="0",
            nullable=False,
            comment="messages in it; also the last position given",
        ),
        sa.Column(
            "log_seq",
            sa.BigInteger(),
            server_default="0",
            nullable=False,
            comment="last number given in the thread's log",
        ),
        sa.Column("created_by", sa.String(length=40), nullable=False, comment="who"),
        sa.Column("created_at", sa.BigInteger(), nullable=False, comment="when"),
        sa.Column(
            "updated_at",
            sa.BigInteger(),
            nullable=False,
            comment="last message, run or rename; lists are sorted by it",
        ),
        sa.ForeignKeyConstraint(
            ["created_by"], ["users.id"], name=op.f("fk_threads_created_by"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_threads_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_threads")),
    )
    op.create_index("ix_threads_list", "threads", ["project_id", "status", "updated_at"], unique=False)

    op.create_table(
        "workspaces",
        sa.Column("id", sa.String(length=40), nullable=False, comment="prefixed id"),
        sa.Column("project_id", sa.String(length=40), nullable=False, comment="in"),
        sa.Column("owner_type", sa.String(length=10), nullable=False, comment="thread | screen | page"),
        sa.Column("owner_id", sa.String(length=40), nullable=False, comment="which"),
        sa.Column("created_at", sa.BigInteger(), nullable=False, comment="when"),
        sa.Column("last_used_at", sa.BigInteger(), nullable=False, comment="last tool call or visit"),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_workspaces_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_workspaces")),
        sa.UniqueConstraint("owner_type", "owner_id", name=op.f("uq_workspaces_owner_type")),
    )
    op.create_index(op.f("ix_workspaces_project_id"), "workspaces", ["project_id"], unique=False)

    op.create_table(
        "followers",
        sa.Column("thread_id", sa.String(length=40), nullable=False, comment="followed"),
        sa.Column(
            "node_id", sa.String(length=40), nullable=False, comment="the node with at least one follower"
        ),
        sa.Column("lease_until", sa.BigInteger(), nullable=False, comment="refreshed while followed"),
        sa.ForeignKeyConstraint(
            ["thread_id"], ["threads.id"], name=op.f("fk_followers_thread_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("thread_id", "node_id", name=op.f("pk_followers")),
    )
    op.create_table(
        "grants",
        sa.Column("id", sa.String(length=40), nullable=False, comment="prefixed id"),
        sa.Column("thread_id", sa.String(length=40), nullable=False, comment="remembered for"),
        sa.Column("tool", sa.String(length=80), nullable=False, comment="tool name"),
        sa.Column(
            "arguments",
            sa.Text(),
            nullable=False,
            comment="glob over the canonical arguments that is allowed without asking",
        ),
        sa.Column("created_by", sa.String(length=40), nullable=False, comment="who approved"),
        sa.Column("created_at", sa.BigInteger(), nullable=False, comment="when"),
        sa.ForeignKeyConstraint(
            ["created_by"], ["users.id"], name=op.f("fk_grants_created_by"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["thread_id"], ["threads.id"], name=op.f("fk_grants_thread_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_grants")),
    )
    op.create_index(op.f("ix_grants_thread_id"), "grants", ["thread_id"], unique=False)

    op.create_table(
        "messages",
        sa.Column("id", sa.String(length=40), nullable=False, comment="prefixed id"),
        sa.Column("thread_id", sa.String(length=40), nullable=False, comment="in"),
        sa.Column("position", sa.Integer(), nullable=False, comment="1, 2, 3 … within the thread"),
        sa.Column("role", sa.String(length=10), nullable=False, comment="user | assistant | tool | system"),
        sa.Column(
            "sender_id", sa.String(length=40), nullable=True, comment="the user who wrote it; null: an agent"
        ),
        sa.Column(
            "status", sa.String(length=10), nullable=False, comment="complete | partial | cancelled | error"
        ),
        sa.Column("parts", sa.Text(), nullable=False, comment="list of parts as in base/events.py"),
        sa.Column("model", sa.Text(), nullable=True, comment="model id of an answer"),
        sa.Column(
            "run_id", sa.String(length=40), nullable=True, comment="for an answer: the run that made it"
        ),
        sa.Column(
            "reply_to",
            sa.String(length=40),
            nullable=True,
            comment="for an answer: the user message it answers",
        ),
        sa.Column("credits", sa.Integer(), nullable=True, comment="settled for an answer"),
        sa.Column("error", sa.Text(), nullable=True, comment="code, message, hint of a failed answer"),
        sa.Column("stop_reason", sa.String(length=20), nullable=True, comment="of the run that made it"),
        sa.Column("created_at", sa.BigInteger(), nullable=False, comment="when"),
        sa.ForeignKeyConstraint(
            ["thread_id"], ["threads.id"], name=op.f("fk_messages_thread_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_messages")),
        sa.UniqueConstraint("thread_id", "position", name=op.f("uq_messages_thread_id")),
    )
    op.create_index(op.f("ix_messages_run_id"), "messages", ["run_id"], unique=False)

    op.create_table(
        "runs",
        sa.Column("id", sa.String(length=40), nullable=False, comment="prefixed id"),
        sa.Column("project_id", sa.String(length=40), nullable=False, comment="in"),
        sa.Column("thread_id", sa.String(length=40), nullable=False, comment="in"),
        sa.Column(
            "workspace_id",
            sa.String(length=40),
            nullable=True,
            comment="where it works; null until the first use",
        ),
        sa.Column("profile", sa.String(length=80), nullable=False, comment="agent profile"),
        sa.Column("model", sa.Text(), nullable=False, comment="model id"),
        sa.Column(
            "message_id",
            sa.String(length=40),
            nullable=False,
            comment="the user message it answers; its context ends there",
        ),
        sa.Column(
            "answer_id",
            sa.String(length=40),
            nullable=True,
            comment="the saved answer; null until the run has ended, or if none was made",
        ),
        sa.Column("parent_run_id", sa.String(length=40), nullable=True, comment="retried or continued from"),
        sa.Column("mode", sa.String(length=10), nullable=False, comment="start | retry | continue"),
        sa.Column(
            "after_run_id", sa.String(length=40), nullable=True, comment="queued behind this run; null: none"
        ),
        sa.Column("started_by", sa.String(length=40), nullable=False, comment="who started and pays"),
        sa.Column(
            "status",
            sa.String(length=20),
            nullable=False,
            comment="queued | running | awaiting_approval | paused | completed | cancelled | error",
        ),
        sa.Column(
            "leg",
            sa.String(length=10),
            nullable=False,
            comment="blocked: behind another run | ready: to be claimed | held: by a worker | parked: waits for a person | ended",
        ),
        sa.Column(
            "waiting_for", sa.String(length=10), nullable=True, comment="approval | answer while parked"
        ),
        sa.Column(
            "stop_reason",
            sa.String(length=20),
            nullable=True,
            comment="end | user | steps | abandoned | credits | policy | provider | sandbox | problems | superseded",
        ),
        sa.Column(
            "problems", sa.Text(), nullable=False, comment="what is wrong with a run completed with problems"
        ),
        sa.Column("error", sa.Text(), nullable=True, comment="code, message, hint"),
        sa.Column(
            "attempt",
            sa.Integer(),
            server_default="0",
            nullable=False,
            comment="the fence: raised at each claim; writes naming an older one are refused",
        ),
        sa.Column("owner", sa.String(length=40), nullable=True, comment="the node that holds the lease"),
        sa.Column("lease_until", sa.BigInteger(), nullable=True, comment="the lease lapses then"),
        sa.Column("ready_at", sa.BigInteger(), nullable=True, comment="not claimed before; null: at once"),
        sa.Column(
            "seq_saved",
            sa.BigInteger(),
            server_default="0",
            nullable=False,
            comment="last number saved in its log",
        ),
        sa.Column(
            "seq_reserved",
            sa.BigInteger(),
            server_default="0",
            nullable=False,
            comment="no number above this has been sent to anybody",
        ),
        sa.Column(
            "cancel_requested_at", sa.BigInteger(), nullable=True, comment="durable cancel flag; null: no"
        ),
        sa.Column(
            "cancelled_by", sa.String(length=40), nullable=True, comment="the user who cancelled first"
        ),
        sa.Column(
            "cancel_reason", sa.String(length=20), nullable=True, comment="user | abandoned | superseded"
        ),
        sa.Column(
            "unwatched_since",
            sa.BigInteger(),
            nullable=True,
            comment="running with nobody following since then; null: somebody follows, or it waits for a person",
        ),
        sa.Column("paused_at", sa.BigInteger(), nullable=True, comment="since when the run is paused"),
        sa.Column(
            "input_tokens",
            sa.BigInteger(),
            server_default="0",
            nullable=False,
            comment="sum over its model turns",
        ),
        sa.Column(
            "output_tokens",
            sa.BigInteger(),
            server_default="0",
            nullable=False,
            comment="sum over its model turns",
        ),
        sa.Column(
            "cached_tokens",
            sa.BigInteger(),
            server_default="0",
            nullable=False,
            comment="part of the input that the provider had cached",
        ),
        sa.Column(
            "reasoning_tokens",
            sa.BigInteger(),
            server_default="0",
            nullable=False,
            comment="part of the output",
        ),
        sa.Column("cost_usd", sa.Float(), nullable=True, comment="sum where known; null: unknown"),
        sa.Column(
            "credits", sa.Integer(), nullable=False, comment="reserved at the start, settled at the end"
        ),
        sa.Column("created_at", sa.BigInteger(), nullable=False, comment="when it was asked for"),
        sa.Column("started_at", sa.BigInteger(), nullable=True, comment="first claim"),
        sa.Column("ended_at", sa.BigInteger(), nullable=True, comment="null: not ended"),
        sa.Column(
            "cleaned",
            sa.Boolean(),
            server_default=sa.false(),
            nullable=False,
            comment="its raw records (effects, log) were removed after the retention time",
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_runs_project_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["started_by"], ["users.id"], name=op.f("fk_runs_started_by"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["thread_id"], ["threads.id"], name=op.f("fk_runs_thread_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_runs")),
    )
    op.create_index(op.f("ix_runs_after_run_id"), "runs", ["after_run_id"], unique=False)
    op.create_index("ix_runs_claim", "runs", ["leg", "ready_at", "created_at"], unique=False)
    op.create_index("ix_runs_list", "runs", ["project_id", "created_at"], unique=False)
    op.create_index(op.f("ix_runs_thread_id"), "runs", ["thread_id"], unique=False)
    op.create_index("ix_runs_user", "runs", ["started_by", "created_at"], unique=False)
    op.create_index(
        "uq_runs_one_active",
        "runs",
        ["thread_id"],
        unique=True,
        sqlite_where=sa.text("leg IN ('ready', 'held', 'parked')"),
        postgresql_where=sa.text("leg IN ('ready', 'held', 'parked')"),
    )

    op.create_table(
        "sandboxes",
        sa.Column("id", sa.String(length=40), nullable=False, comment="prefixed id"),
        sa.Column("workspace_id", sa.String(length=40), nullable=False, comment="runs its files"),
        sa.Column("project_id", sa.String(length=40), nullable=False, comment="in"),
        sa.Column("provider", sa.String(length=80), nullable=False, comment="local | …"),
        sa.Column(
            "ref", sa.Text(), server_default="", nullable=False, comment="how the provider finds it again"
        ),
        sa.Column(
            "state",
            sa.String(length=10),
            nullable=False,
            comment="creating | ready | pausing | paused | resuming | lost | killed",
        ),
        sa.Column("pause_kind", sa.String(length=10), nullable=True, comment="frozen | stopped while paused"),
        sa.Column(
            "node_id", sa.String(length=40), nullable=True, comment="the node whose machine it runs on"
        ),
        sa.Column("created_at", sa.BigInteger(), nullable=False, comment="when"),
        sa.Column(
            "last_used_at", sa.BigInteger(), nullable=False, comment="last command, file access or visit"
        ),
        sa.Column("ended_at", sa.BigInteger(), nullable=True, comment="lost or killed; null: lives"),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_sandboxes_project_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id"], ["workspaces.id"], name=op.f("fk_sandboxes_workspace_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sandboxes")),
    )
    op.create_index(op.f("ix_sandboxes_project_id"), "sandboxes", ["project_id"], unique=False)
    op.create_index(op.f("ix_sandboxes_workspace_id"), "sandboxes", ["workspace_id"], unique=False)

    op.create_table(
        "search_entries",
        sa.Column(
            "id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
            comment="row in the index",
        ),
        sa.Column("thread_id", sa.String(length=40), nullable=False, comment="in"),
        sa.Column("position", sa.Integer(), nullable=False, comment="the message's; 0: the thread's title"),
        sa.Column(
            "words",
            sa.Text(),
            nullable=False,
            comment="derived: the project's mark and the distinct words, as kernel/threads/search.py cuts them",
        ),
        sa.ForeignKeyConstraint(
            ["thread_id"], ["threads.id"], name=op.f("fk_search_entries_thread_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_search_entries")),
        sa.UniqueConstraint("thread_id", "position", name=op.f("uq_search_entries_thread_id")),
    )
    op.create_table(
        "effects",
        sa.Column("id", sa.String(length=40), nullable=False, comment="prefixed id"),
        sa.Column("run_id", sa.String(length=40), nullable=False, comment="of"),
        sa.Column("ordinal", sa.Integer(), nullable=False, comment="order within the run"),
        sa.Column("step", sa.Integer(), nullable=False, comment="1, 2, 3 … the model turn it belongs to"),
        sa.Column("kind", sa.String(length=10), nullable=False, comment="model | tool"),
        sa.Column(
            "status",
            sa.String(length=12),
            nullable=False,
            comment="allowed | waiting | started | finished | denied | interrupted | cancelled | failed",
        ),
        sa.Column("tool", sa.String(length=80), nullable=True, comment="tool name; null: a model turn"),
        sa.Column("call_id", sa.String(length=120), nullable=True, comment="the model's id of the call"),
        sa.Column("part_id", sa.String(length=40), nullable=True, comment="the part that shows it"),
        sa.Column(
            "arguments",
            sa.Text(),
            nullable=True,
            comment="JSON text the tool is called with (edited arguments replace the model's)",
        ),
        sa.Column(
            "attempt",
            sa.Integer(),
            server_default="0",
            nullable=False,
            comment="the run attempt that started it last",
        ),
        sa.Column(
            "retries", sa.Integer(), server_default="0", nullable=False, comment="transient failures so far"
        ),
        sa.Column(
            "result",
            sa.Text(),
            nullable=True,
            comment="model: the turn as pieces, finish, usage; tool: content, is_error",
        ),
        sa.Column("error", sa.Text(), nullable=True, comment="last failure"),
        sa.Column("usage", sa.Text(), nullable=True, comment="tokens and cost of a model turn"),
        sa.Column(
            "inherited",
            sa.Boolean(),
            server_default=sa.false(),
            nullable=False,
            comment="copied from the run this one continues",
        ),
        sa.Column("created_at", sa.BigInteger(), nullable=False, comment="when it was named"),
        sa.Column("started_at", sa.BigInteger(), nullable=True, comment="first start"),
        sa.Column("ended_at", sa.BigInteger(), nullable=True, comment="null: open"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_effects_run_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_effects")),
        sa.UniqueConstraint("run_id", "ordinal", name=op.f("uq_effects_run_id")),
    )
    op.create_table(
        "approvals",
        sa.Column("id", sa.String(length=40), nullable=False, comment="apr_… or que_…"),
        sa.Column("run_id", sa.String(length=40), nullable=False, comment="of"),
        sa.Column("thread_id", sa.String(length=40), nullable=False, comment="in"),
        sa.Column("effect_id", sa.String(length=40), nullable=False, comment="the tool call"),
        sa.Column("kind", sa.String(length=10), nullable=False, comment="approval | question"),
        sa.Column(
            "status",
            sa.String(length=10),
            nullable=False,
            comment="open | approved | denied | answered | cancelled",
        ),
        sa.Column("tool", sa.String(length=80), nullable=False, comment="tool name"),
        sa.Column(
            "arguments",
            sa.Text(),
            nullable=False,
            comment="the exact arguments (JSON text) the decision is bound to",
        ),
        sa.Column("reason", sa.Text(), server_default="", nullable=False, comment="which policy asked"),
        sa.Column(
            "decision", sa.Text(), nullable=True, comment="reason, edited arguments, remember; or the answers"
        ),
        sa.Column(
            "decided_by",
            sa.String(length=40),
            nullable=True,
            comment="who; null: open, or closed by the run's end",
        ),
        sa.Column("decided_at", sa.BigInteger(), nullable=True, comment="null: open"),
        sa.Column(
            "announced",
            sa.Boolean(),
            server_default=sa.false(),
            nullable=False,
            comment="its resolution stands in the run's log",
        ),
        sa.Column("created_at", sa.BigInteger(), nullable=False, comment="when"),
        sa.ForeignKeyConstraint(
            ["effect_id"], ["effects.id"], name=op.f("fk_approvals_effect_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["run_id"], ["runs.id"], name=op.f("fk_approvals_run_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["thread_id"], ["threads.id"], name=op.f("fk_approvals_thread_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_approvals")),
    )
    op.create_index("ix_approvals_open", "approvals", ["status", "created_at"], unique=False)
    op.create_index(op.f("ix_approvals_run_id"), "approvals", ["run_id"], unique=False)
    op.create_index(op.f("ix_approvals_thread_id"), "approvals", ["thread_id"], unique=False)
