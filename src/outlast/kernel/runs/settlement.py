"""The last transaction of a run: message, credits, row, thread and events, all or nothing.

Used by the leg that ends a run, by the action that cancels a waiting one, and by the sweeper for a run whose worker is
gone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any, Final, Literal, NamedTuple

import sqlalchemy as sa

from outlast.base.ids import new_id
from outlast.db.database import Tx
from outlast.kernel.agents.agent import Agent
from outlast.kernel.apps import registry
from outlast.kernel.credits import store as ledger
from outlast.kernel.credits.rules import is_charged
from outlast.kernel.credits.shapes import CreditLow, CreditSettled
from outlast.kernel.library.memories import MEMORIES
from outlast.kernel.runs import store, timers
from outlast.kernel.runs.child_reports import end_children, report
from outlast.kernel.runs.finishers import finish, last_steps, open_steps_closed
from outlast.kernel.runs.followers import arm_abandonment
from outlast.kernel.runs.inbox import tell_settled
from outlast.kernel.runs.line_parts import cut_part_in
from outlast.kernel.runs.notifications import announce_thread
from outlast.kernel.runs.outcome import Ending
from outlast.kernel.runs.rules import OPEN_CALLS, THREAD_STATUS
from outlast.kernel.runs.shapes import (
    ApprovalResolved,
    ErrorData,
    PartCarrier,
    QuestionAnswered,
    RunCancelled,
    RunCompleted,
    RunFailed,
    RunReference,
    StepReset,
    ToolResultData,
)
from outlast.kernel.runs.tables import effects, runs
from outlast.kernel.runs.transcript import Run
from outlast.kernel.sandboxes.checkpoints.store import bind
from outlast.kernel.sandboxes.checkpoints.workspaces import mark_changed
from outlast.kernel.settings import Settings
from outlast.kernel.streams.log_store import NamedEvent, append
from outlast.kernel.subjects.hooks import call_guarded, call_run_hook
from outlast.kernel.threads import message_store as thread_messages
from outlast.kernel.threads import store as threads
from outlast.kernel.threads.parts import NoticePart, SubrunPart
from outlast.kernel.threads.shapes import MessageCreated, MessageData

OUTPUT_LIMIT: Final = "output_limit"  # the notice's code
OUTPUT_LIMIT_TEXT: Final = (
    "The answer reached the model's output limit and stops here. Continue it, or raise max_output_tokens of this "
    "model in the configuration."
)
FOLD_AFTER: Final = timedelta(hours=1)  # a client that lost the connection near the end has long resumed by then
CLOSED_RESULT: Final = {
    "cancelled": "This call was cancelled before it finished.",
    "error": "The run stopped before this call finished.",
    "completed": "The run ended before this call was made.",
}

_ASKED: Final = {"approval.resolved": "approval", "question.answered": "question"}

_OPEN_EFFECTS: Final = sa.select(
    effects.c.id, effects.c.kind, effects.c.part_id, effects.c.call_id, effects.c.result
).where(effects.c.run_id == sa.bindparam("run"), sa.or_(*(effects.c.status == status for status in sorted(OPEN_CALLS))))


def settle(tx: Tx, settings: Settings, agent: Agent | None, run: Run, ending: Ending) -> list[NamedEvent]:
    """End the run in this transaction; returns the events for the run's log, in order. The caller holds the fence, or
    has taken the run from its holder."""
    store.hold_successors(tx, run.id)  # runs first, then the subject, the thread, the payer (docs/concepts/locking.md)
    events, unread = _close_calls(tx, run, ending)
    events += _close_children(ending)
    unasked = [_ASKED[name] for name, _ in events if name in _ASKED]
    parts = _final_parts(ending)
    if ending.end.stop_reason == "length":
        step = ending.last_step
        notice = NoticePart(id=new_id("part"), step=step, level="warning", code=OUTPUT_LIMIT, text=OUTPUT_LIMIT_TEXT)
        parts.append(notice.model_dump())
        events.append(("part.created", PartCarrier(part=notice)))
    lines = agent.lines if agent is not None else None
    if lines is not None:
        cut = cut_part_in(tx, lines, run)
        parts += [carrier.part.model_dump() for _, carrier in cut[-1:]]
        events += cut
    problems = [*run.problems, *ending.problems]
    events += open_steps_closed(run.id, ending)
    if ending.end.status == "completed" and agent is not None:
        finished = finish(tx, agent, run, parts, ending)
        problems += finished.problems
        parts += finished.notices
        events += finished.events
        problems += _remember(tx, settings, agent, run, finished.summary, parts)
    if lines is not None:
        shown, failed = call_guarded(
            tx, run.profile, "ended", lambda: [*lines.end(tx, run, ending.end.status)], list[NamedEvent]()
        )
        events += shown
        problems += failed
    problems += call_run_hook(
        tx,
        run.profile,
        "ended",
        lambda hooks: hooks.on_end(tx, run.thread_id, run.id, ending.end.status, problems, begun=run.attempt > 0),
    )
    ending = replace(ending, problems=tuple(problems))
    if tx.shares_rows:
        threads.hold(tx, run.thread_id)  # before the payer, as a start does: otherwise each could wait for the other
    # Those that were queued since: runs are locked before the thread, so without waiting for one.
    store.hold_successors(tx, run.id, only_free=True)
    worth_saving = ending.save_message and (parts or ending.error is not None)
    message = _save_answer(tx, run, ending, parts) if worth_saving else None
    answer_id = message.id if message is not None else None
    if message is not None:
        events.append(("message.created", MessageCreated(message=message)))
    elif ending.end.status == "cancelled":
        thread_messages.mark_dropped(tx, run.thread_id, run.message_id)
    for message_id in unread:
        thread_messages.mark_unread(tx, run.thread_id, message_id)
    # In the transaction that ends the row: reserved credits are settled once, and never stay reserved.
    charged, settled = _settle_credits(tx, settings, run, ending)
    events += settled
    events += last_steps(run.id, ending, saved=message is not None, charged=charged)
    _end_row(tx, run, ending, answer_id)
    if run.step_id is not None:
        report(tx, run.step_id, ending, parts)
    events.append(_closing_event(tx, run, ending, answer_id, charged))
    events.append(("stream.ended", RunReference(run_id=run.id)))
    if ending.take_over is not None:
        ending.take_over(tx)
        announce_thread(tx, run.thread_id)
    else:
        _hand_thread_on(tx, settings, run, ending)  # the project's row is locked from here on: the last of all
    tell_settled(tx, run.project_id, unasked)
    _leave_files(tx, run, ending, answer_id)
    days = settings.retention.completed_days if ending.end.status != "error" else settings.retention.error_days
    timers.replace_all(tx, run.id, {"clean_up": tx.now + timedelta(days=days), "fold": tx.now + FOLD_AFTER})
    return events


def end_unheld(tx: Tx, settings: Settings, agent: Agent | None, run: Run, ending: Ending) -> None:
    """End a run without a worker, or whose worker is gone: raises the fence, then settles and logs. Followers may have
    seen more of the last step than was saved: they get the saved version first."""
    # The former holder writes nothing from now on, even if its process was only asleep.
    tx.execute(sa.update(runs).where(runs.c.id == run.id).values(attempt=runs.c.attempt + 1))
    events = _as_saved(run, ending) if run.leg in ("held", "ready") else []
    events += settle(tx, settings, agent, run, ending)
    store.append_unheld(tx, run.id, events)
    if run.leg == "blocked":  # it never was the active run, so its thread's own log reports its end
        append(tx, run.thread_id, [event for event in events if event[0].startswith("run.")])


def _leave_files(tx: Tx, run: Run, ending: Ending, answer_id: str | None) -> None:
    """Bind the run's last checkpoint to the answer. A call that was cut off may have changed files after it."""
    if run.workspace_id is None:
        return
    if answer_id is not None:
        bind(tx, run.id, answer_id)
    if ending.end.status != "completed":  # also for a worker that was killed before it could note the change
        mark_changed(tx, run.workspace_id)


