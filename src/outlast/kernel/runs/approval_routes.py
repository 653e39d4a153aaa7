"""Approvals and questions that runs wait for."""

from starlette.responses import Response

from outlast.kernel.http.auth import Signed, Svc
from outlast.kernel.http.responses import reply
from outlast.kernel.http.routers import noun_router
from outlast.kernel.runs import approval_actions as actions
from outlast.kernel.runs.shapes import AnswersRequest, ApprovalRequest, DecisionAnswer

router = noun_router("Approvals")


@router.post("/approvals/{approval_id}", response_model=DecisionAnswer)
async def decide_approval(approval_id: str, body: ApprovalRequest, services: Svc, actor: Signed) -> Response:
    """Approve or deny a tool call. The first decision stands: a second gets 409 with the first in `fields.first`.
    If the tool was changed since it asked, an approval gets 409 `tool_changed`, and has to be repeated with
    `fields.tool_version`."""
    decided = await actions.decide_approval(
        services,
        actor,
        approval_id,
        body.decision,
        reason=body.reason,
        arguments=body.arguments,
        remember=body.remember,
        tool_version=body.tool_version,
    )
    return reply(decided)


@router.get("/approvals/{approval_id}", response_model=DecisionAnswer)
async def read_approval(approval_id: str, services: Svc, actor: Signed) -> Response:
    """Read an approval; its decision is `open` until a user decides. `tool_change` says if its tool was changed since
    it asked, and whether it would still take the call's arguments."""
    return reply(await actions.read_decision(services, actor, approval_id))


@router.post("/questions/{question_id}", response_model=DecisionAnswer)
async def answer_question(question_id: str, body: AnswersRequest, services: Svc, actor: Signed) -> Response:
    """Answer all questions that an agent asked at once."""
    return reply(await actions.answer_question(services, actor, question_id, body.answers))
