"""Agents: list, choose one for a thread, and what a project's owners set for all of them."""

from collections.abc import Sequence

from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.agents.choice import choosable, demand_choosable, demand_replaceable, demand_usable, is_usable
from outlast.kernel.agents.shapes import AgentAnswer, ProjectAgentsAnswer
from outlast.kernel.limits.rules import checked_markdown
from outlast.kernel.projects import store as projects
from outlast.kernel.projects.permissions import require, require_thread
from outlast.kernel.projects.rules import Right
from outlast.kernel.projects.store import ProjectAgents
from outlast.kernel.services import Services, in_read, in_read_with_services, in_write_with_services
from outlast.kernel.threads import store as threads
from outlast.kernel.threads.ports import default_agent
from outlast.kernel.threads.rules import demand_open
from outlast.kernel.threads.shapes import ThreadData

MAX_INSTRUCTION_CHARS = 8_000


@in_read_with_services
def list_agents(tx: Tx, services: Services, actor: Actor, project_id: str | None = None) -> list[AgentAnswer]:
    """The agents that people may choose for a thread, the default first, then by title; `usable` as a project of the
    actor allows, or always without one."""
    allowed: Sequence[str] | None = None
    if project_id is not None:
        require(tx, actor, project_id, Right.READ)
        allowed = projects.agents_of(tx, project_id).agents
    found = [_shown(services, name, allowed) for name in choosable(services.engine.agents)]
    return sorted(found, key=lambda one: (not one.default, one.title.lower(), one.name))


def _shown(services: Services, name: str, allowed: Sequence[str] | None) -> AgentAnswer:
    agents = services.engine.agents
    agent = agents[name]
    return AgentAnswer(
        name=name,
        title=agent.title,
        description=agent.description,
        icon=agent.icon,
        origin="own" if name in agents.own else "built in",
        default=name == default_agent(),
        usable=is_usable(name, allowed),
    )


@in_write_with_services
def choose_agent(tx: Tx, services: Services, actor: Actor, thread_id: str, name: str) -> ThreadData:
    """Choose the agent that answers the next messages of a thread (editors). Runs that were started keep theirs. Raises
    `UnknownProfile`, `AgentNotAllowed`, `ThreadArchived`, and `MalformedInput` for the thread of a subject."""
    require_thread(tx, actor, thread_id, Right.EDIT)
    held, allowed, _ = threads.hold_to_start(tx, thread_id)
    demand_open(held.status, thread_id)
    demand_replaceable(held.profile)
    demand_choosable(services.engine.agents, name)
    demand_usable(services.engine.agents, name, allowed, held.project_id)
    if name == held.profile:
        return threads.thread_data(tx, thread_id)
    threads.set_agent(tx, thread_id, name)
    return threads.announce(tx, thread_id)


@in_read
def read_project_agents(tx: Tx, actor: Actor, project_id: str) -> ProjectAgentsAnswer:
    """Which agents may be used in a project, and the instructions for all of them."""
    require(tx, actor, project_id, Right.READ)
    return _answer(projects.agents_of(tx, project_id))


@in_write_with_services
def change_project_agents(
    tx: Tx, services: Services, actor: Actor, project_id: str, chosen: ProjectAgents
) -> ProjectAgentsAnswer:
    """Set which agents may be used (None: all), and the instructions for all of them (owners). Runs that were started
    keep the instructions of their start. Raises `UnknownProfile` for an agent that does not exist."""
    require(tx, actor, project_id, Right.OWN)
    before = projects.agents_of(tx, project_id).agents or ()
    for name in chosen.agents or ():
        if name not in before:  # one that was removed from the server may stay
            demand_choosable(services.engine.agents, name)
    text = checked_markdown(chosen.instructions.strip(), MAX_INSTRUCTION_CHARS)
    projects.set_agents(tx, project_id, ProjectAgents(chosen.agents, text))
    return _answer(ProjectAgents(chosen.agents, text))


def _answer(found: ProjectAgents) -> ProjectAgentsAnswer:
    return ProjectAgentsAnswer(allowed=found.agents, instructions=found.instructions)
