"""Validates a turn's calls: the tool exists, its arguments are valid, and the policy allows the call or asks a user.
Each call becomes an effect; a refused call has the reason as its result."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Final

from outlast.base.clock import iso
from outlast.base.errors import ArgumentsInvalid
from outlast.base.records import dataclass
from outlast.db.database import Tx
from outlast.kernel.models.turn_calls import parse_arguments
from outlast.kernel.runs import policy, store
from outlast.kernel.runs.context import RunContext
from outlast.kernel.runs.inbox import tell_asked
from outlast.kernel.runs.policy import Grant
from outlast.kernel.runs.shapes import (
    ApprovalData,
    ApprovalRequested,
    PartCarrier,
    QuestionAsked,
    QuestionData,
    QuestionItem,
    ToolResultData,
)
from outlast.kernel.runs.transcript import Effect
from outlast.kernel.runs.turns import OpenPart, call_part, cut_call_text
from outlast.kernel.streams.log_store import NamedEvent

UNKNOWN_TOOL: Final = "Unknown tool {tool!r}. Available: {names}."
REMOVED_TOOL: Final = "The tool {tool} no longer exists."  # planned by an attempt under another configuration


@dataclass(frozen=True, slots=True)
class JudgedCall:
    """A call with its checks before the transaction: the reason for refusing it (`refusal`), or else the decision of
    the policy."""

    part: OpenPart
    refusal: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    judgement: policy.Judgement | None = None


def judge_calls(context: RunContext, parts: Sequence[OpenPart], finish: str) -> list[JudgedCall]:
    """The calls of a turn with the policy's decisions. Runs in a thread: a command may take long to parse."""
    return [_judge(context, part, finish) for part in parts]


def _judge(context: RunContext, part: OpenPart, finish: str) -> JudgedCall:
    tool, arguments = context.tool(part.tool), parse_arguments(part.whole())
    if tool is None:
        names = ", ".join(context.tool_names)
        return JudgedCall(part, UNKNOWN_TOOL.format(tool=part.tool[:80], names=names))
    if arguments is None:
        return JudgedCall(part, cut_call_text(part.whole(), finish))
    try:
        tool.check(arguments)
    except ArgumentsInvalid as error:
        return JudgedCall(part, f"{error.message} {error.hint}".strip())
    rules, profile = context.engine.settings.policy, context.run.profile
    return JudgedCall(part, "", arguments, policy.judge(rules, profile, part.tool, arguments, tool.ask))


def plan_call(
    tx: Tx,
    context: RunContext,
    turn: Effect,
    call: JudgedCall,
    ordinal: int,
    grants: list[Grant],
    allowed: str = "allowed",
) -> list[NamedEvent]:
    """The effect of one call, with the policy's verdict: waiting for a user, closed at once, or the status
    `allowed`."""
    part, refusal = call.part, call.refusal
    tool = context.tool(part.tool)
    verdict = policy.Verdict("deny", refusal) if call.judgement is None else call.judgement.after(grants)
    asks = tool is not None and tool.asks_person and verdict.decision != "deny"
    status = "waiting" if asks or verdict.decision == "ask" else allowed if verdict.decision == "allow" else "denied"
    values: dict[str, Any] = {}
    if status == "denied":
        values = {"result": {"content": verdict.reason, "is_error": True}, "ended_at": tx.now}
    effect_id = store.insert_effect(
        tx,
        context.run.id,
        ordinal,
        turn.step,
        "tool",
        status="finished" if refusal else status,  # with its result: the model reads the reason, and no user is asked
        tool=part.tool[:80],
        call_id=part.call_id,
        part_id=part.id,
        arguments=part.whole() or "{}",
        **values,
    )
    events: list[NamedEvent] = [("part.completed", PartCarrier(part=call_part(part, turn.step, status="pending")))]
    if status == "denied":
        word = "error" if refusal else "denied"
        result = ToolResultData(part_id=part.id, call_id=part.call_id, status=word, result=verdict.reason)  # type: ignore[arg-type]
        events.append(("tool_call.result", result))
    elif status == "waiting":
        events.append(ask_approval(tx, context, call, effect_id, verdict.reason, is_question=asks))
    return events


def ask_approval(
    tx: Tx, context: RunContext, call: JudgedCall, effect_id: str, reason: str, *, is_question: bool = False
) -> NamedEvent:
    """The approval or question that the call waits for, in the inboxes of all users who may decide."""
    part, run, text = call.part, context.run, call.part.whole() or "{}"
    kind = "question" if is_question else "approval"
    tool = context.tool(part.tool)
    version = tool.version if tool is not None else None
    item_id = store.insert_approval(tx, run, effect_id, kind, part.tool, text, reason, version)
    tell_asked(tx, run, item_id)
    base: dict[str, Any] = {
        "id": item_id,
        "run_id": run.id,
        "thread_id": run.thread_id,
        "part_id": part.id,
        "call_id": part.call_id,
        "created_at": iso(tx.now),
    }
    if is_question:
        items = [QuestionItem(**item) for item in call.arguments["questions"]]
        return "question.asked", QuestionAsked(question=QuestionData(questions=items, **base))
    asked = ApprovalData(tool=part.tool, arguments=text, reason=reason, **base)
    return "approval.requested", ApprovalRequested(approval=asked)
