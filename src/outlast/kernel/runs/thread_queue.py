"""The queue of one thread: the place of a new run, and the rows that a start writes. Workers' query is in `claims`."""

from typing import Any, Final, NamedTuple

import sqlalchemy as sa

from outlast.base.errors import ThreadBusy
from outlast.base.ids import new_id
from outlast.db.database import Tx
from outlast.kernel.credits import store as ledger
from outlast.kernel.models.protocol import ModelSpec
from outlast.kernel.row_shapes import shape_of
from outlast.kernel.runs import journal_store, store
from outlast.kernel.runs.direct_claim import offer
from outlast.kernel.runs.engine import Engine
from outlast.kernel.runs.followers import is_followed, set_abandonment
from outlast.kernel.runs.rows import EffectRow
from outlast.kernel.runs.rules import THREAD_STATUS
from outlast.kernel.runs.run_list import list_summaries
from outlast.kernel.runs.shapes import OnBusy, RunQueued, RunSummaryAnswer
from outlast.kernel.runs.tables import IS_OPEN, effects, runs
from outlast.kernel.streams.log_store import append, encode_all, save
from outlast.kernel.threads import message_store as thread_messages
from outlast.kernel.threads import store as threads

QUEUED_SHOWN: Final = 50
_NEWEST_OPEN = (
    sa.select(runs.c.id)
    .where(runs.c.thread_id == sa.bindparam("thread"), IS_OPEN)
    .order_by(runs.c.id.desc())  # inserted with the thread's row held; `created_at` is the start of its transaction
    .limit(1)
)

_ACTIVE = (
    sa.select(runs.c.id)
    .where(runs.c.thread_id == sa.bindparam("thread"), IS_OPEN, runs.c.after_run_id.is_(None))
    .order_by(runs.c.id)
    .limit(1)
)


class NewRun(NamedTuple):
    """The fields of a new run. `mode`: start | retry | continue | handoff; a continued run inherits its parent's
    transcript, and one that was handed over to answers its parent's message.
    `step_id`: the step of another run's function that waits for it. `trigger`: what started it, as plain JSON, if it
    was no person."""

    project_id: str
    thread_id: str
    workspace_id: str | None
    profile: str
    model: ModelSpec
    message_id: str
    started_by: str
    mode: str = "start"
    parent_run_id: str | None = None
    step_id: str | None = None
    instructions: str = ""
    trigger: dict[str, Any] | None = None


def queue_run(tx: Tx, engine: Engine, new: NewRun, after_run_id: str | None, run_id: str | None = None) -> str:
    """Insert the run (ready at once, or blocked behind `after_run_id`), reserve its credits, and log it. Returns its id
    (`run_id`, if others already wait for it). Raises `CreditsNeeded`; `ThreadBusy` if another start was faster."""
    settings, run_id = engine.settings, run_id or new_id("run")
    queued = shape_of(RunQueued, new, run_id=run_id, model=new.model.id, after_run_id=after_run_id)
    first = encode_all(run_id, 1, [("run.queued", queued)], tx.now)
    is_unwatched = after_run_id is None and not is_followed(tx, new.thread_id)
    try:
        tx.insert(
            runs,
            **new._asdict() | {"id": run_id, "model": new.model.id},
            after_run_id=after_run_id,
            status="queued",
            leg="ready" if after_run_id is None else "blocked",
            problems=[],
            credits=new.model.credits,
            seq_saved=len(first),
            seq_reserved=len(first),
            unwatched_since=tx.now if is_unwatched else None,
            created_at=tx.now,
        )
    except sa.exc.IntegrityError as error:  # `uq_runs_one_active` decides, whatever was read before
        raise ThreadBusy("The agent already works in this thread.", thread_id=new.thread_id) from error
    # In the same transaction: no run without its credits, and no credits reserved without a run.
    ledger.reserve(tx, new.started_by, run_id, new.model.credits, settings.credits.plans)
    if after_run_id is None:
        threads.set_run_state(tx, new.thread_id, THREAD_STATUS["queued"], run_id)
        if new.mode != "start":  # a message that was just added is already the last
            thread_messages.take_turn(tx, new.thread_id, new.message_id)
        if is_unwatched:
            set_abandonment(tx, settings, run_id)
        offer(tx, engine, run_id, first)
    else:  # followers of a thread see only the log of its active run
        save(tx, run_id, first)
        append(tx, new.thread_id, [("run.queued", queued)])
    if new.mode == "continue" and new.parent_run_id is not None:
        _inherit(tx, new.parent_run_id, run_id)
    return run_id


