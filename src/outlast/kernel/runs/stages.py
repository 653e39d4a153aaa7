"""The stages of a run, for profiles that have them: work before the first model turn and a check after the last.

Effects like any other: named before they start, recorded with their result, done again when they were cut, never again
once recorded. What happens in them is shown as named steps of the workflow (`workflow.step`).
"""

import random
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal

import anyio

from outlast.base.errors import (
    DiskFull,
    FenceLost,
    InternalError,
    OutlastError,
    SandboxLost,
    SandboxUnavailable,
    StorageUnavailable,
)
from outlast.base.events import ErrorData, PartCarrier
from outlast.base.screen_data import WorkflowName, WorkflowStatus
from outlast.db.database import Tx
from outlast.kernel.runs import store
from outlast.kernel.runs.finishers import workflow_step
from outlast.kernel.runs.model import Effect, Transcript
from outlast.kernel.runs.profile import StageContext, Staged, StageResult
from outlast.kernel.runs.rules import Check, End, Next, Prepare, backoff_s
from outlast.kernel.runs.tool_calls import LOST_PAUSES_S, STOP_S, tell_lost
from outlast.kernel.sandboxes.checkpoints.workspaces import mark_changed
from outlast.kernel.streams.log import NamedEvent

if TYPE_CHECKING:
    from outlast.kernel.runs.leg import Leg

PREPARE_S: Final = 1_200.0  # the first run of a template waits for its snapshot to be built
CHECK_MORE_S: Final = 240.0  # beside the type check: the page, its picture, a sandbox that has to be woken
LIMIT: Final = "limit_s"  # the field of an error that says that a stage ran out of its time
Kind = Literal["prepare", "check"]


async def perform_stage(leg: "Leg", transcript: Transcript, stage: Prepare | Check) -> None:
    """Do the stage and record what it gave; when it cannot be done, the run has ended (`leg.ended`)."""
    profile = leg.staged
    assert profile is not None
    effect = await _name_stage(leg, transcript, stage)
    context = StageContext(
        run=leg.run,
        effect_id=effect.id,
        attempt=leg.run.attempt,
        tell=partial(_tell, leg),
        lost=partial(tell_lost, leg),
        said=transcript.said,
        last=isinstance(stage, Check) and stage.last,
        untold=transcript.untold if isinstance(stage, Check) else (),
    )
    try:
        result = await _perform(leg, profile, effect, context)
    except anyio.get_cancelled_exc_class():
        if leg.stop == "person":
            await _stop(leg, profile, context)
        raise
    except (StorageUnavailable, DiskFull, FenceLost):
        raise  # not the stage's failure: the run is taken up again, or is another attempt's
    except OutlastError as error:
        await _fail(leg, effect, error)
        return
    with anyio.CancelScope(shield=True):  # write the outcome first, then stop
        await _record(leg, effect, with_untold(result, transcript, context.untold))
    await _quietly(leg, profile.forget, context)


async def _tell(leg: "Leg", name: WorkflowName, status: WorkflowStatus, detail: str = "") -> None:
    now = leg.engine.clock.now()
    began = leg.steps_began.setdefault(name, now)
    if status == "started":
        leg.steps_began[name] = now
    duration_s = None if status in ("started", "skipped") else (now - began).total_seconds()
    await leg.record([workflow_step(leg.run.id, name, status, detail, duration_s)], lambda _tx: None)


async def _name_stage(leg: "Leg", transcript: Transcript, stage: Prepare | Check) -> Effect:
    """Write the effect's id before it starts; one that was cut is taken up under its own."""
    kind: Kind = "prepare" if isinstance(stage, Prepare) else "check"
    step = stage.step if isinstance(stage, Check) else 0
    cut = [e for e in transcript.effects if e.kind == kind and e.status == "started" and e.step == step]
    events: list[NamedEvent] = []

    def change(tx: Tx) -> Effect:
        if kind == "check" and leg.shown.step_of("agent") == "started":
            events.append(_agent_done(leg, transcript, tx.now))
        if cut:
            store.update_effect(tx, cut[-1].id, attempt=leg.run.attempt)
            return cut[-1]
        ordinal, attempt = transcript.next_ordinal, leg.run.attempt
        effect_id = store.insert_effect(
            tx, leg.run.id, ordinal, step, kind, status="started", attempt=attempt, started_at=tx.now
        )
        return Effect(effect_id, ordinal, step, kind, "started", attempt)

    return await leg.record(events, change)


def _agent_done(leg: "Leg", transcript: Transcript, now: datetime) -> NamedEvent:
    """The agent's step, with its turns and calls since the last stage."""
    before = [e.ordinal for e in transcript.effects if e.kind in ("prepare", "check")]
    since = [e for e in transcript.effects if e.ordinal > max(before, default=0)]
    began = next((e.started_at for e in since if e.started_at is not None), None)
    own = [e for e in transcript.effects if not e.inherited]
    turns, calls = (sum(e.kind == kind for e in own) for kind in ("model", "tool"))
    detail = f"{_count(turns, 'turn')}, {_count(calls, 'tool call')}"
    duration_s = None if began is None else (now - began).total_seconds()
    return workflow_step(leg.run.id, "agent", "done", detail, duration_s)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


