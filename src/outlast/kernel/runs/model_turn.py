"""The model effect: named before it starts, streamed as it comes, recorded whole, and asked again when it is cut."""

import random
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import anyio.to_thread

from outlast.base.clock import iso
from outlast.base.errors import (
    ArgumentsInvalid,
    DiskFull,
    FenceLost,
    ModelCut,
    OutlastError,
    StorageUnavailable,
    TryLater,
)
from outlast.base.events import (
    ApprovalData,
    ApprovalRequested,
    ErrorData,
    NoticePart,
    PartCarrier,
    QuestionAsked,
    QuestionData,
    QuestionItem,
    RunStatusChanged,
    StepCompleted,
    StepReset,
    StepStarted,
    ToolResultData,
    UsageData,
)
from outlast.base.ids import new_id
from outlast.db.database import Tx
from outlast.kernel.models.protocol import ModelRequest
from outlast.kernel.models.turn import parse_arguments
from outlast.kernel.runs import policy, store
from outlast.kernel.runs.inbox import tell_asked
from outlast.kernel.runs.line_stream import part_in, reset_in, stream_lines
from outlast.kernel.runs.lines import LinedTurn
from outlast.kernel.runs.model import Effect, Transcript
from outlast.kernel.runs.policy import Grant
from outlast.kernel.runs.profile import Prompt
from outlast.kernel.runs.rules import End, backoff_s
from outlast.kernel.runs.turns import OpenPart, Turn, call_part, cut_call_text, messages_of
from outlast.kernel.streams.log import NamedEvent

if TYPE_CHECKING:
    from outlast.kernel.runs.leg import Leg
REFUSED = ErrorData(
    code="model_policy_refused",
    message="The model declined to answer this.",
    hint="Say it differently, or choose another model.",
)


async def ask_model(leg: "Leg", transcript: Transcript, step: int, named: Effect | None = None) -> None:
    """Ask for turn `step` until it is whole, its retries are used up, or it was refused for good. `named`: its effect,
    where the last call's result was recorded together with it."""
    effect = named or await _name_effect(leg, transcript, step)
    retries = effect.retries
    while True:
        turn = Turn(step) if leg.lined is None else LinedTurn(step)
        try:
            request = await _request(leg, transcript, effect)
            if leg.lined is not None and isinstance(turn, LinedTurn):
                await stream_lines(leg, leg.lined, request, effect, turn)
            else:
                await _stream(leg, request, turn)
        except (StorageUnavailable, DiskFull, FenceLost):
            raise  # not the model's failure: the run is taken up again, or is another attempt's
        except TryLater as error:
            retries += 1
            wait_s = backoff_s(
                retries, leg.engine.settings.retry.base_s, error.retry_after_s, random.random()
            )
            if retries > leg.engine.settings.retry.attempts or wait_s > leg.engine.settings.retry.max_wait_s:
                return await _fail(leg, effect, turn, error)
            await _announce_retry(leg, effect, turn, retries, error, wait_s)
            await leg.engine.clock.sleep(wait_s)
            continue
        except OutlastError as error:
            return await _fail(leg, effect, turn, error)
        return await _record_turn(leg, effect, turn)


async def _name_effect(leg: "Leg", transcript: Transcript, step: int) -> Effect:
    events: list[NamedEvent] = []
    return await leg.record(events, lambda tx: name_effect_in(tx, leg, transcript, step, events))


def name_effect_in(tx: Tx, leg: "Leg", transcript: Transcript, step: int, events: list[NamedEvent]) -> Effect:
    """Write the effect's id before it starts; a cut turn's parts are taken back first. Adds what is shown of it to
    `events`."""
    last = transcript.last_turn
    again = last if last is not None and last.step == step else None
    if again is not None:
        reset = StepReset(run_id=leg.run.id, step=step, attempt=leg.run.attempt, parts=[])
        events.append(("step.reset", reset))
        events.extend(reset_in(tx, leg, again.id, step))
    events.append(("step.started", StepStarted(run_id=leg.run.id, step=step, attempt=leg.run.attempt)))
    if again is not None:
        store.update_effect(tx, again.id, status="started", attempt=leg.run.attempt)
        return again
    ordinal = transcript.next_ordinal
    effect_id = store.insert_effect(
        tx, leg.run.id, ordinal, step, "model", status="started", attempt=leg.run.attempt, started_at=tx.now
    )
    return Effect(effect_id, ordinal, step, "model", "started", leg.run.attempt)