def _as_saved(run: Run, ending: Ending) -> list[NamedEvent]:
    step = ending.last_step
    if not step:
        return []
    parts: Any = [part for part in ending.parts if part.get("step") == step]
    return [("step.reset", StepReset(run_id=run.id, step=step, attempt=run.attempt + 1, parts=parts))]


class _OpenEffect(NamedTuple):
    id: str
    kind: str
    part_id: str | None
    call_id: str | None
    result: Any


def _remember(
    tx: Tx, settings: Settings, agent: Agent, run: Run, summary: str, parts: Sequence[dict[str, Any]]
) -> list[str]:
    """Leave a line about the run for later ones. Returns a problem if that fails."""
    memories = registry.implementation(MEMORIES)
    if not agent.listed or memories is MEMORIES.empty:
        return []
    save = partial(memories.save_summary, tx, settings, run, summary, parts)
    return call_guarded(tx, run.profile, "ended", save, None)[1]


def _close_calls(tx: Tx, run: Run, ending: Ending) -> tuple[list[NamedEvent], list[str]]:
    """Close open questions and calls with a recorded result: an open call would block the thread forever. Returns the
    events, and the ids of the messages that the run was sent and has not read."""
    events: list[NamedEvent] = []
    unread: list[str] = []
    for row in store.close_approvals(tx, run.id):
        if row.approval.kind == "approval":
            resolved = ApprovalResolved(approval_id=row.approval.id, part_id=row.part_id, decision="cancelled")
            events.append(("approval.resolved", resolved))
        else:
            answered = QuestionAnswered(question_id=row.approval.id, part_id=row.part_id, answers={}, cancelled=True)
            events.append(("question.answered", answered))
    text = CLOSED_RESULT[ending.end.status]
    # Turns and stages too: no effect of an ended run stays open.
    for effect in tx.rows(_OpenEffect, _OPEN_EFFECTS, {"run": run.id}):
        if effect.kind in ("tool", "flow"):
            end_children(tx, effect.id)
        if effect.kind != "tool":
            store.update_effect(tx, effect.id, status="cancelled", ended_at=tx.now)
            if effect.kind == "message":
                unread.append(effect.result["message_id"])
            continue
        result = {"content": text, "is_error": True}
        store.update_effect(tx, effect.id, status="cancelled", ended_at=tx.now, result=result)
        closed = ToolResultData(
            part_id=effect.part_id or "", call_id=effect.call_id or "", status="cancelled", result=text
        )
        events.append(("tool_call.result", closed))
    return events, unread


