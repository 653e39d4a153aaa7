"""The tool effects of one step, in parallel: marked as started, executed, each recorded when it finishes."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from typing import Any

import anyio
import orjson

from outlast.base.errors import (
    DiskLimit,
    InternalError,
    OutlastError,
    SandboxLost,
    SandboxUnavailable,
    WorkspaceUnreadable,
)
from outlast.base.ids import new_id
from outlast.base.records import dataclass
from outlast.db.database import Tx
from outlast.kernel.agents.context import CleanUp, Context, EffectContext
from outlast.kernel.agents.handoff import HandoffTool
from outlast.kernel.agents.sources import sources_part
from outlast.kernel.agents.tool import Tool, ToolResult
from outlast.kernel.models.turn_calls import parse_arguments
from outlast.kernel.runs import store
from outlast.kernel.runs.call_images import store_images
from outlast.kernel.runs.child_reports import end_children
from outlast.kernel.runs.context import RunContext
from outlast.kernel.runs.effect_retries import retry_in_sandbox
from outlast.kernel.runs.effect_starts import name_turn, start_calls
from outlast.kernel.runs.function_output import FunctionOutput
from outlast.kernel.runs.function_resources import open_resources, saved_names
from outlast.kernel.runs.journal import Parked, RunJournal, open_journal
from outlast.kernel.runs.outcome import NO_OUTCOME
from outlast.kernel.runs.parked import Suspended, announce_decisions_in
from outlast.kernel.runs.rules import AskModel
from outlast.kernel.runs.shapes import PartCarrier, ToolResultData, whole_parts
from outlast.kernel.runs.tool_call_validation import REMOVED_TOOL
from outlast.kernel.runs.transcript import Effect, Transcript
from outlast.kernel.runs.turns import encodable
from outlast.kernel.sandboxes.checkpoints.workspaces import mark_changed
from outlast.kernel.sandboxes.shapes import ContextLost, FilesChanged
from outlast.kernel.streams.log_store import Line, NamedEvent
from outlast.kernel.threads.parts import NoticePart

STOP_S = 1.0  # the time for a tool's own stop before the run continues without it
LOST_TEXT = (
    "The sandbox had ended. A new one was started with the same files; earlier processes and variables are gone."
)
RESULT_CHARS = 60_000  # most characters of one result in a model's context


@dataclass(slots=True)
class CallsOutcome:
    """The outcome of a step's calls. `unavailable`: the reason why no sandbox is available, which ends the run;
    `named`: the next turn of the model, if it was named together with the last result; `suspended`: the calls whose
    functions wait."""

    unavailable: SandboxUnavailable | None = None
    named: tuple[Transcript, Effect] | None = None
    suspended: list[Suspended] = field(default_factory=list)


async def call_tools(context: RunContext, effects: Sequence[Effect], *, are_started: bool = False) -> CallsOutcome:
    """Execute these calls, and record each when it finishes. `are_started`: the journal has their start already."""
    outcome = CallsOutcome()
    if any(context.tool(effect.tool) is None for effect in effects):
        await context.connect()
    # Committed before anything runs: an attempt that finds a started call knows that it may have taken effect.
    if not are_started:
        effects = await _mark_started(context, effects)
    async with anyio.create_task_group() as group:
        for effect in effects:
            group.start_soon(_call, context, effect, outcome)
    return outcome


async def _mark_started(context: RunContext, effects: Sequence[Effect]) -> Sequence[Effect]:
    def change(tx: Tx, _events: list[NamedEvent]) -> Sequence[Effect]:
        return start_calls(tx, context.run, effects)

    return await context.record(change)


async def _call(context: RunContext, effect: Effect, outcome: CallsOutcome) -> None:
    if isinstance(context.tool(effect.tool), HandoffTool):  # after the other calls of the step: `handoffs.hand_over`
        await context.record(lambda tx, _events: store.update_effect(tx, effect.id, status="deferred"))
        return
    journal = await open_journal(context, effect)
    shown = context.shown.part(effect.part_id) if effect.part_id else None
    output = FunctionOutput((shown or {}).get("output", ""), partial(_show_output, context, effect))
    tool = context.tool(effect.tool)
    saved = await saved_names(context) if tool is not None and tool.takes_context else ()
    call = function_context(context, effect, journal, output, saved=saved)
    try:
        if tool is None:
            result = ToolResult(REMOVED_TOOL.format(tool=effect.tool), is_error=True)
        else:
            result = await _perform(context, tool, call, journal, parse_arguments(effect.arguments or "{}") or {})
    except anyio.get_cancelled_exc_class():
        if context.is_cancelled:
            await stop_effect(context, call)
        raise
    except Parked:
        outcome.suspended.append(Suspended(effect.id, journal.waiting))
        return
    except SandboxUnavailable as error:  # it ends the run, after the parallel calls have their results
        outcome.unavailable = error
        return
    if notes := context.take_notes():  # the model reads them with the next result
        result = replace(result, notes=notes)
    with anyio.CancelScope(shield=True):  # write the outcome first, then stop
        changed = tool is not None and tool.changes_files
        named = await _record_result(context, effect, result, changed=changed, has_steps=journal.has_records)
        outcome.named = named or outcome.named
    await clean_up(context, call.forget, call)  # until here, another attempt can collect the result from the sandbox


async def _perform(
    context: RunContext, tool: Tool, call: Context, journal: RunJournal, arguments: Mapping[str, Any]
) -> ToolResult:
    """The result, or for a failure the error that the model reads. Only a missing sandbox ends the run."""
    if call.reattach and not (tool.repeatable or tool.reattaches or journal.has_records):
        return interrupted(tool.name)
    try:
        return await retry_in_sandbox(
            lambda: journal.call(lambda: tool.run(call, arguments)),
            context.engine.settings.retry,
            context.engine.clock,
            is_final=lambda loss: isinstance(loss, DiskLimit) or not tool.repeatable,
        )
    except SandboxLost as error:
        return await _lost(context, tool.name, error)
    except (SandboxUnavailable, InternalError, *NO_OUTCOME):
        raise
    except OutlastError as error:
        return _refused(context, error)
    except Exception as error:  # the edge of an effect: a tool's bug is reported to the model and does not end the run
        context.engine.log("tool failed", run_id=context.run.id, effect_id=call.effect_id, tool=tool.name, error=error)
        return ToolResult(f"The tool {tool.name} failed inside the server ({type(error).__name__}).", is_error=True)


def _refused(context: RunContext, error: OutlastError) -> ToolResult:
    """The result of a refused call. A workspace that cannot be restored is also shown to people, once in an answer:
    they choose what to do."""
    if not isinstance(error, WorkspaceUnreadable):
        return ToolResult(f"{error.message} {error.hint}".strip(), is_error=True)
    told = any(part.get("code") == error.code for part in context.shown.parts)
    notice = NoticePart(id=new_id("part"), level="error", code=error.code, text=error.message)
    return ToolResult(
        f"{error.message} A person has to restore it from a backup or to start with an empty workspace. Do not call the"
        " tool again: tell the person.",
        is_error=True,
        parts=() if told else (notice,),
    )


async def _lost(context: RunContext, tool: str, error: SandboxLost) -> ToolResult:
    """The result of a call whose sandbox went away during it, or was ended because it filled the disk."""
    told, code = LOST_TEXT, "context_lost"
    text = (
        f"The sandbox was lost while {tool} ran; whether it took effect is not known. A new sandbox with the same "
        "files is made at the next call; running processes and variables are gone. Check before repeating it."
    )
    if isinstance(error, DiskLimit):
        told, code = f"{error.message} {error.hint}", error.code
        text = (
            f"{told} Its processes and variables are gone; whether this call took effect is not known. The next call "
            "finds the same files in a new sandbox."
        )
    if context.run.workspace_id and (gone := error.fields.get("sandbox_id")):
        await tell_lost(context, context.run.workspace_id, str(gone), told, code)
        context.take_notes()  # this result already has the note
    return ToolResult(text, is_error=True, interrupted=True)


def interrupted(tool: str) -> ToolResult:
    """The text for the model about a call that can be neither re-attached nor repeated."""
    return ToolResult(
        f"The call of {tool} was interrupted by a restart of the server; whether it took effect is not known. "
        "Check before repeating it.",
        is_error=True,
        interrupted=True,
    )


async def tell_lost(
    context: RunContext, workspace_id: str, sandbox_id: str, text: str = LOST_TEXT, code: str = "context_lost"
) -> None:
    """Report to the run, once per sandbox, that it continues in a new one: an event for programs, a notice for
    people."""
    if sandbox_id in context.lost_sandboxes:
        return
    context.lost_sandboxes.add(sandbox_id)
    context.note(text)
    told = ContextLost(workspace_id=workspace_id, sandbox_id=sandbox_id, text=text)
    notice = NoticePart(id=new_id("part"), step=context.shown.step, level="warning", code=code, text=text)
    await context.record_events(("context.lost", told), ("part.created", PartCarrier(part=notice)))


def lost_so_far(lines: Iterable[Line]) -> set[str]:
    """The sandboxes whose loss is already in the run's log, from an earlier attempt."""
    told = (orjson.loads(body) for _, body in lines if b'"context.lost"' in body)
    return {event["data"]["sandbox_id"] for event in told if event["event"] == "context.lost"}


