"""The queries of the runs room, one function each. The first argument is always the open transaction."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa

from outlast.base.errors import NotFound, RunCleanedUp
from outlast.base.ids import new_id
from outlast.db.database import Tx
from outlast.kernel.runs.policy import Grant
from outlast.kernel.runs.rows import ApprovalRow
from outlast.kernel.runs.shapes import UsageData
from outlast.kernel.runs.stage_plan import FINAL_ANSWER
from outlast.kernel.runs.tables import IS_OPEN, approvals, effects, grants, runs
from outlast.kernel.runs.transcript import Effect, Run, Transcript
from outlast.kernel.streams.log_store import NamedEvent, encode_all, save

BELL = "runs"  # rung when a leg becomes ready

_EFFECT_COLUMNS = [effects.c[name] for name in Effect._fields[:-1]]

# Statements of the hot path, built once: see db/prepared.py.
_WHOLE_EFFECTS = sa.select(*_EFFECT_COLUMNS).where(effects.c.run_id == sa.bindparam("run")).order_by(effects.c.ordinal)
_IS_LONG = sa.and_(effects.c.kind == "tool", effects.c.tool != FINAL_ANSWER)
_BRIEF_RESULT = sa.type_coerce(sa.case((_IS_LONG, sa.null()), else_=effects.c.result), effects.c.result.type)
_EFFECTS = _WHOLE_EFFECTS.with_only_columns(
    *(_BRIEF_RESULT.label("result") if column is effects.c.result else column for column in _EFFECT_COLUMNS)
)
_LAST = runs.c.seq_reserved + sa.bindparam("count")
_NUMBER = (
    sa.update(runs)
    .where(runs.c.id == sa.bindparam("run"))
    .values(seq_reserved=_LAST, seq_saved=_LAST)
    .returning(runs.c.seq_saved)
)
_ADD_USAGE = (
    sa.update(runs)
    .where(runs.c.id == sa.bindparam("run"))
    .values(
        input_tokens=runs.c.input_tokens + sa.bindparam("more_input"),
        output_tokens=runs.c.output_tokens + sa.bindparam("more_output"),
        cached_tokens=runs.c.cached_tokens + sa.bindparam("more_cached"),
        reasoning_tokens=runs.c.reasoning_tokens + sa.bindparam("more_reasoning"),
    )
)
_MORE_COST = sa.func.coalesce(runs.c.cost_usd, 0.0) + sa.bindparam("more_cost", type_=sa.Float)
_ADD_USAGE_AND_COST = _ADD_USAGE.values(cost_usd=_MORE_COST)
_APPROVALS = sa.select(approvals, effects.c.part_id, effects.c.call_id).join(
    effects, effects.c.id == approvals.c.effect_id
)
_APPROVAL = _APPROVALS.where(approvals.c.id == sa.bindparam("item"))
_OPEN_APPROVALS = _APPROVALS.where(approvals.c.run_id == sa.bindparam("run"), approvals.c.status == "open")
_UNANNOUNCED = _APPROVALS.where(
    approvals.c.run_id == sa.bindparam("run"), approvals.c.status != "open", sa.not_(approvals.c.announced)
).order_by(approvals.c.decided_at)
# `key_share`: FOR NO KEY UPDATE, so that new rows which refer to the run (its effects, its approvals) do not wait.
_HOLD = sa.select(runs.c.id).where(runs.c.id == sa.bindparam("run")).with_for_update(key_share=True)
_HOLD_IF_FREE = _HOLD.with_for_update(key_share=True, skip_locked=True)
_HOLD_OPEN = (
    sa.select(runs.c.id)
    .where(runs.c.thread_id == sa.bindparam("thread"), IS_OPEN)
    .order_by(runs.c.id)  # the oldest first, like every holder of several runs
    .with_for_update(key_share=True)
)
_GRANTS = sa.select(grants.c.tool, grants.c.arguments).where(grants.c.thread_id == sa.bindparam("thread"))
_SUCCESSORS = (
    sa.select(runs.c.id).where(runs.c.after_run_id == sa.bindparam("run"), runs.c.leg == "blocked").order_by(runs.c.id)
)
_HOLD_SUCCESSORS = _SUCCESSORS.with_for_update(key_share=True)
_HOLD_FREE_SUCCESSORS = _SUCCESSORS.with_for_update(key_share=True, skip_locked=True)


class ApprovalOfCall(NamedTuple):
    """An approval or question, with the part and the model's id of its call."""

    approval: ApprovalRow
    part_id: str
    call_id: str


