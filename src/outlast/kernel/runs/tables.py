"""Runs, their effects, approvals and questions, and the timers of all rooms."""

from typing import Final, Literal, get_args

import sqlalchemy as sa

from outlast.db.columns import (
    blob,
    choice,
    count,
    flag,
    json,
    metadata,
    moment,
    own_id,
    partial_index,
    ref,
    soft_ref,
    text,
    word,
)
from outlast.db.lock_order import Place, locked_as
from outlast.kernel.runs.rules import TRANSITIONS

grants = sa.Table(
    "grants",
    metadata,
    own_id(),
    ref("thread_id", "threads", "the thread that it holds for", nullable=False, index=True),
    word("tool", "tool name", nullable=False),
    text("arguments", "glob over the canonical arguments that are allowed without asking", nullable=False),
    ref("created_by", "users", "who approved", nullable=False),
    moment("created_at", "when", nullable=False),
)

runs = sa.Table(
    "runs",
    metadata,
    own_id(),
    ref("project_id", "projects", "in", nullable=False),
    ref("thread_id", "threads", "in", nullable=False),
    sa.Column("workspace_id", sa.String(40), comment="where it works; null until the first use"),
    word("profile", "agent profile", nullable=False),
    text("model", "model id", nullable=False),
    text("instructions", "those of the project when the run was started", nullable=False, server_default=""),
    sa.Column(
        "message_id", sa.String(40), nullable=False, comment="the user message it answers; its context ends there"
    ),
    sa.Column(
        "answer_id", sa.String(40), comment="the saved answer; null until the run has ended, or if none was made"
    ),
    sa.Column("parent_run_id", sa.String(40), comment="retried, continued or handed over from"),
    sa.Column("mode", sa.String(10), nullable=False, comment="start | retry | continue | handoff"),
    sa.Column("step_id", sa.String(40), comment="the step of another run's function that waits for it; null: none"),
    sa.Column("after_run_id", sa.String(40), index=True, comment="queued behind this run; null if it is not queued"),
    ref("started_by", "users", "who started and pays", nullable=False),
    json("trigger", "what started it: {type: schedule, id, title}; null: a person, a program or another run"),
    choice("status", list(TRANSITIONS), chars=20),
    sa.Column(
        "leg",
        sa.String(10),
        nullable=False,
        comment="blocked: behind another run | ready: to be claimed | held: by a worker | parked: waits "
        "for a person, another run or a time | ended",
    ),
    sa.Column("waiting_for", sa.String(10), comment="approval | answer | run | time while parked"),
    sa.Column(
        "stop_reason",
        sa.String(20),
        comment="end | length | steps | handed_over | user | abandoned | credits | policy | provider | sandbox | "
        "problems | superseded | flow | changed",
    ),
    json("problems", "what is wrong with a run completed with problems", nullable=False),
    json("error", "code, message, hint"),
    count("attempt", "the fence: raised at each claim; writes naming an older one are refused", kind=sa.Integer),
    sa.Column("owner", sa.String(40), comment="the node that holds the lease"),
    moment("lease_until", "the lease lapses then"),
    count("deaths", "attempts in a row whose process died before they recorded a result; from 2 on a suspect"),
    sa.Column("died_attempt", sa.Integer, comment="the attempt counted last in deaths; null if none"),
    moment("ready_at", "not claimed before this time; null if it is ready at once"),
    count("seq_saved", "last number saved in its log"),
    count("seq_reserved", "no number above this has been sent to a client"),
    moment("cancel_requested_at", "durable cancel flag; null if not cancelled"),
    sa.Column("cancelled_by", sa.String(40), comment="the user who cancelled first"),
    sa.Column("cancel_reason", sa.String(20), comment="user | abandoned | superseded"),
    moment("unwatched_since", "running without a follower since then; null if it has a follower, or waits for a user"),
    moment("paused_at", "since when the run is paused"),
    count("input_tokens", "sum over its model turns"),
    count("output_tokens", "sum over its model turns"),
    count("cached_tokens", "part of the input that the provider had cached"),
    count("reasoning_tokens", "part of the output"),
    sa.Column("cost_usd", sa.Float, comment="sum of the known costs; null if unknown"),
    sa.Column("credits", sa.Integer, nullable=False, comment="reserved at the start, settled at the end"),
    moment("created_at", "time of the request", nullable=False),
    moment("started_at", "first claim"),
    moment("ended_at", "null if it has not ended"),
    flag("cleaned", "its raw records (effects, log) were removed after the retention time"),
    sa.Index("ix_runs_claim", "leg", "ready_at", "created_at"),
    sa.Index("ix_runs_list", "project_id", "created_at"),
    sa.Index("ix_runs_newest", "project_id", "id"),
    sa.Index("ix_runs_thread", "thread_id", "leg"),
    sa.Index("ix_runs_user", "started_by", "created_at"),
    sa.Index("ix_runs_workspace", "workspace_id", "leg"),
    info=locked_as(Place.RUN),
)
IS_OPEN: Final = sa.or_(*(runs.c.leg == leg for leg in ("blocked", "ready", "held", "parked")))
"""The run has not ended. A thread's open runs are found without reading those that have ended (`ix_runs_thread`)."""

active_run_index = partial_index(
    "uq_runs_one_active", runs.c.thread_id, where=runs.c.leg.in_(["ready", "held", "parked"])
)

