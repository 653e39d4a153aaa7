"""Projects: list, create, read, rename, delete."""

from starlette.responses import Response

from outlast.kernel.http.auth import Signed, Svc
from outlast.kernel.http.responses import nothing, page, reply
from outlast.kernel.http.routers import noun_router
from outlast.kernel.http.shapes import Page
from outlast.kernel.projects import actions
from outlast.kernel.projects.shapes import ProjectAnswer, ProjectRequest

router = noun_router("Projects", prefix="/v1/projects")


@router.get("", response_model=Page[ProjectAnswer])
async def list_projects(services: Svc, actor: Signed) -> Response:
    """List the caller's projects, oldest first."""
    return reply(page(await actions.list_projects(services, actor)))


@router.post("", status_code=201, response_model=ProjectAnswer)
async def create_project(body: ProjectRequest, services: Svc, actor: Signed) -> Response:
    """Create a project; the caller owns it."""
    return reply(await actions.create_project(services, actor, body.name), 201)


@router.get("/{project_id}", response_model=ProjectAnswer)
async def read_project(project_id: str, services: Svc, actor: Signed) -> Response:
    """Get one project; follow its events from `cursor`."""
    return reply(await actions.read_project(services, actor, project_id))


@router.patch("/{project_id}", response_model=ProjectAnswer)
async def rename_project(project_id: str, body: ProjectRequest, services: Svc, actor: Signed) -> Response:
    """Rename a project (editors)."""
    return reply(await actions.rename_project(services, actor, project_id, body.name))


@router.delete("/{project_id}", status_code=204)
async def delete_project(project_id: str, services: Svc, actor: Signed) -> Response:
    """Delete a project with everything in it (owners)."""
    await actions.delete_project(services, actor, project_id)
    return nothing()