def run_of(tx: Tx, run_id: str) -> Run:
    """The run. Raises `NotFound`."""
    run = tx.find(Run, runs, {"id": run_id})
    if run is None:
        raise NotFound("This run does not exist.", id=run_id)
    return run


def add_problems(tx: Tx, run_id: str, problems: Sequence[str]) -> None:
    """Note problems of a run that has not ended; they are saved with its end."""
    if problems:
        tx.update(runs, {"id": run_id}, problems=[*run_of(tx, run_id).problems, *problems])


def hold_run(tx: Tx, run_id: str) -> Run:
    """The run, its row locked until the transaction ends, so that decisions about it stay valid. Raises `NotFound`."""
    tx.execute(_HOLD, {"run": run_id})
    return run_of(tx, run_id)


def hold_run_if_free(tx: Tx, run_id: str) -> Run | None:
    """As `hold_run`, without waiting; None if the run is locked (by a claim or a cancel) or gone."""
    if tx.execute(_HOLD_IF_FREE, {"run": run_id}).scalar() is None:
        return None
    return run_of(tx, run_id)


def hold_open_runs(tx: Tx, thread_id: str) -> None:
    """Lock every run of a thread that has not ended, the oldest first, before they are cancelled and before its page
    and the thread itself, as workers do."""
    tx.execute(_HOLD_OPEN, {"thread": thread_id})


def transcript_of(tx: Tx, run_id: str, questions: frozenset[str]) -> Transcript:
    """The run with its effects in order; `questions` names the tools whose calls are questions to a user. The results
    of calls are left out: they may be megabytes, and only the model reads them (`whole_effects`)."""
    rows = tx.execute(_EFFECTS, {"run": run_id})
    return Transcript(run_of(tx, run_id), tuple(Effect._make((*row, row.tool in questions)) for row in rows))


def whole_effects(tx: Tx, run_id: str) -> list[Effect]:
    """The run's effects in order, with the results of calls. For reads only: the writer would wait for it."""
    return [Effect._make((*row, False)) for row in tx.execute(_WHOLE_EFFECTS, {"run": run_id})]


def append_unheld(tx: Tx, run_id: str, events: Sequence[NamedEvent]) -> None:
    """Append facts to the log of a run that no worker holds (parked, blocked, or taken from a lost one)."""
    # After the reservation, not after the saved numbers: a lost worker may have shown numbers in between.
    last = tx.execute(_NUMBER, {"run": run_id, "count": len(events)}).scalar_one()
    save(tx, run_id, encode_all(run_id, last - len(events) + 1, events, tx.now))
    tx.ring(run_id)


def insert_effect(tx: Tx, run_id: str, ordinal: int, step: int, kind: str, **values: Any) -> str:
    effect_id = new_id("effect")
    tx.insert(effects, id=effect_id, run_id=run_id, ordinal=ordinal, step=step, kind=kind, created_at=tx.now, **values)
    return effect_id


def start_effect(tx: Tx, run: Run, ordinal: int, step: int, kind: str) -> Effect:
    """Insert an effect that this attempt starts now."""
    effect_id = insert_effect(tx, run.id, ordinal, step, kind, status="started", attempt=run.attempt, started_at=tx.now)
    return Effect(effect_id, ordinal, step, kind, "started", run.attempt)


def update_effect(tx: Tx, effect_id: str, **values: Any) -> None:
    tx.update(effects, {"id": effect_id}, **values)


def has_ended(tx: Tx, effect_id: str) -> bool:
    """Whether a call has its result, or will get none."""
    return tx.value(effects.c.status, {"id": effect_id}) not in ("allowed", "waiting", "started", "parked", "deferred")


