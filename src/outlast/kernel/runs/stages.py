"""The stages of a run, for agents that have them: work before the first model turn and a check after the last.

Stages are effects like any other: named before they start, recorded with their result, repeated if they were cut, never
repeated once recorded. They are shown as named steps of the workflow (`workflow.step`).
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any, Final, Literal

import anyio

from outlast.base.errors import InternalError, OutlastError, SandboxLost, SandboxUnavailable
from outlast.base.ids import new_id
from outlast.db.database import Tx
from outlast.kernel.agents.context import StageContext
from outlast.kernel.agents.hooks import StageResult
from outlast.kernel.runs import store
from outlast.kernel.runs.context import RunContext
from outlast.kernel.runs.effect_retries import LIMIT, retry_in_sandbox
from outlast.kernel.runs.finishers import count, workflow_step
from outlast.kernel.runs.outcome import NO_OUTCOME, error_data, leaves_of
from outlast.kernel.runs.rules import Check, End, Prepare
from outlast.kernel.runs.shapes import StepReset, WorkflowStatus, whole_parts
from outlast.kernel.runs.tool_calls import clean_up, stop_effect, tell_lost
from outlast.kernel.runs.transcript import Effect, Transcript
from outlast.kernel.sandboxes.checkpoints.workspaces import mark_changed
from outlast.kernel.streams.log_store import NamedEvent
from outlast.kernel.threads.parts import NoticePart

PREPARE_S: Final = 1_200.0  # the first run of a template waits for its snapshot to be built
CHECK_MORE_S: Final = 240.0  # in addition to the type check: the page, its picture, a sandbox that has to be woken
WITHHELD: Final = "answer_withheld"
WITHHELD_TEXT: Final = "The answer did not pass its check, so it is not shown."
Kind = Literal["prepare", "check"]


async def perform_stage(context: RunContext, transcript: Transcript, stage: Prepare | Check) -> bool:
    """Run the stage and record its result. Returns True if the stage failed, and the run has ended."""
    effect = await _name_stage(context, transcript, stage)
    stage_context = StageContext(
        this_run=context.run,
        effect_id=effect.id,
        attempt=context.run.attempt,
        tell=partial(_show_step, context),
        lost=partial(tell_lost, context),
        answer=transcript.answer(),
        said=transcript.said,
        unchecked=transcript.unchecked,
        last=isinstance(stage, Check) and stage.last,
        untold=transcript.untold if isinstance(stage, Check) else (),
    )
    try:
        result = await _perform(context, effect, stage_context)
    except anyio.get_cancelled_exc_class():
        if context.is_cancelled:
            await stop_effect(context, stage_context)
        raise
    except NO_OUTCOME:
        raise
    except OutlastError as error:
        await _fail(context, effect, error)
        return True
    with anyio.CancelScope(shield=True):  # write the outcome first, then stop
        result = with_untold(result, transcript, stage_context.untold)
        await _record(context, transcript, effect, _with_notice(result, last=stage_context.last))
    await clean_up(context, stage_context.forget, stage_context)  # not before: see `tool_calls`
    return False


async def _show_step(context: RunContext, name: str, status: WorkflowStatus, detail: str = "") -> None:
    began = context.step_began(name, restarts=status == "started")
    took_s = (context.engine.clock.now() - began).total_seconds()
    duration_s = None if status in ("started", "skipped") else took_s
    await context.record_events(workflow_step(context.run.id, name, status, detail, duration_s))


async def _name_stage(context: RunContext, transcript: Transcript, stage: Prepare | Check) -> Effect:
    """Write the effect's id before it starts; a cut one is resumed under its id."""
    kind: Kind = "prepare" if isinstance(stage, Prepare) else "check"
    step = stage.step if isinstance(stage, Check) else 0
    cut = [e for e in transcript.effects if e.kind == kind and e.status == "started" and e.step == step]

    def change(tx: Tx, events: list[NamedEvent]) -> Effect:
        if kind == "check" and context.shown.step_of("agent") == "started":
            events.append(_agent_done(context, transcript, tx.now))
        if cut:  # named by an attempt that is gone: its sandbox may hold a result under this id
            store.update_effect(tx, cut[-1].id, attempt=context.run.attempt)
            return cut[-1]
        return store.start_effect(tx, context.run, transcript.next_ordinal, step, kind)

    return await context.record(change)


def _agent_done(context: RunContext, transcript: Transcript, now: datetime) -> NamedEvent:
    """The agent's step, with its turns and calls since the last stage."""
    before = [e.ordinal for e in transcript.effects if e.kind in ("prepare", "check")]
    since = [e for e in transcript.effects if e.ordinal > max(before, default=0)]
    began = next((e.started_at for e in since if e.started_at is not None), None)
    own = [e for e in transcript.effects if not e.inherited]
    turns, calls = (sum(e.kind == kind for e in own) for kind in ("model", "tool"))
    detail = f"{count(turns, 'turn')}, {count(calls, 'tool call')}"
    duration_s = None if began is None else (now - began).total_seconds()
    return workflow_step(context.run.id, "agent", "done", detail, duration_s)