async def _perform(leg: "Leg", profile: Staged, effect: Effect, context: StageContext) -> StageResult:
    """The result of the stage, tried again where its sandbox goes away or cannot be had at once. Raises `OutlastError`
    when it cannot be done."""
    retries = lost = 0
    while True:
        try:
            return await _once(leg, profile, effect.kind, context)
        except SandboxLost as error:
            if lost == len(LOST_PAUSES_S):
                raise SandboxUnavailable(
                    "The sandbox went away again and again.", hint="Try it again.", **error.fields
                ) from error
            await anyio.sleep(LOST_PAUSES_S[lost])
            lost += 1
        except SandboxUnavailable as error:
            retries += 1
            if LIMIT in error.fields:  # it took all the time it had; it would again
                raise
            if retries > leg.engine.settings.retry.attempts:
                raise
            await leg.engine.clock.sleep(
                backoff_s(retries, leg.engine.settings.retry.base_s, error.retry_after_s, random.random())
            )


async def _once(leg: "Leg", profile: Staged, kind: str, context: StageContext) -> StageResult:
    """One try, within its time. A check that fails by itself is a problem that no model can mend."""
    perform = profile.prepare if kind == "prepare" else profile.check
    limit_s = PREPARE_S if kind == "prepare" else leg.engine.settings.screens.check_timeout_s + CHECK_MORE_S
    try:
        with anyio.move_on_after(limit_s), _ungrouped():
            return await perform(context)
        await _stop(leg, profile, context)
        error: OutlastError = SandboxUnavailable(
            f"The {kind} stage did not end within {limit_s:.0f} seconds.",
            hint="Try it again.",
            **{LIMIT: limit_s},
        )
    except (SandboxLost, SandboxUnavailable, StorageUnavailable, DiskFull, InternalError):
        raise
    except OutlastError as raised:
        error = raised
    except Exception as bug:  # the edge of an effect
        leg.engine.log("stage failed", run_id=leg.run.id, effect_id=context.effect_id, stage=kind, error=bug)
        error = InternalError(f"The {kind} stage failed inside the server ({type(bug).__name__}).")
    if kind == "prepare":
        raise error
    problem = f"The check could not be done: {error.message} {error.hint}".strip()
    return StageResult(problems=(problem,), mendable=False)


@contextmanager
def _ungrouped() -> Iterator[None]:
    """A stage that does things side by side fails with a group of errors: raise what counts of it."""
    try:
        yield
    except BaseExceptionGroup as group:
        causes = list(_leaves(group))
        ours = [cause for cause in causes if isinstance(cause, OutlastError)]
        first = [cause for cause in ours if isinstance(cause, (FenceLost, StorageUnavailable, DiskFull))]
        if len(ours) < len(causes):
            raise
        raise (first or ours)[0] from group


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error


async def _stop(leg: "Leg", profile: Staged, context: StageContext) -> None:
    with anyio.CancelScope(shield=True, deadline=anyio.current_time() + STOP_S):
        await _quietly(leg, profile.stop, context)


async def _quietly(
    leg: "Leg", action: Callable[[StageContext], Awaitable[None]], context: StageContext
) -> None:
    """Clean up after a stage. What it raises is logged: the stage's result stands."""
    try:
        await action(context)
    except Exception as error:
        leg.engine.log("stage clean-up failed", effect_id=context.effect_id, error=error)


def with_untold(result: StageResult, transcript: Transcript, untold: Sequence[str]) -> StageResult:
    """The result with the problems of the last turn's lines, which the model was not told of yet. Where they are all
    that is wrong, and the same as the check before found, telling them again would not help: nobody can mend them."""
    if not untold:
        return result
    checks = [check for check in transcript.stages("check") if not check.inherited]
    before = (checks[-1].result or {}).get("problems", ()) if checks else ()
    again = not result.problems and set(untold) <= set(before)
    problems = tuple(dict.fromkeys((*untold, *result.problems)))
    return replace(result, problems=problems, mendable=result.mendable and not again)


async def _record(leg: "Leg", effect: Effect, result: StageResult) -> None:
    """The result with its parts; and, when the model's turn comes next, that the agent is at work."""
    parts = [part.model_copy(update={"step": effect.step}) for part in result.parts]
    carried = [PartCarrier(part=part) for part in parts]
    events: list[NamedEvent] = [
        (name, part) for part in carried for name in ("part.created", "part.completed")
    ]
    kept = {
        "problems": list(result.problems),
        "mendable": result.mendable,
        "facts": dict(result.facts),
    }

    def change(tx: Tx) -> None:
        workspace_id = store.run_of(tx, leg.run.id).workspace_id if result.changed_files else None
        if workspace_id is not None:
            mark_changed(tx, workspace_id)
            leg.workspace_id = workspace_id
        store.update_effect(tx, effect.id, status="finished", ended_at=tx.now, result=kept)
        coming = leg.next(store.transcript_of(tx, leg.run.id, leg.engine.questions()))
        if _goes_on(coming):
            events.append(workflow_step(leg.run.id, "agent", "started"))

    await leg.record(events, change)
    if result.changed_files:
        leg.files_changed(effect.id)


def _goes_on(coming: Next) -> bool:
    return not isinstance(coming, (Prepare, Check, End))


async def _fail(leg: "Leg", effect: Effect, error: OutlastError) -> None:
    """It cannot be done: the run ends with an error a person can act on; without an answer where none was begun."""
    await leg.files_saved()
    events: list[NamedEvent] = []
    data = ErrorData(
        code=error.code, message=error.message, hint=error.hint, retry_after_s=error.retry_after_s
    )

    def change(tx: Tx) -> None:
        store.update_effect(tx, effect.id, status="failed", ended_at=tx.now, error=error.to_dict())
        ending: Any = leg.settle_in(tx, End("error", "sandbox"), data, save_message=effect.kind == "check")
        events.extend(ending)

    await leg.record(events, change, last=True)
    leg.ended = True
