"""The run of a flow: its function is called until it returns, and in between the run is only a row."""

from functools import partial
from typing import Any

import anyio
from pydantic_core import PydanticSerializationError, to_json

from outlast.base.agent_errors import FlowChanged, FlowMisused
from outlast.base.errors import OutlastError, SandboxUnavailable
from outlast.base.ids import new_id
from outlast.db.database import Tx
from outlast.kernel.runs import store
from outlast.kernel.runs.child_reports import end_children
from outlast.kernel.runs.context import RunContext
from outlast.kernel.runs.effect_retries import retry_in_sandbox
from outlast.kernel.runs.function_output import FunctionOutput, Shown
from outlast.kernel.runs.function_resources import saved_names
from outlast.kernel.runs.guest_journal import Guest, GuestJournal
from outlast.kernel.runs.journal import Parked, RunJournal, open_journal
from outlast.kernel.runs.outcome import NO_OUTCOME, error_data
from outlast.kernel.runs.parked import Suspended, announce_decisions, park
from outlast.kernel.runs.rules import End
from outlast.kernel.runs.shapes import ErrorData, PartCarrier, StepStarted
from outlast.kernel.runs.tool_calls import clean_up, function_context, stop_effect
from outlast.kernel.runs.transcript import Effect, Transcript
from outlast.kernel.runs.turns import encodable
from outlast.kernel.streams.log_store import NamedEvent
from outlast.kernel.threads.parts import NoticePart, TextPart
from outlast.kernel.threads.tables import messages

STEP = 1  # a flow is one step of its run
MAX_ANSWER_CHARS = 1_000_000
SHOWN = "flow"  # the code of its notices


async def perform_flow(context: RunContext, transcript: Transcript) -> tuple[bool, bool]:
    """Call the function of the run's flow. Returns whether the run has ended, and whether it is parked; if neither,
    what it waits for has come meanwhile."""
    if transcript.run.cancel_reason is not None:
        await context.end(End("cancelled", transcript.run.cancel_reason))
        return True, False
    effect = transcript.flow
    if effect is not None and effect.status == "finished":  # its process ended before the run did
        await context.end(End("completed", "end"))
        return True, False
    effect = await _start(context, effect)
    flow = context.agent.flow
    assert flow is not None
    journal = await open_journal(context, effect, GuestJournal if isinstance(flow, Guest) else RunJournal)
    await announce_decisions(context, transcript)  # after the journal is read: what the function reads, the log shows
    message = await context.engine.db.read(_message_of, context.run.message_id)
    output = FunctionOutput(_shown(context), partial(_show_notice, context))
    call = function_context(context, effect, journal, output, message, await saved_names(context))
    try:
        value = await retry_in_sandbox(
            lambda: journal.call(lambda: flow(call)), context.engine.settings.retry, context.engine.clock
        )
        text = encodable(value if isinstance(value, str) else to_json(value).decode())
        if len(text) > MAX_ANSWER_CHARS:
            raise FlowMisused(
                f"The flow returned {len(text):,} characters; an answer has {MAX_ANSWER_CHARS:,} at most."
            )
    except Parked:
        await context.files_saved()
        return False, await park(context, "run", [Suspended(effect.id, journal.waiting, journal.waits_for_calls)])
    except anyio.get_cancelled_exc_class():
        if context.is_cancelled:
            await stop_effect(context, call)
        raise
    except NO_OUTCOME:
        raise
    except Exception as error:  # the edge of an effect
        await _fail(context, effect, error)
        return True, False
    with anyio.CancelScope(shield=True):  # write the outcome first, then stop
        await _record(context, effect, "" if isinstance(value, Shown) else text)
    await clean_up(context, call.forget, call)
    await context.end(End("completed", "end"))
    return True, False


async def _start(context: RunContext, effect: Effect | None) -> Effect:
    """The effect of the flow, marked as started; as it was, so that its journal is read if it has begun before."""

    def change(tx: Tx, events: list[NamedEvent]) -> Effect:
        if effect is None or not effect.attempt:  # it has not begun in this run
            events.append(("step.started", StepStarted(run_id=context.run.id, step=STEP, attempt=context.run.attempt)))
        if effect is None:
            begun = store.start_effect(tx, context.run, 1, STEP, "flow")
            return begun._replace(attempt=0, started_at=tx.now)
        store.update_effect(tx, effect.id, status="started", attempt=context.run.attempt)
        return effect

    return await context.record(change)


def _message_of(tx: Tx, message_id: str) -> str:
    parts: list[dict[str, Any]] = tx.value(messages.c.parts, {"id": message_id}) or []
    return "\n".join(part["text"] for part in parts if part["type"] == "text")


def _shown(context: RunContext) -> str:
    """The texts of the function's notices so far."""
    return "".join(part["text"] for part in context.shown.parts if part.get("code") == SHOWN)


def _show_notice(context: RunContext, text: str) -> None:
    notice = NoticePart(id=new_id("part"), step=STEP, code=SHOWN, text=text)
    context.show([("part.created", PartCarrier(part=notice))])


async def _record(context: RunContext, effect: Effect, text: str) -> None:
    part = TextPart(id=new_id("part"), step=max(STEP, context.shown.step), text=text)  # a guest has steps of its own

    def change(tx: Tx, events: list[NamedEvent]) -> None:
        if text:
            events.append(("part.completed", PartCarrier(part=part)))
        end_children(tx, effect.id)
        store.update_effect(tx, effect.id, status="finished", ended_at=tx.now)

    await context.record(change)


async def _fail(context: RunContext, effect: Effect, error: Exception) -> None:
    """The function raised: the run ends with an error that a user can act on."""
    context.engine.log("flow failed", run_id=context.run.id, error=error)
    if isinstance(error, OutlastError):
        shown = error_data(error)
    elif isinstance(error, PydanticSerializationError):
        shown = ErrorData(
            code="flow_failed", message="The flow returned a value that is not JSON.", hint="Return a text."
        )
    else:
        name = type(error).__name__
        shown = ErrorData(
            code="flow_failed", message=f"The flow failed ({name}).", hint="The server's log has its traceback."
        )

    def close(tx: Tx) -> None:
        end_children(tx, effect.id)
        store.update_effect(tx, effect.id, status="failed", ended_at=tx.now, error=shown.model_dump())

    reason = (
        "sandbox" if isinstance(error, SandboxUnavailable) else "changed" if isinstance(error, FlowChanged) else "flow"
    )
    await context.end(End("error", reason), shown, first=close)
