"""Members of a project and their roles."""

from fastapi import APIRouter
from starlette.responses import Response

from outlast.kernel.http.auth import Signed, Svc
from outlast.kernel.http.responses import nothing, page, reply
from outlast.kernel.http.shapes import Page
from outlast.kernel.projects import member_actions as actions
from outlast.kernel.projects.shapes import MemberAnswer, MemberData, RoleRequest

router = APIRouter(prefix="/v1/projects/{project_id}/members", tags=["Members"])


@router.get("", response_model=Page[MemberAnswer])
async def list_members(project_id: str, services: Svc, actor: Signed) -> Response:
    """Everybody in the project, in the order of joining."""
    return reply(page(await actions.list_members(services, actor, project_id)))


@router.patch("/{user_id}", response_model=MemberData)
async def change_member(project_id: str, user_id: str, body: RoleRequest, services: Svc, actor: Signed) -> Response:
    """Give a member another role (owners)."""
    return reply(await actions.change_member(services, actor, project_id, user_id, body.role))


@router.delete("/{user_id}", status_code=204)
async def remove_member(project_id: str, user_id: str, services: Svc, actor: Signed) -> Response:
    """End a membership: owners anybody's, everybody their own."""
    await actions.remove_member(services, actor, project_id, user_id)
    return nothing()
