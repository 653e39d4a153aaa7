"""Texts of a user's decision: for the model, and for the run's followers."""

from collections.abc import Mapping
from typing import Any

import orjson

from outlast.kernel.runs.shapes import ApprovalResolved, QuestionAnswered, ToolResultData
from outlast.kernel.runs.store import ApprovalOfCall
from outlast.kernel.streams.log_store import NamedEvent
from outlast.kernel.threads.parts import ToolStatus


def resolution_events(row: ApprovalOfCall) -> list[NamedEvent]:
    """The events of a decision for followers: the resolution and, for an answered or denied call, the result."""
    item, decision = row.approval, row.approval.decision or {}
    if item.kind == "question":
        answers = decision.get("answers", {})
        answered = QuestionAnswered(question_id=item.id, part_id=row.part_id, answers=answers, by=item.decided_by)
        return [("question.answered", answered), _result(row, "done", answer_text(answers))]
    reason = decision.get("reason") or ""
    resolved = ApprovalResolved(
        approval_id=item.id,
        part_id=row.part_id,
        decision="approve" if item.status == "approved" else "deny",
        reason=reason,
        by=item.decided_by,
        arguments=decision.get("arguments"),
        remember=decision.get("remember"),
    )
    denied = [] if item.status == "approved" else [_result(row, "denied", denial_text(reason))]
    return [("approval.resolved", resolved), *denied]


def _result(row: ApprovalOfCall, status: ToolStatus, text: str) -> NamedEvent:
    return "tool_call.result", ToolResultData(part_id=row.part_id, call_id=row.call_id, status=status, result=text)


def answer_text(answers: Mapping[str, Any]) -> str:
    """A user's answers, for the model."""
    return orjson.dumps({"answers": dict(answers)}, option=orjson.OPT_INDENT_2).decode()


def denial_text(reason: str) -> str:
    """A user's refusal, for the model."""
    because = f" Their reason: {reason}" if reason else ""
    return f"A person denied this call.{because} Do not repeat it unchanged."