effects = sa.Table(
    "effects",
    metadata,
    own_id(),
    ref("run_id", "runs", "of", nullable=False),
    sa.Column("ordinal", sa.Integer, nullable=False, comment="order within the run; negative: a message"),
    sa.Column("step", sa.Integer, nullable=False, comment="1, 2, 3 … the model turn it belongs to or follows"),
    choice("kind", ["model", "tool", "prepare", "check", "flow", "ask", "compaction", "message"], chars=10),
    sa.Column(
        "status",
        sa.String(12),
        nullable=False,
        comment="allowed | waiting | started | parked | deferred | finished | denied | interrupted | cancelled | "
        "failed",
    ),
    word("tool", "tool name; null: a model turn"),
    sa.Column("call_id", sa.String(120), comment="the model's id of the call"),
    sa.Column("part_id", sa.String(40), comment="the part that shows it"),
    text("arguments", "JSON text the tool is called with (edited arguments replace the model's)"),
    count("attempt", "the run attempt that started it last", kind=sa.Integer),
    count("retries", "transient failures so far", kind=sa.Integer),
    json("result", "model: the turn as pieces, finish, usage; tool: content, is_error; message: message_id"),
    json("error", "last failure"),
    json("usage", "tokens and cost of a model turn"),
    flag("inherited", "copied from the run this one continues"),
    moment("created_at", "when it was named", nullable=False),
    moment("started_at", "first start"),
    moment("ended_at", "null if open"),
    sa.UniqueConstraint("run_id", "ordinal"),
)

StepKind = Literal["step", "run", "ask", "sleep", "state", "sandbox", "file"]

function_steps = sa.Table(
    "function_steps",
    metadata,
    own_id(),
    ref("run_id", "runs", "of", nullable=False),
    ref("effect_id", "effects", "the flow, or the call of a tool, whose function asked for it", nullable=False),
    sa.Column(
        "path",
        sa.String(200),
        nullable=False,
        comment="which call of the function: 0, 1, 2 …; in the second branch of a gather that is the fifth call: 4.1.0",
    ),
    text("name", "the name that the function gave it; another name at this place stops the run", nullable=False),
    choice("kind", get_args(StepKind), chars=10),
    choice("status", ["waiting", "finished", "failed"], chars=10),
    count("attempt", "the run attempt that recorded it", kind=sa.Integer),
    text("result", "JSON text of its value; null while it waits, or if it lies in a blob"),
    blob("blob", "a value that is too long for the row"),
    json("error", "kind and message of its failure"),
    soft_ref("waits_for", "the run, or the effect of the question, that it waits for", index=True),
    soft_ref("part_id", "the part that shows the run"),
    flag("announced", "the end of the run is shown"),
    moment("created_at", "when", nullable=False),
    moment("ended_at", "null while it waits"),
    sa.UniqueConstraint("effect_id", "path"),
    sa.Index("ix_function_steps_run", "run_id", "attempt"),
)

approvals = sa.Table(
    "approvals",
    metadata,
    own_id("apr_… or que_…"),
    ref("run_id", "runs", "of", nullable=False),
    ref("thread_id", "threads", "in", nullable=False, index=True),
    ref("effect_id", "effects", "the tool call", nullable=False),
    choice("kind", ["approval", "question"], chars=10),
    sa.Column("status", sa.String(10), nullable=False, comment="open | approved | denied | answered | cancelled"),
    word("tool", "tool name", nullable=False),
    text("arguments", "the exact arguments (JSON text) the decision is bound to", nullable=False),
    text("reason", "which policy asked", nullable=False, server_default=""),
    sa.Column("tool_version", sa.String(64), comment="of the tool that asked; null if it has none"),
    json("decision", "reason, edited arguments, remember; or the answers"),
    sa.Column("decided_by", sa.String(40), comment="the deciding user; null if open, or closed by the run's end"),
    moment("decided_at", "null if open"),
    flag("announced", "its resolution is in the run's log"),
    moment("created_at", "when", nullable=False),
    sa.Index("ix_approvals_open", "status", "created_at"),
    sa.Index("ix_approvals_run", "run_id", "status"),
)

TimerKind = Literal[
    "approval_pause",  # a run waits for a person: freeze its sandbox, show it as paused
    "paused_kill",  # a run has been paused for a day: kill its sandbox, keep the files
    "abandon",  # a run works without a follower
    "cancel_force",  # a cancel that no worker confirmed
    "agent_unknown",  # a queued run waits for a server that has its agent
    "step_due",  # a step of a function has what it waited for: its run goes on
    "end_children",  # a function ended while runs that it had started were at work
    "fold",  # a run ended a while ago: fold its deltas
    "clean_up",  # the retention time of a run's raw records is over
    "page_dormant",  # a page was not used for a while
    "schedule",  # a schedule comes due
    "account_connected",  # a person connected the account that a question asked for
    "mcp_task",  # a call goes on as a task of an MCP server: end the task if the run has ended
]

timers = sa.Table(
    "timers",
    metadata,
    choice(
        "kind",
        get_args(TimerKind),
        "approval_pause | paused_kill | abandon | cancel_force | agent_unknown | step_due | end_children | fold | "
        "clean_up | page_dormant | schedule | account_connected | mcp_task",
        chars=30,
        primary_key=True,
    ),
    sa.Column(
        "subject_id",
        sa.String(40),
        primary_key=True,
        comment="the run, effect, step, thread, workspace, page, schedule or question",
    ),
    moment("due_at", "handled at this time, or as soon as a server runs", nullable=False, index=True),
)

followers = sa.Table(
    "followers",
    metadata,
    ref("thread_id", "threads", "followed", nullable=False, primary_key=True),
    sa.Column("node_id", sa.String(40), primary_key=True, comment="the node with at least one follower"),
    moment("lease_until", "refreshed while followed", nullable=False),
)
