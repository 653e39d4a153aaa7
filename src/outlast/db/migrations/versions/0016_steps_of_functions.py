"""Add the steps of flows and tools, threads of runs that they start, and the version of a tool that asks.

Runs: before deploy
"""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"

_COMMENTS = {
    ("effects", "ordinal"): "order within the run; negative: a message",
    ("effects", "step"): "1, 2, 3 … the model turn it belongs to or follows",
    ("effects", "result"): "model: the turn as pieces, finish, usage; tool: content, is_error; message: message_id",
    ("messages", "run_id"): "of an answer: the run that made it; else the run that it was sent to",
    ("runs", "waiting_for"): "approval | answer | run | time while parked",
    (
        "runs",
        "leg",
    ): "blocked: behind another run | ready: to be claimed | held: by a worker | parked: waits for a person, "
    "another run or a time | ended",
    ("effects", "kind"): "model | tool | prepare | check | flow | ask",
    (
        "effects",
        "status",
    ): "allowed | waiting | started | parked | finished | denied | interrupted | cancelled | failed",
    (
        "timers",
        "kind",
    ): "approval_pause | paused_kill | abandon | cancel_force | step_due | end_children | fold | clean_up | "
    "page_dormant",
    ("timers", "subject_id"): "the run, effect, step, thread, workspace or page",
}


def upgrade() -> None:
    op.create_table(
        "function_steps",
        sa.Column("id", sa.String(40), primary_key=True, comment="prefixed id"),
        _ref("run_id", "runs", "of"),
        _ref("effect_id", "effects", "the flow, or the call of a tool, whose function asked for it"),
        sa.Column(
            "path",
            sa.String(200),
            nullable=False,
            comment="which call of the function: 0, 1, 2 …; in the second branch of a gather that is the fifth call: 4.1.0",
        ),
        sa.Column(
            "name",
            sa.Text,
            nullable=False,
            comment="the name that the function gave it; another name at this place stops the run",
        ),
        sa.Column("kind", sa.String(10), nullable=False, comment="step | run | ask | sleep"),
        sa.Column("status", sa.String(10), nullable=False, comment="waiting | finished | failed"),
        sa.Column(
            "attempt", sa.Integer, nullable=False, server_default="0", comment="the run attempt that recorded it"
        ),
        sa.Column("result", sa.Text, comment="JSON text of its value; null while it waits, or if it lies in a blob"),
        sa.Column("blob", sa.String(64), comment="a value that is too long for the row"),
        sa.Column("error", sa.Text, comment="kind and message of its failure"),
        sa.Column(
            "waits_for", sa.String(40), comment="the run, or the effect of the question, that it waits for", index=True
        ),
        sa.Column("part_id", sa.String(40), comment="the part that shows the run"),
        sa.Column(
            "announced", sa.Boolean, nullable=False, server_default=sa.false(), comment="the end of the run is shown"
        ),
        sa.Column("created_at", sa.BigInteger, nullable=False, comment="when"),
        sa.Column("ended_at", sa.BigInteger, comment="null while it waits"),
        sa.UniqueConstraint("effect_id", "path", name="uq_function_steps_effect_id"),
    )
    op.create_index("ix_function_steps_run", "function_steps", ["run_id", "attempt"])
    op.add_column(
        "runs",
        sa.Column("step_id", sa.String(40), comment="the step of another run's function that waits for it; null: none"),
    )
    op.add_column(
        "approvals", sa.Column("tool_version", sa.String(64), comment="of the tool that asked; null if it has none")
    )
    op.add_column(
        "threads",
        sa.Column(
            "caller_run_id", sa.String(40), comment="the run whose function started it, and that shows it; null: none"
        ),
    )
    op.create_index("ix_threads_caller_run_id", "threads", ["caller_run_id"])
    if op.get_bind().dialect.name == "postgresql":
        for (table, column), comment in _COMMENTS.items():
            op.alter_column(table, column, comment=comment)


def _ref(name: str, target: str, comment: str) -> sa.Column[str]:
    foreign = sa.ForeignKey(f"{target}.id", ondelete="CASCADE", name=f"fk_function_steps_{name}")
    return sa.Column(name, sa.String(40), foreign, nullable=False, comment=comment)