async def _request(leg: "Leg", transcript: Transcript, effect: Effect) -> ModelRequest:
    prompt = await leg.engine.db.read(leg.profile.prompt, leg.run)
    await _show_notices(leg, prompt, effect.step)
    return ModelRequest(
        model=leg.engine.catalog.get(leg.run.model),
        system=prompt.system,
        messages=(*prompt.messages, *messages_of(transcript.effects)),
        tools=tuple(tool.spec() for tool in leg.profile.tools.values()),
        metadata={"run_id": leg.run.id, "step": effect.step, "attempt": leg.run.attempt},
    )


async def _show_notices(leg: "Leg", prompt: Prompt, step: int) -> None:
    """Tell the person what the prompt has to say to them, once a run."""
    told = {part["code"] for part in leg.shown.parts if part["type"] == "notice"}
    events: list[NamedEvent] = [
        (
            "part.created",
            PartCarrier(part=NoticePart(id=new_id("part"), step=step, level="warning", code=code, text=text)),
        )
        for code, text in prompt.notices
        if code not in told
    ]
    if events:
        await leg.record(events, lambda _tx: None)


async def _stream(leg: "Leg", request: ModelRequest, turn: Turn) -> None:
    model = leg.engine.catalog.language_model(request.model.provider)
    async with aclosing(model.stream(request)) as batches:
        async for batch in batches:
            waiting: list[tuple[str, str, str]] = []
            for delta in batch:
                begun, shown = turn.take(delta)
                if begun is not None:
                    if waiting:
                        leg.show(waiting)
                        waiting = []
                    await leg.record([begun], lambda _tx: None)
                if shown is not None:
                    waiting.append(shown)
            if waiting:
                leg.show(waiting)
    if turn.end is None:
        raise ModelCut("The model's answer broke off before its end.")


async def _announce_retry(
    leg: "Leg", effect: Effect, turn: Turn, retries: int, error: OutlastError, wait_s: float
) -> None:
    """Take back what was shown of the failed try, and what its lines did, and say when the next one is."""
    events: list[NamedEvent] = []
    reset = StepReset(run_id=leg.run.id, step=turn.step, attempt=leg.run.attempt, parts=[])
    at = iso(leg.engine.clock.now() + timedelta(seconds=wait_s))
    status = RunStatusChanged(run_id=leg.run.id, status="running", retry_at=at, reason=error.code)

    def change(tx: Tx) -> None:
        store.update_effect(tx, effect.id, retries=retries, error=error.to_dict())
        _book(tx, leg, turn)
        if turn.parts:
            events.append(("step.reset", reset))
            events.extend(reset_in(tx, leg, effect.id, turn.step))
        events.append(("run.status", status))

    await leg.record(events, change)


def _book(tx: Tx, leg: "Leg", turn: Turn) -> None:
    """Add what a failed try used to the run's sums, as far as the provider said: it was paid for all the same."""
    if turn.usage is not None:
        store.add_usage(tx, leg.run.id, asdict(turn.usage))


async def _fail(leg: "Leg", effect: Effect, turn: Turn, error: OutlastError) -> None:
    """The turn failed for good: the run ends with what was made and an error a person can act on."""
    await leg.files_saved()
    events: list[NamedEvent] = []
    reason = "policy" if error.code == "model_policy_refused" else "provider"
    data = ErrorData(
        code=error.code, message=error.message, hint=error.hint, retry_after_s=error.retry_after_s
    )

    def change(tx: Tx) -> None:
        store.update_effect(tx, effect.id, status="failed", ended_at=tx.now, error=error.to_dict())
        _book(tx, leg, turn)
        events.extend(leg.settle_in(tx, End("error", reason), data))

    await leg.record(events, change, last=True)
    leg.ended = True


async def _record_turn(leg: "Leg", effect: Effect, turn: Turn) -> None:
    """Record the whole turn with a verdict on each of its calls; a turn without calls ends the run in the same
    commit, unless a check comes before the end or its lines have a part that is to be shown first."""
    assert turn.end is not None
    ends = not turn.calls and leg.lined is None and (leg.staged is None or turn.end.finish == "refused")
    if ends:
        await leg.files_saved()
    usage, finish = asdict(turn.end.usage), turn.end.finish
    events = turn.completed()
    calls = await anyio.to_thread.run_sync(_judged, leg, tuple(turn.calls), finish) if turn.calls else []
    completed = StepCompleted(
        run_id=leg.run.id, step=turn.step, finish=turn.end.finish, usage=UsageData(**usage)
    )

    def change(tx: Tx) -> bool:
        store.update_effect(
            tx, effect.id, status="finished", ended_at=tx.now, result=turn.result(), usage=usage, error=None
        )
        store.add_usage(tx, leg.run.id, usage)
        grants = store.grants_of(tx, leg.run.thread_id) if turn.calls else []
        for offset, call in enumerate(calls, start=1):
            events.extend(_plan_call(tx, leg, effect, call, effect.ordinal + offset, grants))
        if isinstance(turn, LinedTurn) and leg.lined is not None and turn.took:
            events.extend(part_in(tx, leg.lined, leg.run, turn.step, turn.counts)[1])
        events.append(("step.completed", completed))
        if not ends:
            return False
        coming = leg.next(store.transcript_of(tx, leg.run.id, leg.engine.questions()))
        if isinstance(coming, End):
            events.extend(leg.settle_in(tx, coming, REFUSED if coming.status == "error" else None))
            return True
        return False

    leg.ended = await leg.record(events, change, last=ends)


