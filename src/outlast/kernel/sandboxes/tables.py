"""Workspaces, sandboxes, checkpoints, services and snapshots."""

import sqlalchemy as sa

from outlast.db.columns import choice, count, flag, json, metadata, moment, own_id, ref, text, word

workspaces = sa.Table(
    "workspaces",
    metadata,
    own_id(),
    ref("project_id", "projects", "in", nullable=False, index=True),
    sa.Column("owner_type", sa.String(10), nullable=False, comment="thread | screen | page | api"),
    sa.Column("owner_id", sa.String(40), nullable=False, comment="which"),
    word("template", "the app template of its first files and its packages; null if none"),
    moment("created_at", "when", nullable=False),
    moment("last_used_at", "last tool call or visit", nullable=False),
    sa.Column("checkpoint_id", sa.String(40), comment="the newest checkpoint; null if there is none yet"),
    moment("changed_at", "files may have changed since then and are not in a checkpoint; null if all are"),
    moment("evicted_at", "its files are only in the checkpoint since then; null if they are on its node"),
    sa.Column("node_id", sa.String(40), comment="the node whose disk holds its files; null if not noted yet"),
    word("host", "the machine or service that its newest sandbox is on"),
    count("fence", "number of the newest start in it: what was started with a lower one is out of date"),
    sa.UniqueConstraint("owner_type", "owner_id"),
)

sandboxes = sa.Table(
    "sandboxes",
    metadata,
    own_id(),
    ref("workspace_id", "workspaces", "runs its files", nullable=False, index=True),
    ref("project_id", "projects", "in", nullable=False, index=True),
    word("provider", "local | …", nullable=False),
    text("ref", "how the provider finds it again", nullable=False, server_default=""),
    sa.Column(
        "state", sa.String(10), nullable=False, comment="creating | ready | pausing | paused | resuming | lost | killed"
    ),
    sa.Column("pause_kind", sa.String(10), comment="frozen | stopped while paused"),
    sa.Column("node_id", sa.String(40), comment="the node whose machine it runs on; null if all nodes reach it"),
    sa.Column("snapshot", sa.String(80), comment="the snapshot that it was started from; null for the bare base"),
    moment("created_at", "when", nullable=False),
    moment("last_used_at", "last command, file access or visit", nullable=False),
    moment("restarted_at", "last started again after a stop; null if never"),
    moment("ended_at", "lost or killed; null while it lives"),
    count("fence", "number of its start"),
)

sandbox_leases = sa.Table(
    "sandbox_leases",
    metadata,
    word("name", "step:WORKSPACE | attend:WORKSPACE | a task's name", primary_key=True),
    sa.Column("node_id", sa.String(40), nullable=False, comment="the server that alone may do it"),
    moment("until", "then any server may", nullable=False),
)

snapshots = sa.Table(
    "snapshots",
    metadata,
    sa.Column("name", sa.String(80), primary_key=True, comment="hash of its recipe"),
    sa.Column("provider", sa.String(80), primary_key=True, comment="the provider whose sandboxes start from it"),
    word("state", "building | ready | failed", nullable=False),
    json("recipe", "sorted dependencies with versions, set-up commands, template", nullable=False),
    text("ref", "how the provider finds it; empty until ready", nullable=False, server_default=""),
    text("error", "reason of the failed build, with the end of its output; null if it did not fail"),
    count("size_bytes", "on disk"),
    sa.Column("node_id", sa.String(40), primary_key=True, comment="the node that built it and holds its files"),
    moment("created_at", "build begun", nullable=False),
    moment("built_at", "ready or failed; null while building"),
    moment("last_used_at", "a sandbox was last started from it; unused ones are collected", nullable=False),
)

