"""Shapes of agents."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from outlast.kernel.http.shapes import Answer, Request

AgentName = Annotated[str, StringConstraints(min_length=1, max_length=40)]


class AgentAnswer(Answer):
    """An agent that people may choose for a thread."""

    name: str
    title: str
    description: str
    icon: str
    origin: Literal["built in", "own"]
    default: bool
    usable: bool


class AgentListAnswer(Answer):
    """The agents, the default first. `reloads` and `problem` are for the owner of this machine."""

    items: list[AgentAnswer]
    next: str | None = None
    reloads: bool = False
    problem: str | None = None


class AgentChoiceRequest(Request):
    profile: AgentName


class ProjectAgentsAnswer(Answer):
    """What a project's owners chose for its agents."""

    allowed: list[str] | None
    instructions: str


class ProjectAgentsRequest(Request):
    allowed: Annotated[list[AgentName], Field(max_length=200)] | None
    instructions: str
