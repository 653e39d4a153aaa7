"""The model effect: named before it starts, streamed as it arrives, recorded whole, and asked again if it was cut."""

from contextlib import aclosing
from dataclasses import asdict
from datetime import timedelta

import anyio.to_thread

from outlast.base.clock import iso
from outlast.base.errors import ModelCut, OutlastError, TryLater
from outlast.db.database import Tx
from outlast.kernel.models.failures import declined
from outlast.kernel.models.protocol import ModelRequest
from outlast.kernel.models.tool_choice import AUTO
from outlast.kernel.runs import store
from outlast.kernel.runs.context import RunContext
from outlast.kernel.runs.effect_retries import Retries
from outlast.kernel.runs.effect_starts import name_turn
from outlast.kernel.runs.line_parts import part_in, reset_in
from outlast.kernel.runs.line_stream import stream_lines
from outlast.kernel.runs.lined_turn import LinedTurn
from outlast.kernel.runs.outcome import NO_OUTCOME, error_data
from outlast.kernel.runs.rules import End
from outlast.kernel.runs.shapes import RunStatusChanged, StepCompleted, StepReset, UsageData
from outlast.kernel.runs.tool_call_validation import judge_calls, plan_call
from outlast.kernel.runs.transcript import Effect, Transcript
from outlast.kernel.runs.turn_request import TurnRequest
from outlast.kernel.runs.turns import Turn
from outlast.kernel.streams.log_store import NamedEvent

REFUSED = error_data(declined())


async def ask_model(context: RunContext, transcript: Transcript, step: int, named: Effect | None = None) -> bool:
    """Ask for turn `step` until it is complete, its retries are used up, or it was refused for good. Returns True if
    the run has ended with it. `named`: its effect, if it was recorded together with the last call's result."""
    effect = named
    if effect is None:
        agent, run = context.agent, context.run
        effect = await context.record(lambda tx, events: name_turn(tx, agent, run, transcript, step, events))
    retries = Retries(context.engine.settings.retry, effect.retries)
    asked = TurnRequest(context, transcript, effect)
    while True:
        lines = context.agent.lines
        turn = Turn(step) if lines is None else LinedTurn(step)  # a new one for each try: the last one is taken back
        try:
            request = await asked.build()
            if lines is not None and isinstance(turn, LinedTurn):
                await stream_lines(context, lines, request, effect, turn)
            else:
                await _stream(context, request, turn)
            if turn.end is None:
                raise ModelCut("The model's answer was cut off before its end.")
        except NO_OUTCOME:
            raise
        except TryLater as error:
            wait_s = retries.wait_s(error)
            if wait_s is None:
                return await _fail(context, effect, turn, error)
            # The count is saved before the wait: after a kill in it, the next attempt does not start counting from
            # zero.
            await _announce_retry(context, effect, turn, retries.made, error, wait_s)
            await context.engine.clock.sleep(wait_s)
            continue
        except OutlastError as error:
            return await _fail(context, effect, turn, error)
        if request.tool_choice != AUTO and not turn.calls and turn.end.finish == "stop":
            context.engine.log("required tool not called", run_id=context.run.id, model=context.run.model)
        return await _record_turn(context, effect, turn, asked.last_ordinal)


async def _stream(context: RunContext, request: ModelRequest, turn: Turn) -> None:
    model = context.engine.catalog.language_model(request.model.provider)
    async with aclosing(model.stream(request)) as batches:
        async for batch in batches:
            await context.show_turn(turn, batch)


async def _announce_retry(
    context: RunContext, effect: Effect, turn: Turn, retries: int, error: OutlastError, wait_s: float
) -> None:
    """Take back the shown parts of the failed try and the effects of its lines, and announce the time of the next
    try."""
    reset = StepReset(run_id=context.run.id, step=turn.step, attempt=context.run.attempt, parts=[])
    at = iso(context.engine.clock.now() + timedelta(seconds=wait_s))
    status = RunStatusChanged(run_id=context.run.id, status="running", retry_at=at, reason=error.code)

    def change(tx: Tx, events: list[NamedEvent]) -> None:
        store.update_effect(tx, effect.id, retries=retries, error=error.to_dict())
        _add_usage(tx, context, turn)
        if turn.parts:
            events.append(("step.reset", reset))
            events.extend(reset_in(tx, context.agent.lines, context.run, effect.id, turn.step))
        events.append(("run.status", status))

    await context.record(change)


def _add_usage(tx: Tx, context: RunContext, turn: Turn) -> None:
    """Add the tokens of a failed try to the run's sums, as far as the provider reported them: they are paid for
    anyway."""
    if turn.usage is not None:
        store.add_usage(tx, context.run.id, asdict(turn.usage))


async def _fail(context: RunContext, effect: Effect, turn: Turn, error: OutlastError) -> bool:
    """The turn failed for good: the run ends with its partial answer and an error that a user can act on."""
    reason = "policy" if error.code == "model_policy_refused" else "provider"

    def close(tx: Tx) -> None:
        store.update_effect(tx, effect.id, status="failed", ended_at=tx.now, error=error.to_dict())
        _add_usage(tx, context, turn)

    await context.end(End("error", reason), error_data(error), first=close)
    return True


async def _record_turn(context: RunContext, effect: Effect, turn: Turn, last_ordinal: int) -> bool:
    """Record the whole turn with a verdict on each of its calls. Returns True if the run has ended with it. A turn
    without calls ends the run in the same commit, unless a check comes before the end or its lines have a part that
    must be shown first."""
    assert turn.end is not None
    agent = context.agent
    ends = not turn.calls and agent.lines is None and (agent.plan is None or turn.end.finish == "refused")
    if ends:  # before the commit that ends the run: the answer is bound to its last checkpoint there
        await context.files_saved()
    usage, finish, shown = asdict(turn.end.usage), turn.end.finish, turn.completed()
    # Judged before the transaction, which a long command would hold up; grants are checked within it.
    calls = await anyio.to_thread.run_sync(judge_calls, context, tuple(turn.calls), finish) if turn.calls else []
    completed = StepCompleted(
        run_id=context.run.id,
        step=turn.step,
        finish=finish,
        usage=UsageData(**usage),
        context_tokens=context.model.context_tokens,
    )

    def change(tx: Tx, events: list[NamedEvent]) -> bool:
        events.extend(shown)
        store.update_effect(
            tx, effect.id, status="finished", ended_at=tx.now, result=turn.result(), usage=usage, error=None
        )
        store.add_usage(tx, context.run.id, usage)
        grants = store.grants_of(tx, context.run.thread_id) if turn.calls else []
        # In the turn's own commit: no attempt ever finds a finished turn with unplanned calls.
        for offset, call in enumerate(calls, start=1):
            events.extend(plan_call(tx, context, effect, call, last_ordinal + offset, grants))
        if isinstance(turn, LinedTurn) and agent.lines is not None and turn.took:
            events.extend(part_in(tx, agent.lines, context.run, turn.step, turn.counts))
        events.append(("step.completed", completed))
        if not ends:
            return False
        transcript = context.transcript_in(tx)
        coming = context.next(transcript)
        if isinstance(coming, End):
            error = REFUSED if coming.status == "error" else None
            events.extend(context.settle_in(tx, coming, error, run=transcript.run))
            return True
        return False

    return await context.record(change, last=ends)