def add_usage(tx: Tx, run_id: str, usage: Mapping[str, Any]) -> None:
    """Add a model turn's tokens and cost to the run's sums."""
    more = {f"more_{name}": usage.get(f"{name}_tokens", 0) for name in ("input", "output", "cached", "reasoning")}
    if usage.get("cost_usd") is None:
        tx.execute(_ADD_USAGE, {"run": run_id, **more})
    else:
        tx.execute(_ADD_USAGE_AND_COST, {"run": run_id, **more, "more_cost": usage["cost_usd"]})


class _Usage(NamedTuple):
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    reasoning_tokens: int
    cost_usd: float | None


def usage_of(tx: Tx, run_id: str) -> UsageData:
    """The sums over the run's turns so far."""
    row = tx.find(_Usage, runs, {"id": run_id})
    return UsageData() if row is None else UsageData(**row._asdict())


def insert_approval(
    tx: Tx, run: Run, effect_id: str, kind: str, tool: str, arguments: str, reason: str, tool_version: str | None = None
) -> str:
    approval_id = new_id(kind)
    tx.insert(
        approvals,
        id=approval_id,
        run_id=run.id,
        thread_id=run.thread_id,
        effect_id=effect_id,
        kind=kind,
        status="open",
        tool=tool,
        arguments=arguments,
        reason=reason,
        tool_version=tool_version,
        created_at=tx.now,
    )
    return approval_id


def unannounced(tx: Tx, run_id: str) -> list[ApprovalOfCall]:
    """Decisions made while a worker held the run, which are not in its log yet."""
    return tx.rows(ApprovalOfCall, _UNANNOUNCED, {"run": run_id})


def approval_of(tx: Tx, item_id: str) -> ApprovalOfCall:
    """The approval or question of this id. Raises `NotFound`."""
    row = tx.row(ApprovalOfCall, _APPROVAL, {"item": item_id})
    if row is None:
        raise NotFound("This approval or question does not exist.", id=item_id)
    return row


def open_approvals(tx: Tx, run_id: str) -> list[ApprovalOfCall]:
    """The approvals and questions of a run that wait for a person."""
    return tx.rows(ApprovalOfCall, _OPEN_APPROVALS, {"run": run_id})


def close_approvals(tx: Tx, run_id: str) -> list[ApprovalOfCall]:
    """Close every open approval and question of a run that ends; returns them with their parts."""
    still_open = open_approvals(tx, run_id)
    if still_open:
        of_run = {"run_id": run_id, "status": "open"}
        # Announced: the events of the run's end include them.
        tx.update(approvals, of_run, status="cancelled", decided_at=tx.now, announced=True)
    return still_open


def grants_of(tx: Tx, thread_id: str) -> list[Grant]:
    return tx.rows(Grant, _GRANTS, {"thread": thread_id})


def successors(tx: Tx, run_id: str) -> list[str]:
    """Runs queued behind this one, oldest first."""
    return list(tx.execute(_SUCCESSORS, {"run": run_id}).scalars())


def hold_successors(tx: Tx, run_id: str, *, only_free: bool = False) -> None:
    """Hold the runs queued behind this one, the oldest first, before it ends and the thread is handed on. `only_free`:
    without waiting, for runs that were queued before the thread was held."""
    if tx.shares_rows:
        tx.execute(_HOLD_FREE_SUCCESSORS if only_free else _HOLD_SUCCESSORS, {"run": run_id})


def last_model(tx: Tx, thread_id: str) -> str | None:
    """The model of the thread's newest run, or None if it had no run."""
    newest = sa.select(runs.c.model).where(runs.c.thread_id == thread_id).order_by(runs.c.id.desc())
    model: str | None = tx.execute(newest.limit(1)).scalar()
    return model


def require_records(tx: Tx, run_id: str) -> None:
    """Raises `RunCleanedUp` if the run's raw records were removed."""
    if tx.value(runs.c.cleaned, {"id": run_id}):
        raise RunCleanedUp("The records of this run were removed after the retention time.", id=run_id)
