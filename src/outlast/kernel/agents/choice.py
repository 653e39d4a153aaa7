"""The agents that people may choose for a thread, and those that a project allows."""

from collections.abc import Collection

from outlast.base.agent_errors import AgentNotAllowed
from outlast.base.errors import MalformedInput, UnknownProfile
from outlast.kernel.agents.registry import Agents
from outlast.kernel.subjects import registry


def choosable(agents: Agents) -> list[str]:
    """Names of the agents that answer in any thread: those of subjects (a screen, a page) have threads of their own."""
    return [name for name in agents if name in agents.listed and registry.subject(name) is None]


def demand_choosable(agents: Agents, name: str) -> None:
    """Raise `UnknownProfile` unless people may choose this agent for a thread."""
    known = choosable(agents)
    if name not in known:
        hint = f"Agents: {', '.join(sorted(known))}."
        raise UnknownProfile("There is no agent with this name for a thread.", hint=hint, field="profile")


def demand_usable(agents: Agents, name: str, allowed: Collection[str] | None, project_id: str) -> None:
    """Raise `AgentNotAllowed` if the project leaves this agent out. The agents of subjects, and those that people
    cannot choose, are always allowed."""
    if not is_usable(name, allowed) and name in choosable(agents):
        title = agents[name].title
        raise AgentNotAllowed(f"{title} may not be used in this project.", agent=name, project_id=project_id)


def demand_replaceable(name: str) -> None:
    """Raise `MalformedInput` for the agent of a subject, whose thread keeps it."""
    kind = registry.subject(name)
    if kind is not None:
        raise MalformedInput(f"The agent of a {kind.noun} cannot be replaced.", field="profile")


def is_usable(name: str, allowed: Collection[str] | None) -> bool:
    """True if the project allows it; None allows all."""
    return allowed is None or name in allowed