def _close_children(ending: Ending) -> list[NamedEvent]:
    """Show that the runs which its functions started, and which still work, are cancelled with it."""
    closed = [_closed(part) for part in ending.parts if part["type"] == "subrun" and part["status"] == "running"]
    return [("part.completed", PartCarrier(part=SubrunPart(**part))) for part in closed]


def _closed(part: Mapping[str, Any]) -> dict[str, Any]:
    """A part as it is saved: the run that it shows is cancelled with this one."""
    works = part["type"] == "subrun" and part["status"] == "running"
    return {**part, "status": "cancelled"} if works else dict(part)


def _final_parts(ending: Ending) -> list[dict[str, Any]]:
    """The answer's parts: open calls and runs closed, empty texts dropped."""
    parts: list[dict[str, Any]] = []
    for part in ending.parts:
        if part["type"] in ("text", "reasoning") and not part["text"].strip():
            continue
        if part["type"] == "tool_call" and part["status"] in ("streaming", "pending", "waiting", "running"):
            parts.append({**part, "status": "cancelled", "result": CLOSED_RESULT[ending.end.status]})
        else:
            parts.append(_closed(part))
    return parts


def _save_answer(tx: Tx, run: Run, ending: Ending, parts: list[dict[str, Any]]) -> MessageData:
    return thread_messages.add_message(
        tx,
        run.thread_id,
        "assistant",
        None,
        ending.end.message_status,
        parts,
        model=run.model,
        profile=run.profile,
        run_id=run.id,
        reply_to=run.message_id,
        credits=run.credits if is_charged(ending.end.status, ending.problems) else 0,
        error=ending.error.model_dump() if ending.error else None,
        stop_reason=ending.stop_reason,
        logged=False,  # message.created is in the run's log, before run.completed
    )