checkpoints = sa.Table(
    "checkpoints",
    metadata,
    own_id(),
    ref("workspace_id", "workspaces", "the workspace of the files", nullable=False, index=True),
    ref("project_id", "projects", "in", nullable=False, index=True),
    sa.Column("run_id", sa.String(40), index=True, comment="made in this run; null if by a user or by the life cycle"),
    sa.Column("message_id", sa.String(40), index=True, comment="the answer it belongs to; null if none yet"),
    sa.Column("effect_id", sa.String(40), comment="made after this tool call"),
    sa.Column("parent_id", sa.String(40), comment="the workspace's checkpoint before it"),
    choice("reason", ["tool", "message", "sleep", "fork", "restore", "person", "template"]),
    sa.Column("tree", sa.String(64), nullable=False, comment="SHA-256 of its manifest, a blob: path, mode, size, hash"),
    count("files", "files in it"),
    count("size_bytes", "sum of their sizes"),
    moment("created_at", "when", nullable=False),
)

packed_files = sa.Table(
    "packed_files",
    metadata,
    sa.Column("hash", sa.String(64), primary_key=True, comment="SHA-256 of a small file's content"),
    sa.Column("blob", sa.String(64), nullable=False, index=True, comment="the blob that it is a part of"),
    sa.Column("offset", sa.BigInteger, nullable=False, comment="offset of its first byte in the blob"),
)

services = sa.Table(
    "services",
    metadata,
    ref("workspace_id", "workspaces", "runs in it", nullable=False, primary_key=True),
    sa.Column("name", sa.String(40), primary_key=True, comment="unique in the workspace"),
    text("command", "shell command that stays running", nullable=False),
    sa.Column("port", sa.Integer, nullable=False, comment="the port that it listens on"),
    text("health_path", "answers below 500 once it is up; empty if a connection is enough", nullable=False),
    choice("state", ["stopped", "starting", "healthy", "failed"]),
    text("error", "reason of its failure, with the end of its output"),
    sa.Column("restarts", sa.Integer, nullable=False, server_default="0", comment="since it was declared"),
    moment("created_at", "declared", nullable=False),
    moment("changed_at", "state last changed", nullable=False),
)

secret_uses = sa.Table(
    "secret_uses",
    metadata,
    sa.Column("id", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True, comment="running number"),
    ref("project_id", "projects", "in", nullable=False, index=True),
    sa.Column(
        "sandbox_id",
        sa.String(40),
        nullable=False,
        index=True,
        comment="the sandbox that sent the request; empty: a call of an MCP server did",
    ),
    word("mcp_server", "the MCP server that was called; null: a sandbox sent the request"),
    sa.Column("user_id", sa.String(40), comment="the user of the run; null if there is none"),
    word("secret", "its name; empty: the user's account; the value is never stored", nullable=False),
    text("host", "the host it was sent to", nullable=False),
    word("method", "of the request", nullable=False),
    text("path", "of the request, without its query", nullable=False),
    sa.Column("status", sa.Integer, comment="of the answer; null if none came"),
    moment("at", "when", nullable=False, index=True),
    flag("is_own", "the secret, or the MCP server whose account it was, is the user's own: no one else sees the line"),
)

hosted_sandboxes = sa.Table(
    "hosted_sandboxes",
    metadata,
    ref("workspace_id", "workspaces", "its files and sandboxes", nullable=False, primary_key=True),
    ref("user_id", "users", "made it through the E2B surface", nullable=False, index=True),
    word("template", "a snapshot's name or alias", nullable=False, server_default="base"),
    json("metadata", "the caller's own metadata", nullable=False),
    json("env", "environment of its processes", nullable=False),
    json("options", "network, life cycle and similar options of the request", nullable=False),
    moment("ends_at", "paused or killed then", nullable=False, index=True),
    choice("on_timeout", ["pause", "kill"]),
    moment("paused_at", "paused by its caller or at its end; null while it runs"),
    word("access_token", "opens only this sandbox, for programs that connect to it", nullable=False),
    moment("created_at", "when", nullable=False),
)

hosted_snapshots = sa.Table(
    "hosted_snapshots",
    metadata,
    ref("workspace_id", "workspaces", "holds the files, as a checkpoint", nullable=False, primary_key=True),
    sa.Column("source_id", sa.String(40), nullable=False, index=True, comment="the workspace it was made from"),
    word("name", "the caller's own name for it; null if none"),
    word("template", "a snapshot's name or alias, as its source had it", nullable=False),
    moment("created_at", "when", nullable=False),
)
