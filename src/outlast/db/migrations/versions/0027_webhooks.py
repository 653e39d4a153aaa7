"""Keep webhooks of projects, the events that are sent to them, and addresses at which other programs start runs.

Runs: before deploy
"""

import sqlalchemy as sa
from alembic import op

from outlast.db.columns import Json, UtcTime

revision = "0027"
down_revision = "0026"


def upgrade() -> None:
    op.create_table(
        "webhooks",
        sa.Column("id", sa.String(40), nullable=False, comment="prefixed id"),
        sa.Column("project_id", sa.String(40), nullable=False, comment="of"),
        sa.Column("title", sa.Text, nullable=False, server_default="", comment="shown; empty: the host of its address"),
        sa.Column("url", sa.Text, nullable=False, comment="where its events are sent"),
        sa.Column("events", Json, nullable=False, comment="names of the events that are sent"),
        sa.Column("enabled", sa.Boolean, nullable=False, comment="events are sent"),
        sa.Column("stopped_because", sa.Text, comment="why the server turned it off; null: it did not"),
        sa.Column("secret", sa.Text, nullable=False, comment="sealed; signs its requests"),
        sa.Column("old_secret", sa.Text, comment="sealed; the one before, which signs too for a day"),
        sa.Column("old_secret_until", UtcTime, comment="when the old secret ends"),
        sa.Column("created_by", sa.String(40), nullable=False, comment="who made it"),
        sa.Column("created_at", UtcTime, nullable=False, comment="when"),
        sa.PrimaryKeyConstraint("id", name="pk_webhooks"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_webhooks_project_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["created_by"], ["users.id"], name="fk_webhooks_created_by", ondelete="CASCADE"),
    )
    op.create_index("ix_webhooks_project_id", "webhooks", ["project_id"])
    op.create_table(
        "webhook_deliveries",
        sa.Column("id", sa.String(40), nullable=False, comment="prefixed id; the header webhook-id"),
        sa.Column("webhook_id", sa.String(40), nullable=False, comment="to"),
        sa.Column("event", sa.String(80), nullable=False, comment="name of the event"),
        sa.Column(
            "about",
            sa.String(40),
            nullable=False,
            comment="what the event is about: deliveries about one thing are sent in order",
        ),
        sa.Column("seq", sa.BigInteger, nullable=False, comment="number of the event in its log"),
        sa.Column("body", sa.Text, nullable=False, comment="what is sent, as JSON"),
        sa.Column("state", sa.String(80), nullable=False, comment="pending | delivered | dead"),
        sa.Column("tries", sa.BigInteger, nullable=False, server_default="0", comment="requests that were begun"),
        sa.Column(
            "tried_since", UtcTime, nullable=False, comment="the day of tries began then: when it was made or replayed"
        ),
        sa.Column("claimed", sa.Boolean, nullable=False, server_default=sa.false(), comment="a server sends it now"),
        sa.Column("due_at", UtcTime, comment="next try, or when the claim for one lapses; null: not pending"),
        sa.Column("last_status", sa.Integer, comment="HTTP status of the last answer; null: there was none"),
        sa.Column("reason", sa.Text, comment="why the last try failed"),
        sa.Column("created_at", UtcTime, nullable=False, comment="when"),
        sa.Column("ended_at", UtcTime, comment="delivered or given up; null: pending"),
        sa.Column("kept_until", UtcTime, comment="removed then; null: pending"),
        sa.PrimaryKeyConstraint("id", name="pk_webhook_deliveries"),
        sa.ForeignKeyConstraint(
            ["webhook_id"], ["webhooks.id"], name="fk_webhook_deliveries_webhook_id", ondelete="CASCADE"
        ),
    )
    for name, columns in (
        ("ix_webhook_deliveries_due_at", ["due_at"]),
        ("ix_webhook_deliveries_kept_until", ["kept_until"]),
        ("ix_webhook_deliveries_order", ["webhook_id", "about", "state", "seq"]),
        ("ix_webhook_deliveries_list", ["webhook_id", "id"]),
        ("ix_webhook_deliveries_states", ["webhook_id", "state", "id"]),
    ):
        op.create_index(name, "webhook_deliveries", columns)
    op.create_table(
        "hooks",
        sa.Column("id", sa.String(40), nullable=False, comment="prefixed id"),
        sa.Column("project_id", sa.String(40), nullable=False, comment="of"),
        sa.Column("title", sa.Text, nullable=False, comment="shown"),
        sa.Column("enabled", sa.Boolean, nullable=False, comment="calls start runs"),
        sa.Column("profile", sa.String(80), nullable=False, comment="name of the agent that answers"),
        sa.Column(
            "thread",
            sa.String(80),
            nullable=False,
            comment="new | same: each call gets a thread of its own, or all share one",
        ),
        sa.Column("thread_id", sa.String(40), comment="the thread that calls share; null: none yet"),
        sa.Column("template", sa.Text, nullable=False, comment="the message, with {{ paths }} into the body"),
        sa.Column("secret", sa.Text, nullable=False, comment="sealed; calls prove that they know it"),
        sa.Column(
            "created_by",
            sa.String(40),
            nullable=False,
            comment="who made it, or changed what it does: runs are started as this user",
        ),
        sa.Column("created_at", UtcTime, nullable=False, comment="when"),
        sa.PrimaryKeyConstraint("id", name="pk_hooks"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_hooks_project_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["created_by"], ["users.id"], name="fk_hooks_created_by", ondelete="CASCADE"),
    )
    op.create_index("ix_hooks_project_id", "hooks", ["project_id"])
    op.create_table(
        "hook_calls",
        sa.Column("id", sa.String(40), nullable=False, comment="prefixed id"),
        sa.Column("hook_id", sa.String(40), nullable=False, comment="of"),
        sa.Column("sender_id", sa.String(200), nullable=False, comment="the sender's own id of the call; empty: none"),
        sa.Column("run_id", sa.String(40), comment="the run that it started; null: refused"),
        sa.Column("thread_id", sa.String(40), comment="the thread of the run"),
        sa.Column("code", sa.String(80), comment="code of the error; null: it started a run"),
        sa.Column("reason", sa.Text, comment="why it was refused; null: it was not"),
        sa.Column("created_at", UtcTime, nullable=False, comment="when"),
        sa.PrimaryKeyConstraint("id", name="pk_hook_calls"),
        sa.ForeignKeyConstraint(["hook_id"], ["hooks.id"], name="fk_hook_calls_hook_id", ondelete="CASCADE"),
    )
    op.create_index("ix_hook_calls_list", "hook_calls", ["hook_id", "id"])
    op.create_index("ix_hook_calls_rate", "hook_calls", ["hook_id", "created_at"])
