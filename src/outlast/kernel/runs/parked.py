"""Waiting for a user, another run or a time: the run is only a row, until its next leg is ready."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Literal, NamedTuple

import sqlalchemy as sa

from outlast.db.database import Tx
from outlast.kernel.runs import journal_store, store, timers
from outlast.kernel.runs.context import RunContext
from outlast.kernel.runs.decision_texts import resolution_events
from outlast.kernel.runs.direct_claim import offer
from outlast.kernel.runs.engine import Engine
from outlast.kernel.runs.followers import arm_abandonment
from outlast.kernel.runs.notifications import announce_thread
from outlast.kernel.runs.rules import THREAD_STATUS, WaitingFor
from outlast.kernel.runs.shapes import RunStatusChanged
from outlast.kernel.runs.tables import TimerKind, approvals, effects, runs
from outlast.kernel.runs.transcript import Run, Transcript
from outlast.kernel.settings import Settings
from outlast.kernel.streams.log_store import NamedEvent
from outlast.kernel.threads import store as threads

_CALL_STATES = sa.select(effects.c.status).where(
    effects.c.run_id == sa.bindparam("run"), sa.or_(effects.c.kind == "tool", effects.c.kind == "flow")
)


class Suspended(NamedTuple):
    """A function that waits for steps without a value: its effect, and those steps. `for_calls`: it waits for decisions
    on calls of its run."""

    effect_id: str
    step_ids: Sequence[str]
    for_calls: bool = False


async def park(context: RunContext, waiting_for: WaitingFor, functions: Sequence[Suspended] = ()) -> bool:
    """Give up the run until it can go on. Returns False if that is already so (a decision was made in between, or what
    one of the `functions` waits for has come), and the leg continues."""

    def change(tx: Tx, events: list[NamedEvent]) -> bool:
        # The fence's check locks the row: a decision or a cancel came before and is seen here, or it waits and finds
        # the run parked.
        run = store.run_of(tx, context.run.id)
        if run.cancel_reason is not None:
            return False
        for function in functions:
            if function.for_calls and not function.step_ids:
                store.update_effect(tx, function.effect_id, status="deferred")  # the calls say when it can go on
            else:
                journal_store.suspend(tx, function.effect_id, function.step_ids)
        if _is_decided(tx, run.id):
            return False
        needs = _needs(tx, run.id) if waiting_for in ("run", "time") else waiting_for
        status: Literal["awaiting_approval", "running"] = "running" if needs in ("run", "time") else "awaiting_approval"
        tx.update(
            runs,
            {"id": run.id},
            leg="parked",
            status=status,
            waiting_for=needs,
            owner=None,
            lease_until=None,
            deaths=0,  # it reached a result that has to wait
            **({} if needs == "run" else {"unwatched_since": None}),
        )
        events.append(("run.status", RunStatusChanged(run_id=run.id, status=status, waiting_for=needs)))
        if needs != "run":  # the other run works for it: unwatched, it is abandoned as if it worked itself
            timers.clear_timers(tx, run.id, "abandon")
        if status == "awaiting_approval":
            pause_after = timedelta(seconds=context.engine.settings.runs.approval_pause_after_s)
            timers.set_timer(tx, "approval_pause", run.id, tx.now + pause_after)
            _publish_status(tx, run, status)
        return True

    return await context.record(change)


async def announce_decisions(context: RunContext, transcript: Transcript) -> None:
    """Write the decisions made while this leg held the run to its log."""
    if not any(effect.kind in ("tool", "ask") for effect in transcript.effects):
        return
    if await context.engine.db.read(store.unannounced, context.run.id):
        await context.record(lambda tx, events: announce_decisions_in(tx, context.run.id, events))


def announce_decisions_in(tx: Tx, run_id: str, events: list[NamedEvent]) -> None:
    """Add the decisions not yet in the run's log to `events`, and mark them as announced."""
    for row in store.unannounced(tx, run_id):
        events.extend(resolution_events(row))
        # In the record's transaction: a decision is in the log once, even after a kill.
        tx.update(approvals, {"id": row.approval.id}, announced=True)