def _show_output(context: RunContext, effect: Effect, text: str) -> None:
    if effect.part_id:
        context.show([("tool_call.output.delta", effect.part_id, text)])


def function_context(
    context: RunContext,
    effect: Effect,
    journal: RunJournal,
    output: Callable[[str], None],
    message: str = "",
    saved: Sequence[str] = (),
) -> Context:
    """The context of a function: a tool's or a flow. `saved`: names of saved secrets."""
    lost = partial(tell_lost, context)
    within = EffectContext(this_run=context.run, effect_id=effect.id, attempt=context.run.attempt, lost=lost)
    return Context(
        this_run=context.run,
        effect_id=effect.id,
        attempt=context.run.attempt,
        reattach=effect.status == "started",
        started_at=effect.started_at or context.engine.clock.now(),
        output=output,
        journal=journal,
        resources=open_resources(context, journal, within, effect.step, saved),
        message=message,
        lost=lost,
    )


async def _record_result(
    context: RunContext, effect: Effect, result: ToolResult, *, changed: bool = False, has_steps: bool = False
) -> tuple[Transcript, Effect] | None:
    """Record the result. Returns the next turn, if it was named with it. `changed`: the call may have changed files, so
    they are saved while the run continues; `has_steps`: its function may have left runs that still work."""
    content = encodable(result.content)
    if len(content) > RESULT_CHARS:
        half = RESULT_CHARS // 2
        content = f"{content[:half]}\n[… {len(content) - RESULT_CHARS} characters omitted …]\n{content[-half:]}"
    stored = await store_images(context.engine.blobs, result.images)
    content = "\n".join([content, *stored.notes])
    call_id = effect.call_id or ""
    parts = [*stored.parts(call_id), *sources_part(result.sources, call_id), *result.parts]
    status = "interrupted" if result.interrupted else "error" if result.is_error else "done"
    began = effect.started_at  # of the first attempt: a re-attached command has run since then
    duration_s = None if began is None else max((context.engine.clock.now() - began).total_seconds(), 0.0)
    shown = ToolResultData(
        part_id=effect.part_id or "",
        call_id=call_id,
        status=status,  # type: ignore[arg-type]  # one of the three above
        result=content,
        duration_s=None if duration_s is None else round(duration_s, 3),
    )

    def change(tx: Tx, events: list[NamedEvent]) -> tuple[Transcript, Effect] | None:
        # In the commit of the result: shown with it, never twice and never without it.
        events += [("tool_call.result", shown), *whole_parts(parts, effect.step)]
        images = stored.record(tx, context.run)
        workspace_id = store.run_of(tx, context.run.id).workspace_id if changed or result.files else None
        if changed and workspace_id is not None:
            mark_changed(tx, workspace_id)  # after a kill before the checkpoint, one is still due
            context.works_in(workspace_id)
        if result.files:
            files = FilesChanged(run_id=context.run.id, workspace_id=workspace_id or "", files=list(result.files))
            events.append(("files.changed", files))
        if has_steps:
            end_children(tx, effect.id)
        store.update_effect(
            tx,
            effect.id,
            status="interrupted" if result.interrupted else "finished",
            ended_at=tx.now,
            result={"content": content, "is_error": result.is_error}
            | ({"notes": list(result.notes)} if result.notes else {})
            | ({"images": images} if images else {}),
        )
        return _name_next_turn(tx, context, events)

    named = await context.record(change)
    if changed:
        context.files_changed(effect.id)
    return named


def _name_next_turn(tx: Tx, context: RunContext, events: list[NamedEvent]) -> tuple[Transcript, Effect] | None:
    """After the step's last result the model is asked again: named in the same commit, which saves one."""
    transcript = context.transcript_in(tx)
    coming = context.next(transcript)
    if not isinstance(coming, AskModel):
        return None
    # The model reads the decisions in the turn that is named here: the log shows them before it.
    announce_decisions_in(tx, context.run.id, events)
    return transcript, name_turn(tx, context.agent, context.run, transcript, coming.step, events)


async def stop_effect(context: RunContext, effect: EffectContext) -> None:
    """A user cancelled the run: stop the work of the call or stage, within a second."""
    with anyio.CancelScope(shield=True, deadline=anyio.current_time() + STOP_S):
        await clean_up(context, effect.stop, effect)


async def clean_up(context: RunContext, action: CleanUp, effect: EffectContext) -> None:
    """Clean up after a call or a stage. An error is logged: the effect's result is kept."""
    try:
        await action()
    except Exception as error:
        context.engine.log("clean-up failed", run_id=context.run.id, effect_id=effect.effect_id, error=error)