async def _perform(context: RunContext, effect: Effect, stage: StageContext) -> StageResult:
    """The result of the stage, which is retried if its sandbox goes away or is not available at once. Raises
    `OutlastError` if the stage fails."""
    try:
        return await retry_in_sandbox(
            lambda: _try_once(context, effect.kind, stage), context.engine.settings.retry, context.engine.clock
        )
    except SandboxLost as error:
        raise SandboxUnavailable(
            "The sandbox was lost several times in a row.", hint="Try again.", **error.fields
        ) from error


async def _try_once(context: RunContext, kind: str, stage: StageContext) -> StageResult:
    """One try, within its time limit. A check that fails itself is a problem that no model can fix."""
    agent = context.agent
    perform = agent.prepare if kind == "prepare" else agent.check
    if perform is None:  # planned by an attempt under another configuration
        return StageResult()
    limit_s = PREPARE_S if kind == "prepare" else context.engine.settings.screens.check_timeout_s + CHECK_MORE_S
    try:
        with anyio.move_on_after(limit_s), _ungrouped():
            return await perform(stage)
        await stop_effect(context, stage)  # it continues in the sandbox: another try would conflict with it
        error: OutlastError = SandboxUnavailable(
            f"The {kind} stage did not end within {limit_s:.0f} seconds.", hint="Try again.", **{LIMIT: limit_s}
        )
    except (SandboxLost, SandboxUnavailable, InternalError, *NO_OUTCOME):
        raise
    except OutlastError as raised:
        error = raised
    except Exception as bug:  # the edge of an effect
        context.engine.log("stage failed", run_id=context.run.id, effect_id=stage.effect_id, stage=kind, error=bug)
        error = InternalError(f"The {kind} stage failed inside the server ({type(bug).__name__}).")
    if kind == "prepare":
        raise error
    problem = f"The check failed: {error.message} {error.hint}".strip()
    return StageResult(problems=(problem,), mendable=False)


@contextmanager
def _ungrouped() -> Iterator[None]:
    """A stage with parallel work fails with a group of errors: raise the most important one."""
    try:
        yield
    except BaseExceptionGroup as group:
        causes = leaves_of(group)
        ours = [cause for cause in causes if isinstance(cause, OutlastError)]
        first = [cause for cause in ours if isinstance(cause, NO_OUTCOME)]
        if len(ours) < len(causes):
            raise
        raise (first or ours)[0] from group


def with_untold(result: StageResult, transcript: Transcript, untold: Sequence[str]) -> StageResult:
    """The result with the problems of the last turn's lines, which the model has not read yet. If they are the only
    problems, and the same as in the check before, repeating them would not help: they are marked as not fixable."""
    if not untold:
        return result
    checks = [check for check in transcript.stages("check") if not check.inherited]
    before = (checks[-1].result or {}).get("problems", ()) if checks else ()
    again = not result.problems and set(untold) <= set(before)
    problems = tuple(dict.fromkeys((*untold, *result.problems)))
    return replace(result, problems=problems, mendable=result.mendable and not again)


def _with_notice(result: StageResult, *, last: bool) -> StageResult:
    """The result with a notice for people if the run ends without the texts that a check took out of the answer."""
    if not (result.withdraw and result.problems and (last or not result.mendable)):
        return result
    notice = NoticePart(id=new_id("part"), level="warning", code=WITHHELD, text=WITHHELD_TEXT)
    return replace(result, parts=(*result.parts, notice))


async def _record(context: RunContext, transcript: Transcript, effect: Effect, result: StageResult) -> None:
    """Record the result with its parts; and, if the model's turn is next, that the agent is at work."""
    kept = {"problems": list(result.problems), "mendable": result.mendable, "facts": dict(result.facts)}

    def change(tx: Tx, events: list[NamedEvent]) -> None:
        if result.withdraw and effect.kind == "check":
            events.extend(_without_texts(context, transcript.checked_step))
        events.extend(whole_parts(result.parts, effect.step))
        workspace_id = store.run_of(tx, context.run.id).workspace_id if result.changed_files else None
        if workspace_id is not None:
            mark_changed(tx, workspace_id)
            context.works_in(workspace_id)
        store.update_effect(tx, effect.id, status="finished", ended_at=tx.now, result=kept)
        if not isinstance(context.next(context.transcript_in(tx)), (Prepare, Check, End)):
            events.append(workflow_step(context.run.id, "agent", "started"))

    await context.record(change)
    if result.changed_files:
        context.files_changed(effect.id)


def _without_texts(context: RunContext, after: int) -> Iterator[NamedEvent]:
    """The steps after this one again, without their texts. All of them, so that they stay in their order."""
    shown = [part for part in context.shown.parts if part["step"] > after]
    for step in sorted({part["step"] for part in shown}):
        kept: Any = [part for part in shown if part["step"] == step and part["type"] not in ("text", "reasoning")]
        yield "step.reset", StepReset(run_id=context.run.id, step=step, attempt=context.run.attempt, parts=kept)


async def _fail(context: RunContext, effect: Effect, error: OutlastError) -> None:
    """The stage failed: the run ends with an error that a user can act on, and without an answer if none was begun."""

    def close(tx: Tx) -> None:
        store.update_effect(tx, effect.id, status="failed", ended_at=tx.now, error=error.to_dict())

    await context.end(End("error", "sandbox"), error_data(error), effect.kind == "check", close)
