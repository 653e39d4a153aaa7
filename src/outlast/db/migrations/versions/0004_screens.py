"""screens; workspaces begin from a template

Runs: before deploy
"""

import sqlalchemy as sa

from alembic import op

from outlast.db.types import Json, UtcTime

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.add_column(
        "workspaces",
        sa.Column(
            "template",
            sa.String(length=80),
            nullable=True,
            comment="the app template its files began as and its packages come from; null: none",
        ),
    )
    op.create_table(
        "screens",
        sa.Column("id", sa.String(length=40), nullable=False, comment="prefixed id"),
        sa.Column("project_id", sa.String(length=40), nullable=False, comment="on whose canvas"),
        sa.Column(
            "thread_id", sa.String(length=40), nullable=False, comment="the conversation that builds it"
        ),
        sa.Column("workspace_id", sa.String(length=40), nullable=False, comment="holds its files"),
        sa.Column("title", sa.Text(), nullable=False, comment="shown above it"),
        sa.Column(
            "named",
            sa.Boolean(),
            server_default=sa.false(),
            nullable=False,
            comment="a person chose the title, so the agent's is not taken",
        ),
        sa.Column(
            "template", sa.String(length=80), nullable=False, comment="what its app began as: next | vite"
        ),
        sa.Column("theme", sa.String(length=80), nullable=False, comment="id of its theme, or custom"),
        sa.Column(
            "theme_tokens",
            Json(),
            nullable=True,
            comment="a custom theme's tokens: {light: {name: colour}, dark: {…}}; null: a named theme",
        ),
        sa.Column("x", sa.Integer(), nullable=False, comment="left edge on the canvas, CSS pixels"),
        sa.Column("y", sa.Integer(), nullable=False, comment="top edge, downwards"),
        sa.Column("width", sa.Integer(), nullable=False, comment="of its frame"),
        sa.Column("height", sa.Integer(), nullable=False, comment="of its frame"),
        sa.Column(
            "files",
            Json(),
            nullable=False,
            comment="what the agent said of its files: list of {path, description}",
        ),
        sa.Column(
            "problems",
            Json(),
            nullable=False,
            comment="what is wrong with it since its last run; empty: nothing known",
        ),
        sa.Column(
            "trouble",
            sa.Text(),
            nullable=True,
            comment="why its sandbox could not be had when it was last opened; null: it could, or nobody has",
        ),
        sa.Column(
            "picture_id",
            sa.String(length=40),
            nullable=True,
            comment="the attachment with its last screenshot; null: none yet",
        ),
        sa.Column("pictured_at", UtcTime(), nullable=True, comment="when that was taken"),
        sa.Column("created_by", sa.String(length=40), nullable=False, comment="who"),
        sa.Column("created_at", UtcTime(), nullable=False, comment="when"),
        sa.Column("updated_at", UtcTime(), nullable=False, comment="last change of the row, moves included"),
        sa.ForeignKeyConstraint(
            ["created_by"], ["users.id"], name=op.f("fk_screens_created_by"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_screens_project_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["thread_id"], ["threads.id"], name=op.f("fk_screens_thread_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_screens")),
        sa.UniqueConstraint("thread_id", name=op.f("uq_screens_thread_id")),
        sa.UniqueConstraint("workspace_id", name=op.f("uq_screens_workspace_id")),
    )
    op.create_index(op.f("ix_screens_project_id"), "screens", ["project_id"], unique=False)
    op.create_index(op.f("ix_threads_workspace_id"), "threads", ["workspace_id"], unique=False)
    if op.get_bind().dialect.name == "postgresql":  # SQLite keeps no comments
        op.alter_column("effects", "kind", comment="model | tool | prepare | check")
        reasons = "tool | message | sleep | fork | restore | person | template"
        op.alter_column("checkpoints", "reason", comment=reasons)
