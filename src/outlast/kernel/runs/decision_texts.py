"""What a person's decision says: to the model, and to those who follow the run."""

from collections.abc import Mapping
from typing import Any

import orjson

from outlast.kernel.runs.rows import ApprovalRow
from outlast.kernel.runs.shapes import ApprovalResolved, QuestionAnswered, ToolResultData
from outlast.kernel.streams.log import NamedEvent


def resolution_events(row: ApprovalRow, part_id: str, call_id: str) -> list[NamedEvent]:
    """What followers see of a decision (a row of approvals): the resolution, and the result of a denied call."""
    decision = row.decision or {}
    if row.kind == "question":
        answered = QuestionAnswered(
            question_id=row.id, part_id=part_id, answers=decision.get("answers", {}), by=row.decided_by
        )
        result = ToolResultData(
            part_id=part_id, call_id=call_id, status="done", result=answer_text(decision.get("answers", {}))
        )
        return [("question.answered", answered), ("tool_call.result", result)]
    resolved = ApprovalResolved(
        approval_id=row.id,
        part_id=part_id,
        decision="approve" if row.status == "approved" else "deny",
        reason=decision.get("reason") or "",
        by=row.decided_by,
        arguments=decision.get("arguments"),
        remember=decision.get("remember"),
    )
    if row.status == "approved":
        return [("approval.resolved", resolved)]
    text = denial_text(decision.get("reason") or "")
    result = ToolResultData(part_id=part_id, call_id=call_id, status="denied", result=text)
    return [("approval.resolved", resolved), ("tool_call.result", result)]


def answer_text(answers: Mapping[str, Any]) -> str:
    """A person's answers, as the model reads them."""
    return orjson.dumps({"answers": dict(answers)}, option=orjson.OPT_INDENT_2).decode()


def denial_text(reason: str) -> str:
    """A person's refusal, as the model reads it."""
    because = f" Their reason: {reason}" if reason else ""
    return f"A person denied this call.{because} Do not repeat it unchanged."
