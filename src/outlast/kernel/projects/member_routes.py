"""Members of a project and their roles; invitations, links that let one person join."""

from fastapi import Request
from starlette.responses import Response

from outlast.kernel.http.auth import MaybeSigned, Served, Signed, Svc, set_cookie
from outlast.kernel.http.responses import nothing, page, reply
from outlast.kernel.http.routers import noun_router
from outlast.kernel.http.shapes import Page
from outlast.kernel.projects import invitation_actions as invitations
from outlast.kernel.projects import member_actions as actions
from outlast.kernel.projects.shapes import (
    AcceptAnswer,
    AcceptRequest,
    InvitationAnswer,
    InvitationRequest,
    MemberAnswer,
    MemberData,
    NewInvitationAnswer,
    RoleRequest,
)

router = noun_router("Members")


@router.get("/projects/{project_id}/members", response_model=Page[MemberAnswer])
async def list_members(project_id: str, services: Svc, actor: Signed) -> Response:
    """List the members of the project, in order of joining."""
    return reply(page(await actions.list_members(services, actor, project_id)))


@router.patch("/projects/{project_id}/members/{user_id}", response_model=MemberData)
async def change_member(project_id: str, user_id: str, body: RoleRequest, services: Svc, actor: Signed) -> Response:
    """Change a member's role (owners)."""
    return reply(await actions.change_member(services, actor, project_id, user_id, body.role))


@router.delete("/projects/{project_id}/members/{user_id}", status_code=204)
async def remove_member(project_id: str, user_id: str, services: Svc, actor: Signed) -> Response:
    """Remove any member (owners) or yourself."""
    await actions.remove_member(services, actor, project_id, user_id)
    return nothing()


@router.post("/projects/{project_id}/invitations", status_code=201, response_model=NewInvitationAnswer)
async def create_invitation(project_id: str, body: InvitationRequest, services: Svc, actor: Signed) -> Response:
    """Create an invitation (owners). Its link is shown only in this answer."""
    made = await invitations.create_invitation(services, actor, project_id, body.role, body.name, body.expires_in_days)
    return reply(made, 201)


@router.get("/projects/{project_id}/invitations", response_model=Page[InvitationAnswer])
async def list_invitations(project_id: str, services: Svc, actor: Signed) -> Response:
    """List the project's open invitations (owners), newest first."""
    return reply(page(await invitations.list_invitations(services, actor, project_id)))


@router.delete("/invitations/{invitation_id}", status_code=204)
async def withdraw_invitation(invitation_id: str, services: Svc, actor: Signed) -> Response:
    """Withdraw an invitation (owners)."""
    await invitations.withdraw_invitation(services, actor, invitation_id)
    return nothing()


@router.post("/invitations/accept", response_model=AcceptAnswer)
async def accept_invitation(body: AcceptRequest, request: Request, surface: Served, actor: MaybeSigned) -> Response:
    """Join a project. A caller who is not signed in becomes a new user, is signed in by cookie, and sees the
    new API token once."""
    with surface.watched(request):
        joined, cookie = await invitations.accept_invitation(surface.services, actor, body.token.strip(), body.name)
    answer = reply(joined)
    return set_cookie(answer, surface, cookie) if cookie else answer