def _needs(tx: Tx, run_id: str) -> WaitingFor:
    """What a run waits for whose functions are parked: a person first, then another run."""
    asked = {row.approval.kind for row in store.open_approvals(tx, run_id)}
    if asked:
        return "approval" if "approval" in asked else "answer"
    return "run" if "run" in journal_store.kinds_waited_for(tx, run_id) else "time"


def go_on(tx: Tx, engine: Engine, step_id: str) -> None:
    """What a step of a function waited for has come: a time is over, or another run has ended. Makes the function's run
    ready if it is parked for it; a repeated call does nothing."""
    step = journal_store.step_of(tx, step_id)
    if step is None:
        return
    run = store.hold_run(tx, step.run_id)
    if step.kind == "sleep":
        journal_store.finish_step(tx, step.id)
    journal_store.let_go_on(tx, step.effect_id)
    if run.leg == "parked" and _is_decided(tx, run.id):
        unpark(tx, engine, run, ())


def unpark(tx: Tx, engine: Engine, run: Run, events: Sequence[NamedEvent]) -> None:
    """After a decision on a parked run, or when it can go on: log it, and make the next leg ready if it has something
    to do."""
    if not _is_decided(tx, run.id):  # one of several; the others still wait
        store.append_unheld(tx, run.id, events)
        return
    store.append_unheld(tx, run.id, [*events, ("run.status", RunStatusChanged(run_id=run.id, status="running"))])
    tx.update(runs, {"id": run.id}, leg="ready", status="running", waiting_for=None)
    timers.clear_timers(tx, run.id, "approval_pause", "paused_kill")
    arm_abandonment(tx, engine.settings, run.id, run.thread_id)
    if run.status != "running":
        _publish_status(tx, run, "running")
    offer(tx, engine, run.id)


def pause(tx: Tx, settings: Settings, run_id: str) -> None:
    """The sandbox of a run that waits for a user was frozen: show the run as paused, and start the timer after which
    the sandbox is removed. Does nothing for a run that does not wait."""
    run = store.hold_run(tx, run_id)
    if run.leg != "parked" or run.status != "awaiting_approval":  # decided while its sandbox was frozen
        return
    _wait_as(tx, run, "paused", "paused_kill", settings.runs.paused_kill_after_s)


def wake(tx: Tx, settings: Settings, run: Run) -> None:
    """A user returned to a paused run without deciding: show it as waiting again, and restart the timer."""
    _wait_as(tx, run, "awaiting_approval", "approval_pause", settings.runs.approval_pause_after_s)


def _wait_as(
    tx: Tx, run: Run, status: Literal["awaiting_approval", "paused"], clock: TimerKind, after_s: float
) -> None:
    """Show a run that waits for a user with this status, and set only this timer."""
    tx.update(runs, {"id": run.id}, status=status, paused_at=tx.now if status == "paused" else None)
    waiting_for = tx.value(runs.c.waiting_for, {"id": run.id})
    changed = RunStatusChanged(run_id=run.id, status=status, waiting_for=waiting_for)
    store.append_unheld(tx, run.id, [("run.status", changed)])
    timers.replace_all(tx, run.id, {clock: tx.now + timedelta(seconds=after_s)})
    _publish_status(tx, run, status)


def _publish_status(tx: Tx, run: Run, status: str) -> None:
    threads.set_run_state(tx, run.thread_id, THREAD_STATUS[status], run.id)
    announce_thread(tx, run.thread_id)


def _is_decided(tx: Tx, run_id: str) -> bool:
    """True if a leg has something to do: a call or a flow is allowed to go on, or nothing waits any more."""
    states = set(tx.execute(_CALL_STATES, {"run": run_id}).scalars())
    return bool(states & {"allowed", "started"}) or not states & {"waiting", "parked"}