def active_run(tx: Tx, thread_id: str) -> str | None:
    """The active run of a thread, which waits for no other, or None if the thread is free."""
    run_id: str | None = tx.execute(_ACTIVE, {"thread": thread_id}).scalar()
    return run_id


def let_wait_for(tx: Tx, run_id: str, other_id: str) -> None:
    """Make every run that waits for one run wait for another, and log it in the thread."""
    for waiting_id in store.successors(tx, run_id):
        tx.update(runs, {"id": waiting_id}, after_run_id=other_id)
        run = store.run_of(tx, waiting_id)
        append(tx, run.thread_id, [("run.queued", shape_of(RunQueued, run, run_id=run.id, after_run_id=other_id))])


def last_queued(tx: Tx, thread_id: str) -> str | None:
    """The newest run that has not ended, for which a further one has to wait, or None if the thread is free."""
    run_id: str | None = tx.execute(_NEWEST_OPEN, {"thread": thread_id}).scalar()
    return run_id


def waiting_runs(tx: Tx, project_id: str, thread_id: str, active_id: str | None) -> list[RunSummaryAnswer]:
    """The runs that wait behind the active one, each behind the run that it waits for: a run that interrupts goes
    before earlier ones."""
    found = list_summaries(tx, [project_id], thread_id=thread_id, status="queued", limit=QUEUED_SHOWN)
    left, ordered = [run for run in reversed(found.items) if run.id != active_id], []
    while left:
        ids = {run.id for run in left}
        following = next((run for run in left if run.after_run_id not in ids), left[0])
        left.remove(following)
        ordered.append(following)
    return ordered


def find_place(tx: Tx, thread_id: str, on_busy: OnBusy) -> str | None:
    """The run that a start has to wait for, or None if the thread is free. Raises `ThreadBusy` if the start must not
    wait."""
    waits_for = last_queued(tx, thread_id)
    if waits_for is not None and on_busy == "reject":
        raise ThreadBusy(
            "The agent still works in this thread, or waits for a person.",
            thread_id=thread_id,
            active_run_id=active_run(tx, thread_id),
        )
    return waits_for


def _inherit(tx: Tx, parent_id: str, run_id: str) -> None:
    """Copy the finished part of the parent's transcript: whole turns with all their calls closed, and the results of
    checks after them; the messages sent to it, read or not; and the steps of a flow. The result of `prepare` may be
    gone; that stage is done again."""
    of_parent = sa.select(effects).where(effects.c.run_id == parent_id).order_by(effects.c.ordinal)
    rows = tx.rows(EffectRow, of_parent)
    whole = {row.step for row in rows if row.kind == "model" and row.status == "finished"}
    for row in rows:
        unfinished_check = row.kind == "check" and row.status != "finished"
        if row.kind == "flow":
            _inherit_flow(tx, row, run_id)
        elif (row.step in whole and not unfinished_check) or row.kind == "message":
            # Marked, so that it is not counted as this run's, and its command is not stopped with this run's.
            copy = row._replace(id=new_id("effect"), run_id=run_id, inherited=True)
            if row.kind == "message" and row.status == "cancelled":  # the parent ended before it read it
                copy = copy._replace(status="waiting", ended_at=None)
            tx.insert(effects, **copy._asdict())


def _inherit_flow(tx: Tx, flow: EffectRow, run_id: str) -> None:
    """Let the run call the function of the parent's flow with the steps that it has done, the same clock and the same
    random numbers. It is this run's own effect: a cancel stops its command."""
    seed = (flow.result or {}).get("seed", flow.id)
    copy_id = store.insert_effect(
        tx, run_id, flow.ordinal, flow.step, "flow", status="allowed", result={"seed": seed}, started_at=flow.started_at
    )
    journal_store.copy_steps(tx, flow.id, run_id, copy_id)
