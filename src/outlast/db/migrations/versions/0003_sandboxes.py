"""snapshots, checkpoints, services, uses of secrets, sandboxes made through the E2B surface

Runs: before deploy
"""

import sqlalchemy as sa

from alembic import op

from outlast.db.types import Json, UtcTime

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.create_table(
        "snapshots",
        sa.Column("name", sa.String(length=80), nullable=False, comment="hash of what it was built from"),
        sa.Column("provider", sa.String(length=80), nullable=False, comment="whose sandboxes start from it"),
        sa.Column("state", sa.String(length=80), nullable=False, comment="building | ready | failed"),
        sa.Column(
            "recipe",
            Json(),
            nullable=False,
            comment="sorted dependencies with versions, set-up commands, template",
        ),
        sa.Column(
            "ref",
            sa.Text(),
            server_default="",
            nullable=False,
            comment="how the provider finds it; empty until ready",
        ),
        sa.Column(
            "error",
            sa.Text(),
            nullable=True,
            comment="why the build failed, with the end of its output; null: it did not",
        ),
        sa.Column("size_bytes", sa.BigInteger(), server_default="0", nullable=False, comment="on disk"),
        sa.Column(
            "node_id",
            sa.String(length=40),
            nullable=False,
            comment="the node that built it and holds its files",
        ),
        sa.Column("created_at", UtcTime(), nullable=False, comment="build begun"),
        sa.Column("built_at", UtcTime(), nullable=True, comment="ready or failed; null: building"),
        sa.Column(
            "last_used_at",
            UtcTime(),
            nullable=False,
            comment="a sandbox was last started from it; unused ones are collected",
        ),
        sa.PrimaryKeyConstraint("name", "provider", "node_id", name=op.f("pk_snapshots")),
    )
    op.create_table(
        "secret_uses",
        sa.Column(
            "id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
            comment="running number",
        ),
        sa.Column("project_id", sa.String(length=40), nullable=False, comment="in"),
        sa.Column("sandbox_id", sa.String(length=40), nullable=False, comment="asked for by code in it"),
        sa.Column(
            "user_id",
            sa.String(length=40),
            nullable=True,
            comment="whom the work was done for; null: nobody in particular",
        ),
        sa.Column("secret", sa.String(length=80), nullable=False, comment="its name; the value is nowhere"),
        sa.Column("host", sa.Text(), nullable=False, comment="the host it was sent to"),
        sa.Column("method", sa.String(length=80), nullable=False, comment="of the request"),
        sa.Column("path", sa.Text(), nullable=False, comment="of the request, without its query"),
        sa.Column("status", sa.Integer(), nullable=True, comment="of the answer; null: none came"),
        sa.Column("at", UtcTime(), nullable=False, comment="when"),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_secret_uses_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_secret_uses")),
    )
    op.create_index(op.f("ix_secret_uses_at"), "secret_uses", ["at"], unique=False)
    op.create_index(op.f("ix_secret_uses_project_id"), "secret_uses", ["project_id"], unique=False)
    op.create_index(op.f("ix_secret_uses_sandbox_id"), "secret_uses", ["sandbox_id"], unique=False)
    op.create_table(
        "checkpoints",
        sa.Column("id", sa.String(length=40), nullable=False, comment="prefixed id"),
        sa.Column("workspace_id", sa.String(length=40), nullable=False, comment="whose files"),
        sa.Column("project_id", sa.String(length=40), nullable=False, comment="in"),
        sa.Column(
            "run_id",
            sa.String(length=40),
            nullable=True,
            comment="made in this run; null: by hand or by the life cycle",
        ),
        sa.Column(
            "message_id",
            sa.String(length=40),
            nullable=True,
            comment="the answer it belongs to; null: none yet",
        ),
        sa.Column("effect_id", sa.String(length=40), nullable=True, comment="made after this tool call"),
        sa.Column(
            "parent_id", sa.String(length=40), nullable=True, comment="the workspace's checkpoint before it"
        ),
        sa.Column(
            "reason",
            sa.String(length=80),
            nullable=False,
            comment="tool | message | sleep | fork | restore | person",
        ),
        sa.Column(
            "tree",
            sa.String(length=64),
            nullable=False,
            comment="SHA-256 of its manifest, a blob: path, mode, size, hash",
        ),
        sa.Column("files", sa.BigInteger(), server_default="0", nullable=False, comment="files in it"),
        sa.Column(
            "size_bytes", sa.BigInteger(), server_default="0", nullable=False, comment="sum of their sizes"
        ),
        sa.Column("created_at", UtcTime(), nullable=False, comment="when"),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_checkpoints_project_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id"], ["workspaces.id"], name=op.f("fk_checkpoints_workspace_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_checkpoints")),
    )
    op.create_index(op.f("ix_checkpoints_message_id"), "checkpoints", ["message_id"], unique=False)
    op.create_index(op.f("ix_checkpoints_project_id"), "checkpoints", ["project_id"], unique=False)
    op.create_index(op.f("ix_checkpoints_run_id"), "checkpoints", ["run_id"], unique=False)
    op.create_index(op.f("ix_checkpoints_workspace_id"), "checkpoints", ["workspace_id"], unique=False)
    op.create_table(
        "hosted_sandboxes",
        sa.Column("workspace_id", sa.String(length=40), nullable=False, comment="its files and sandboxes"),
        sa.Column("user_id", sa.String(length=40), nullable=False, comment="made it through the E2B surface"),
        sa.Column(
            "template",
            sa.String(length=80),
            server_default="base",
            nullable=False,
            comment="a snapshot's name or alias",
        ),
        sa.Column("metadata", Json(), nullable=False, comment="the caller's own words"),
        sa.Column("env", Json(), nullable=False, comment="environment of what runs inside"),
        sa.Column(
            "options", Json(), nullable=False, comment="network, life cycle and the like, as asked for"
        ),
        sa.Column("ends_at", UtcTime(), nullable=False, comment="paused or killed then"),
        sa.Column("on_timeout", sa.String(length=80), nullable=False, comment="pause | kill"),
        sa.Column(
            "paused_at", UtcTime(), nullable=True, comment="paused by its caller or at its end; null: it runs"
        ),
        sa.Column(
            "access_token",
            sa.String(length=80),
            nullable=False,
            comment="opens this sandbox alone, for programs that talk to it",
        ),
        sa.Column("created_at", UtcTime(), nullable=False, comment="when"),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_hosted_sandboxes_user_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspaces.id"],
            name=op.f("fk_hosted_sandboxes_workspace_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workspace_id", name=op.f("pk_hosted_sandboxes")),
    )
    op.create_index(op.f("ix_hosted_sandboxes_ends_at"), "hosted_sandboxes", ["ends_at"], unique=False)
    op.create_index(op.f("ix_hosted_sandboxes_user_id"), "hosted_sandboxes", ["user_id"], unique=False)
    op.create_table(
        "hosted_snapshots",
        sa.Column(
            "workspace_id", sa.String(length=40), nullable=False, comment="holds the files, as a checkpoint"
        ),
        sa.Column(
            "source_id", sa.String(length=40), nullable=False, comment="the workspace it was made from"
        ),
        sa.Column(
            "name", sa.String(length=80), nullable=True, comment="the caller's own word for it; null: none"
        ),
        sa.Column(
            "template",
            sa.String(length=80),
            nullable=False,
            comment="a snapshot's name or alias, as its source had it",
        ),
        sa.Column("created_at", UtcTime(), nullable=False, comment="when"),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspaces.id"],
            name=op.f("fk_hosted_snapshots_workspace_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workspace_id", name=op.f("pk_hosted_snapshots")),
    )
    op.create_index(op.f("ix_hosted_snapshots_source_id"), "hosted_snapshots", ["source_id"], unique=False)
    op.create_table(
        "services",
        sa.Column("workspace_id", sa.String(length=40), nullable=False, comment="runs in it"),
        sa.Column("name", sa.String(length=40), nullable=False, comment="unique in the workspace"),
        sa.Column("command", sa.Text(), nullable=False, comment="shell command that stays running"),
        sa.Column("port", sa.Integer(), nullable=False, comment="where it listens"),
        sa.Column(
            "health_path",
            sa.Text(),
            nullable=False,
            comment="answers below 500 once it is up; empty: a connection is enough",
        ),
        sa.Column(
            "state", sa.String(length=80), nullable=False, comment="stopped | starting | healthy | failed"
        ),
        sa.Column("error", sa.Text(), nullable=True, comment="why it failed, with the end of its output"),
        sa.Column(
            "restarts", sa.Integer(), server_default="0", nullable=False, comment="since it was declared"
        ),
        sa.Column("created_at", UtcTime(), nullable=False, comment="declared"),
        sa.Column("changed_at", UtcTime(), nullable=False, comment="state last changed"),
        sa.ForeignKeyConstraint(
            ["workspace_id"], ["workspaces.id"], name=op.f("fk_services_workspace_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("workspace_id", "name", name=op.f("pk_services")),
    )
    op.create_table(
        "preview_grants",
        sa.Column("hash", sa.String(length=64), nullable=False, comment="of the ticket or cookie"),
        sa.Column("kind", sa.String(length=80), nullable=False, comment="ticket (one use) | cookie"),
        sa.Column("workspace_id", sa.String(length=40), nullable=False, comment="whose port is shown"),
        sa.Column("port", sa.Integer(), nullable=False, comment="inside"),
        sa.Column("user_id", sa.String(length=40), nullable=False, comment="who may see it"),
        sa.Column(
            "via",
            sa.String(length=80),
            nullable=False,
            comment="local | token | session: how they were signed in",
        ),
        sa.Column(
            "token_id",
            sa.String(length=40),
            nullable=True,
            comment="ends with this token; null: not from one",
        ),
        sa.Column(
            "session_hash",
            sa.String(length=64),
            nullable=True,
            comment="ends with this session; null: not from one",
        ),
        sa.Column(
            "opener",
            sa.Text(),
            nullable=False,
            comment="origin of the page that may show it in a frame; empty: none",
        ),
        sa.Column("created_at", UtcTime(), nullable=False, comment="when"),
        sa.Column("expires_at", UtcTime(), nullable=False, comment="good until then"),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_preview_grants_user_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspaces.id"],
            name=op.f("fk_preview_grants_workspace_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("hash", name=op.f("pk_preview_grants")),
    )
    op.create_index(op.f("ix_preview_grants_expires_at"), "preview_grants", ["expires_at"], unique=False)
    op.create_table(
        "packed_files",
        sa.Column("hash", sa.String(length=64), nullable=False, comment="SHA-256 of a small file's content"),
        sa.Column("blob", sa.String(length=64), nullable=False, comment="the blob that it is a part of"),
        sa.Column("offset", sa.BigInteger(), nullable=False, comment="where in the blob it begins"),
        sa.PrimaryKeyConstraint("hash", name=op.f("pk_packed_files")),
    )
    op.create_index(op.f("ix_packed_files_blob"), "packed_files", ["blob"], unique=False)
    op.add_column(
        "sandboxes",
        sa.Column(
            "snapshot",
            sa.String(length=80),
            nullable=True,
            comment="what it was started from; null: the bare base",
        ),
    )
    op.add_column(
        "sandboxes",
        sa.Column(
            "restarted_at",
            UtcTime(),
            nullable=True,
            comment="last started again after a stop; null: never",
        ),
    )
    op.add_column(
        "workspaces",
        sa.Column(
            "checkpoint_id",
            sa.String(length=40),
            nullable=True,
            comment="the newest checkpoint; null: none yet",
        ),
    )
    op.add_column(
        "workspaces",
        sa.Column(
            "changed_at",
            UtcTime(),
            nullable=True,
            comment="files may have changed since then and are not in a checkpoint; null: all are",
        ),
    )
    op.add_column(
        "workspaces",
        sa.Column(
            "evicted_at",
            UtcTime(),
            nullable=True,
            comment="its files lie nowhere but in the checkpoint; null: they lie on its node",
        ),
    )
    op.add_column(
        "workspaces",
        sa.Column(
            "node_id",
            sa.String(length=40),
            nullable=True,
            comment="the node whose disk holds its files; null: not noted yet",
        ),
    )
    if op.get_bind().dialect.name == "postgresql":  # SQLite keeps no comments
        op.alter_column("workspaces", "owner_type", comment="thread | screen | page | api")