@dataclass(frozen=True, slots=True)
class _JudgedCall:
    """A call with what is known of it before the transaction. `refusal`: why it cannot be made; empty: it can."""

    part: OpenPart
    arguments: dict[str, Any] | None
    refusal: str
    judgement: policy.Judgement | None


def _judged(leg: "Leg", parts: Sequence[OpenPart], finish: str) -> list[_JudgedCall]:
    """The calls of a turn beside the policy. Runs in a thread: a command may take long to read."""
    calls = []
    for part in parts:
        arguments = parse_arguments(part.whole())
        refusal = _refusal(leg, part, arguments, finish)
        judgement = None
        if not refusal and arguments is not None:
            rules = leg.engine.settings.policy
            judgement = policy.judge(rules, leg.run.profile, part.tool, arguments)
        calls.append(_JudgedCall(part, arguments, refusal, judgement))
    return calls


def _plan_call(
    tx: Tx, leg: "Leg", turn: Effect, call: _JudgedCall, ordinal: int, grants: list[Grant]
) -> list[NamedEvent]:
    """The effect of one call, with the policy's verdict: allowed, waiting for a person, or closed at once."""
    part, arguments, refusal = call.part, call.arguments, call.refusal
    tool = leg.profile.tools.get(part.tool)
    verdict = policy.Verdict("deny", refusal) if call.judgement is None else call.judgement.after(grants)
    asks = refusal == "" and tool is not None and tool.asks_person and verdict.decision != "deny"
    status = (
        "waiting"
        if asks or verdict.decision == "ask"
        else "allowed"
        if verdict.decision == "allow"
        else "denied"
    )
    values: dict[str, Any] = {}
    if status == "denied":
        values = {"result": {"content": verdict.reason, "is_error": True}, "ended_at": tx.now}
    effect_id = store.insert_effect(
        tx,
        leg.run.id,
        ordinal,
        turn.step,
        "tool",
        status="finished" if refusal else status,
        tool=part.tool[:80],
        call_id=part.call_id,
        part_id=part.id,
        arguments=part.whole() or "{}",
        **values,
    )
    return _call_events(
        tx, leg, turn.step, part, effect_id, status, verdict.reason, refusal, asks, arguments or {}
    )


def _call_events(
    tx: Tx,
    leg: "Leg",
    step: int,
    part: OpenPart,
    effect_id: str,
    status: str,
    reason: str,
    refusal: str,
    asks: bool,
    arguments: dict[str, Any],
) -> list[NamedEvent]:
    shown = call_part(part, step, status="pending")
    events: list[NamedEvent] = [("part.completed", PartCarrier(part=shown))]
    if status == "denied":
        word = "error" if refusal else "denied"
        result = ToolResultData(part_id=part.id, call_id=part.call_id, status=word, result=reason)  # type: ignore[arg-type]
        events.append(("tool_call.result", result))
    elif status == "waiting":
        kind = "question" if asks else "approval"
        item_id = store.insert_approval(tx, leg.run, effect_id, kind, part.tool, part.whole() or "{}", reason)
        tell_asked(tx, leg.run, item_id)
        base = {
            "id": item_id,
            "run_id": leg.run.id,
            "thread_id": leg.run.thread_id,
            "part_id": part.id,
            "call_id": part.call_id,
            "created_at": iso(tx.now),
        }
        if asks:
            items = [QuestionItem(**item) for item in arguments["questions"]]
            events.append(("question.asked", QuestionAsked(question=QuestionData(questions=items, **base))))
        else:
            asked = ApprovalData(tool=part.tool, arguments=part.whole() or "{}", reason=reason, **base)
            events.append(("approval.requested", ApprovalRequested(approval=asked)))
    return events


def _refusal(leg: "Leg", part: OpenPart, arguments: dict[str, Any] | None, finish: str) -> str:
    """Why the call cannot be made at all; empty: it can."""
    tool = leg.profile.tools.get(part.tool)
    if tool is None:
        return f"There is no tool {part.tool[:80]!r}. Available: {', '.join(leg.profile.tools)}."
    if arguments is None:
        return cut_call_text(part.whole(), finish)
    try:
        tool.check(arguments)
    except ArgumentsInvalid as error:
        return f"{error.message} {error.hint}".strip()
    return ""