def _settle_credits(tx: Tx, settings: Settings, run: Run, ending: Ending) -> tuple[int, list[NamedEvent]]:
    paid, plans = is_charged(ending.end.status, ending.problems), settings.credits.plans
    charged, balance = ledger.settle(tx, run.id, plans) if paid else (0, ledger.release(tx, run.id, plans))
    events: list[NamedEvent] = []
    if run.credits or balance is not None:
        kind: Literal["settle", "release"] = "settle" if paid else "release"
        settled = CreditSettled(run_id=run.id, kind=kind, credits=charged, balance=balance)
        events.append(("credit.settled", settled))
    if balance is not None and balance <= settings.credits.low_at:
        events.append(("credit.low", CreditLow(balance=balance)))
    return charged, events


def _end_row(tx: Tx, run: Run, ending: Ending, answer_id: str | None) -> None:
    tx.update(
        runs,
        {"id": run.id},
        status=ending.end.status,
        stop_reason=ending.stop_reason,
        problems=ending.problems,
        error=ending.error.model_dump() if ending.error else None,
        answer_id=answer_id,
        leg="ended",
        owner=None,
        lease_until=None,
        waiting_for=None,
        unwatched_since=None,
        ended_at=tx.now,
    )


def _closing_event(tx: Tx, run: Run, ending: Ending, message_id: str | None, charged: int) -> NamedEvent:
    ended: Any = {"run_id": run.id, "message_id": message_id, "stop_reason": ending.stop_reason}
    if ending.end.status == "completed":
        usage, problems = store.usage_of(tx, run.id), list(ending.problems)
        return "run.completed", RunCompleted(**ended, problems=problems, usage=usage, credits=charged)
    if ending.end.status == "cancelled":
        return "run.cancelled", RunCancelled(**ended, by=ending.by)
    error = ending.error or ErrorData(code="internal_error", message="The run stopped.")
    return "run.error", RunFailed(**ended, error=error)


def _hand_thread_on(tx: Tx, settings: Settings, run: Run, ending: Ending) -> None:
    """The next queued run becomes the active one; runs queued behind it now wait for that one."""
    waiting = store.successors(tx, run.id)
    if run.leg == "blocked":  # it never was the active one: its followers wait for its predecessor
        before = tx.execute(sa.select(runs.c.after_run_id).where(runs.c.id == run.id)).scalar()
        tx.execute(sa.update(runs).where(runs.c.after_run_id == run.id).values(after_run_id=before))
        return
    following = waiting[0] if waiting else None
    if following is not None:
        tx.execute(sa.update(runs).where(runs.c.id.in_(waiting[1:])).values(after_run_id=following))
        # After the row that ends: a thread has one active run (`uq_runs_one_active`).
        tx.execute(sa.update(runs).where(runs.c.id == following).values(leg="ready", after_run_id=None))
        thread_messages.take_turn(tx, run.thread_id, store.run_of(tx, following).message_id)
        arm_abandonment(tx, settings, following, run.thread_id)
        tx.ring(store.BELL)
        failed = call_run_hook(
            tx, run.profile, "had its turn", lambda hooks: hooks.on_take_up(tx, run.thread_id, following)
        )
        store.add_problems(tx, following, failed)
    state = THREAD_STATUS["queued" if following else ending.end.status]
    threads.set_run_state(tx, run.thread_id, state, following)
    announce_thread(tx, run.thread_id)
