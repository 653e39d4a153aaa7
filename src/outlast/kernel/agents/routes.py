"""Agents: list, choose one for a thread, settings of a project."""

from starlette.responses import Response

from outlast.kernel.agents import actions
from outlast.kernel.agents.shapes import AgentChoiceRequest, AgentListAnswer, ProjectAgentsAnswer, ProjectAgentsRequest
from outlast.kernel.http.auth import Served, Signed, Svc
from outlast.kernel.http.responses import reply
from outlast.kernel.http.routers import noun_router
from outlast.kernel.projects.store import ProjectAgents
from outlast.kernel.threads.shapes import ThreadData

router = noun_router("Agents")


@router.get("/agents", response_model=AgentListAnswer)
async def list_agents(surface: Served, actor: Signed, project: str | None = None) -> Response:
    """List the agents that people may choose for a thread, the default first. With a project, `usable` says whether it
    allows them."""
    services, owner = surface.services, surface.local_owner
    problem = services.engine.agents.problem  # before the list, which is then as new
    found = AgentListAnswer(items=await actions.list_agents(services, actor, project))
    if owner is not None and owner.user_id == actor.user_id:
        found = found.model_copy(update={"reloads": services.settings.agents.reload, "problem": problem or None})
    return reply(found)


@router.put("/threads/{thread_id}/agent", response_model=ThreadData)
async def choose_agent(thread_id: str, body: AgentChoiceRequest, services: Svc, actor: Signed) -> Response:
    """Choose the agent that answers the thread from its next message on (editors)."""
    return reply(await actions.choose_agent(services, actor, thread_id, body.profile))


@router.get("/projects/{project_id}/agents", response_model=ProjectAgentsAnswer)
async def read_project_agents(project_id: str, services: Svc, actor: Signed) -> Response:
    """Get which agents may be used in a project, and its instructions for all of them."""
    return reply(await actions.read_project_agents(services, actor, project_id))


@router.put("/projects/{project_id}/agents", response_model=ProjectAgentsAnswer)
async def change_project_agents(project_id: str, body: ProjectAgentsRequest, services: Svc, actor: Signed) -> Response:
    """Set which agents may be used in a project, and its instructions for all of them (owners). Runs that were started
    keep theirs."""
    chosen = ProjectAgents(body.allowed, body.instructions)
    return reply(await actions.change_project_agents(services, actor, project_id, chosen))
