"""Invitations: links that let one person join a project."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from outlast.kernel.http.auth import MaybeSigned, Served, Signed, Svc, set_cookie
from outlast.kernel.http.responses import nothing, page, reply
from outlast.kernel.http.shapes import Page
from outlast.kernel.projects import member_actions as actions
from outlast.kernel.projects.shapes import (
    AcceptAnswer,
    AcceptRequest,
    InvitationAnswer,
    InvitationRequest,
    NewInvitationAnswer,
)

router = APIRouter(prefix="/v1", tags=["Members"])


@router.post("/projects/{project_id}/invitations", status_code=201, response_model=NewInvitationAnswer)
async def create_invitation(project_id: str, body: InvitationRequest, services: Svc, actor: Signed) -> Response:
    """Make an invitation (owners). Its link is shown in this answer and never again."""
    made = await actions.create_invitation(services, actor, project_id, body.role, body.name, body.expires_in_days)
    shown = made.invitation
    answer = {
        "id": shown.id,
        "role": shown.role,
        "url": f"{services.settings.server.public_url.rstrip('/')}/join#{made.secret}",
        "token": made.secret,
        "expires_at": shown.expires_at,
    }
    return reply(answer, 201)


@router.get("/projects/{project_id}/invitations", response_model=Page[InvitationAnswer])
async def list_invitations(project_id: str, services: Svc, actor: Signed) -> Response:
    """The project's open invitations (owners), newest first."""
    return reply(page(await actions.list_invitations(services, actor, project_id)))


@router.delete("/invitations/{invitation_id}", status_code=204)
async def withdraw_invitation(invitation_id: str, services: Svc, actor: Signed) -> Response:
    """Make an invitation invalid (owners)."""
    await actions.withdraw_invitation(services, actor, invitation_id)
    return nothing()


@router.post("/invitations/accept", response_model=AcceptAnswer)
async def accept_invitation(body: AcceptRequest, request: Request, surface: Served, actor: MaybeSigned) -> Response:
    """Join a project. A caller who is not signed in becomes a new user, is signed in by cookie, and sees the
    new API token once."""
    with surface.watched(request):
        joined = await actions.accept_invitation(surface.services, actor, body.token.strip(), body.name)
    answer = reply(
        {
            "project_id": joined.project_id,
            "user": {"id": joined.user_id, "name": joined.name, "plan": joined.plan},
            "token": joined.token,
        }
    )
    return set_cookie(answer, surface, joined.cookie) if joined.cookie else answer
