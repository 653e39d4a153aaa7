"""Keep schedules, and what started a run.

Runs: before deploy
"""

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"
TIMERS = (
    "approval_pause | paused_kill | abandon | cancel_force | agent_unknown | step_due | end_children | fold | "
    "clean_up | page_dormant | schedule"
)
SUBJECTS = "the run, effect, step, thread, workspace, page or schedule"


def upgrade() -> None:
    _create_schedules()
    op.add_column(
        "runs",
        sa.Column(
            "trigger",
            sa.Text(),
            comment="what started it: {type: schedule, id, title}; null: a person, a program or another run",
        ),
    )
    if op.get_bind().dialect.name == "postgresql":  # SQLite keeps no comments
        op.execute(f"COMMENT ON COLUMN timers.kind IS '{TIMERS}'")
        op.execute(f"COMMENT ON COLUMN timers.subject_id IS '{SUBJECTS}'")


def _create_schedules() -> None:
    op.create_table(
        "schedules",
        sa.Column("id", sa.String(40), nullable=False, comment="prefixed id"),
        sa.Column("project_id", sa.String(40), nullable=False, comment="in"),
        sa.Column("created_by", sa.String(40), nullable=False, comment="who made it; its runs start as this user"),
        sa.Column(
            "origin", sa.String(10), nullable=False, comment="person | code: of the operator's agents, and follows them"
        ),
        sa.Column("title", sa.Text, nullable=False, comment="shown"),
        sa.Column("agent", sa.String(80), nullable=False, comment="name of the agent"),
        sa.Column("message", sa.Text, nullable=False, comment="what the agent is sent; empty: a flow"),
        sa.Column("model", sa.Text, comment="model id; null: the agent's, or the default"),
        sa.Column("cron", sa.Text, nullable=False, comment="five fields"),
        sa.Column("zone", sa.Text, nullable=False, comment="IANA time zone of the cron expression"),
        sa.Column(
            "on_missed",
            sa.String(10),
            nullable=False,
            comment="missed due times start no run | one run for all of them",
        ),
        sa.Column("thread", sa.String(10), nullable=False, comment="all runs in one thread | each in a new one"),
        sa.Column("enabled", sa.Boolean, nullable=False, server_default=sa.false(), comment="false: paused"),
        sa.Column(
            "next_at", sa.BigInteger, comment="the earliest due time that was not handled; null: paused, or none"
        ),
        sa.Column(
            "put_off",
            sa.Boolean,
            nullable=False,
            server_default=sa.false(),
            comment="a limit keeps the due time waiting, so it is not missed",
        ),
        sa.Column(
            "thread_id", sa.String(40), comment="the one thread of its runs; null: none yet, or each has its own"
        ),
        sa.Column("last_run_id", sa.String(40), comment="the newest run; null: none yet"),
        sa.Column(
            "problem", sa.Text, comment="code, message and hint: why the last due time started no run; null: it did"
        ),
        sa.Column(
            "refused_at",
            sa.BigInteger,
            comment="since then due times are refused, and its maker is notified; null: they are not",
        ),
        sa.Column("seen_at", sa.BigInteger, comment="the maker has read that; null: it waits in the inbox"),
        sa.Column("created_at", sa.BigInteger, nullable=False, comment="when"),
        sa.Column("updated_at", sa.BigInteger, nullable=False, comment="last change by a person, or of the code"),
        sa.PrimaryKeyConstraint("id", name="pk_schedules"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_schedules_project_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["created_by"], ["users.id"], name="fk_schedules_created_by", ondelete="CASCADE"),
    )
    op.create_index("ix_schedules_project", "schedules", ["project_id", "id"])
    op.create_index("ix_schedules_refused", "schedules", ["created_by", "refused_at"])
    of_code = sa.text("origin = 'code'")
    op.create_index(
        "uq_schedules_code", "schedules", ["agent"], unique=True, sqlite_where=of_code, postgresql_where=of_code
    )
