"""The definition of an agent."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from outlast.base.errors import InvalidRequest
from outlast.kernel.agents.context import Context
from outlast.kernel.agents.final_answer import answer_tool, check_answer
from outlast.kernel.agents.handoff import MAX_ABOUT_CHARS, HandoffTool
from outlast.kernel.agents.mcp import McpServer
from outlast.kernel.agents.prompt import Prompt, PromptContext, conversation_so_far, with_project
from outlast.kernel.agents.tool import Tool
from outlast.kernel.models.tool_choice import AUTO, REQUIRED
from outlast.kernel.runs.stage_plan import FINAL_ANSWER, StagePlan

if TYPE_CHECKING:  # `from outlast import Agent` loads no Pydantic
    from pydantic import BaseModel

    from outlast.kernel.agents.additions import Addition
    from outlast.kernel.agents.hooks import ContextHook, Finish, Instructions, Lines, Stage
    from outlast.kernel.models.protocol import ToolSpec

NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
MAX_TITLE_CHARS: Final = 60
MAX_DESCRIPTION_CHARS: Final = 200
MAX_ICON_CHARS: Final = 8  # an emoji may be several characters


@dataclass(frozen=True, slots=True)
class Agent:
    """The definition of a model's work: its instructions and tools, and the hooks around its turns.

        support = Agent(
            "support",
            instructions="You answer buyers of a bicycle shop. Be short.",
            tools=[refund, find_order],
            max_steps=30,
        )

    `name` is unique in a server: 1 to 40 characters of a-z, 0-9, `-` and `_`. People choose the agent by it, runs
    keep it, and `[profiles.<name>]` of the configuration sets its limits.

    - `instructions`: the system text, or a function that makes it (`PromptContext` → text).
    - `tools`: functions that it can call, and MCP servers whose tools it can call (`mcp.http`); their names must
      differ. The agent keeps the servers in `mcp_servers`.
    - `output`: a Pydantic model. The answer is an object of it: the model gives it by calling the tool `final_answer`,
      which ends the run; its JSON is the answer's text, and `facts["output"]` of `finish`.
    - `agents`: other agents that it can call, each by a tool of the agent's name, which starts a run of that agent in a
      thread of its own.
    - `handoffs`: other agents, or their names, that it can give the conversation to, each by a tool `transfer_to_` and
      the agent's name. A transfer ends the run with the stop reason `handed_over`; a run of the other agent follows it
      in the same thread, and that agent answers from then on. Not offered to a run that another agent has called. An
      agent with an `output` may hand over instead of answering: then `facts` has no `output`.
    - `connections`: names of services (`[[connections]]` with a `kind`) on which people have accounts, such as
      `github`. Each gives the agent a tool, here `github__connect`, and its sandbox a placeholder for the token of the
      person who started the run.
    - `tool_choice`: `auto` (default: the model chooses), `required` (its first turn must call a tool), or the name of
      one of these tools, which the first turn must call. After that turn the model chooses. A model that accepts no
      forced call ends the run with `model_rejected`: some never do, and Claude does not while it reasons with a budget.
    - `model`: the id of its model, unless a person chooses another one.
    - `max_steps`: turns of the model in one run, 1 to 10,000 (default: `runs.max_steps`). The configuration wins.
    - `sandbox`: its tools work in a sandbox, which a server with `sandbox.mode = "warm"` starts in advance. An agent
      that a server loads from its operator's code also gets the tools of a sandbox: commands, files, code, services.
    - `schedule`, `zone`: a cron expression of five fields and the IANA time zone in which it holds (default: UTC). A
      server that loads the agent from its operator's code makes a schedule of it, which people see and can pause.
    - `title`, `description`, `icon`: shown where people choose an agent: at most 60 and 200 characters, and one emoji.
      The title is made from the name if left out.
    - `listed`: people may choose it for a thread. An unlisted agent answers only if an action names it.
    - `extends`: apps add their tools and texts for all agents (`Opened.additions`), such as memory, if it is listed.

    Hooks, each of which may be called again after a crash:

    - `context`: the messages before the run's own turns. By default the thread's last messages and answers.
    - `prepare`: work before the first turn; if it raises, the run ends and may be retried.
    - `check`: work after the last turn, which may find problems that the model then fixes. A text `done_mark` in a turn
      says that the work is done, even if the turn calls tools; without it only a turn without calls does.
    - `lines`: the model's text is lines for the server.
    - `finish`: writes in the run's last transaction.

    `flow`, set by `@flow`, replaces the model: the run is this function.

    `prepare` and `check` are effects in the journal, named before they start and never repeated once recorded; a run
    that continues another one prepares again. `SandboxLost` tries a stage again in the new sandbox,
    `SandboxUnavailable` a little later; if that does not help, `prepare` ends the run without an answer and `check`
    with the existing one. Any other error of `check` is a problem that cannot be fixed.

    Raises `ValueError` for an invalid name, title, description, icon or schedule, two tools of one name, a
    `tool_choice` that is not one of the tools, `output` together with `check`, and `handoffs` of a flow or to the agent
    itself.
    """

    name: str
    _: KW_ONLY
    instructions: "str | Instructions" = ""
    tools: Sequence[Tool] = ()
    output: "type[BaseModel] | None" = None
    agents: Sequence["Agent"] = ()
    handoffs: Sequence["Agent | str"] = ()
    tool_choice: str = AUTO
    model: str | None = None
    max_steps: int | None = None
    sandbox: bool = False
    listed: bool = True
    extends: bool = True
    schedule: str = ""
    zone: str = "UTC"
    title: str = ""
    description: str = ""
    icon: str = ""
    context: "ContextHook" = conversation_so_far
    prepare: "Stage | None" = None
    check: "Stage | None" = None
    done_mark: str = ""
    lines: "Lines | None" = None
    finish: "Finish | None" = None
    flow: Callable[[Context], Awaitable[Any]] | None = None
    additions: "Sequence[Addition]" = ()
    mcp_servers: Sequence[McpServer] = ()
    connections: Sequence[str] = ()
    plan: StagePlan | None = field(init=False, repr=False)
    _by_name: Mapping[str, Tool] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            raise ValueError(f"Invalid agent name {self.name!r}: use 1 to 40 characters of a-z, 0-9, - and _.")
        _check_looks(self)
        object.__setattr__(self, "title", self.title or self.name.replace("-", " ").replace("_", " ").capitalize())
        if self.output is not None:
            if self.check not in (None, check_answer):
                raise ValueError(f"The agent {self.name} has an output, so it cannot have a check.")
            others = (tool for tool in self.tools if tool.name != FINAL_ANSWER)
            object.__setattr__(self, "tools", (*others, answer_tool(self.output)))
            object.__setattr__(self, "check", check_answer)
        if self.agents:
            own = (tool for tool in self.tools if not isinstance(tool, AgentTool))  # again in a `replace`
            object.__setattr__(self, "tools", (*own, *(AgentTool(agent) for agent in self.agents)))
        if self.handoffs:
            _check_handoffs(self)
            kept = (tool for tool in self.tools if not isinstance(tool, HandoffTool))
            object.__setattr__(self, "tools", (*kept, *map(_handoff_to, self.handoffs)))
        _take_servers(self)
        by_name = {tool.name: tool for tool in self.tools}
        if len(by_name) < len(self.tools):
            raise ValueError(f"The agent {self.name} has two tools of one name.")
        object.__setattr__(self, "_by_name", by_name)
        _check_choice(self)
        if self.schedule:
            _check_schedule(self)
        prepares, checks = self.prepare is not None, self.check is not None
        plan = StagePlan(prepares, checks, self.done_mark) if prepares or checks else None
        object.__setattr__(self, "plan", plan)

    def with_additions(self, additions: "Sequence[Addition]") -> "Agent":
        """The agent with these additions, or itself if it takes none. Raises `ValueError` for two tools of one name."""
        if not (additions and self.listed and self.extends):
            return self
        tools = [*self.tools, *(tool for one in additions for tool in one.tools)]
        return replace(self, tools=tools, additions=[*self.additions, *additions])

    def with_handoffs(self, agents: Mapping[str, "Agent"]) -> "Agent":
        """The agent, whose handoffs are these agents instead of their names. Raises `KeyError` for one that is
        missing."""
        return replace(self, handoffs=[agents[name] for name in map(name_of, self.handoffs)]) if self.handoffs else self

    @property
    def specs(self) -> "tuple[ToolSpec, ...]":
        """All of its tools, as described to a model."""
        return tuple(tool.spec for tool in self.tools)

    def tool(self, name: str | None) -> Tool | None:
        """Its tool of that name, or None."""
        return self._by_name.get(name or "")

    def prompt(self, context: PromptContext) -> Prompt:
        """The prompt for a model, before the run's own turns."""
        system = self.instructions if isinstance(self.instructions, str) else self.instructions(context)
        added = [(one, one.text(context)) for one in self.additions]
        withheld = {tool.name for one, text in added if text is None for tool in one.tools}
        # The function that has called it waits for an answer of this agent.
        withheld |= {tool.name for tool in self.tools if isinstance(tool, HandoffTool) and context.run.step_id}
        texts = [with_project(system, context.run.instructions), *(text for _, text in added if text)]
        tools = tuple(spec for spec in self.specs if spec.name not in withheld)
        return Prompt("\n\n".join(text for text in texts if text), self.context(context), tools)


class AgentTool(Tool):
    """A tool that calls an agent: its name, with `_` for `-`."""

    def __init__(self, agent: Agent) -> None:
        async def call(context: Context, arguments: Mapping[str, Any]) -> Any:
            return await context.run(agent, arguments["message"])

        described = f"Let the agent {agent.title} work on a message and return its answer. {_about(agent)}"
        super().__init__(agent.name.replace("-", "_"), described[:MAX_ABOUT_CHARS], _message, call)


def _message() -> "type[BaseModel]":
    from outlast.kernel.agents.arguments import Message

    return Message


def name_of(agent: Agent | str) -> str:
    """The name of an agent that is given as such or by its name."""
    return agent if isinstance(agent, str) else agent.name


def _about(agent: Agent) -> str:
    return agent.description or (agent.instructions if isinstance(agent.instructions, str) else "")


def _handoff_to(agent: Agent | str) -> HandoffTool:
    return HandoffTool(agent) if isinstance(agent, str) else HandoffTool(agent.name, agent.title, _about(agent))


def _check_handoffs(agent: Agent) -> None:
    if agent.flow is not None:
        raise ValueError(f"The flow {agent.name} cannot have handoffs, because no model works in it.")
    if agent.name in map(name_of, agent.handoffs):
        raise ValueError(f"The agent {agent.name} cannot hand over to itself.")


def _take_servers(agent: Agent) -> None:
    """Move the MCP servers among its tools into `mcp_servers`."""
    named = [one for one in agent.tools if isinstance(one, McpServer)]
    if not named:
        return
    servers = [*agent.mcp_servers, *named]
    if len({one.name for one in servers}) < len(servers):
        raise ValueError(f"The agent {agent.name} has two MCP servers of one name.")
    object.__setattr__(agent, "mcp_servers", tuple(servers))
    object.__setattr__(agent, "tools", tuple(one for one in agent.tools if not isinstance(one, McpServer)))


def _check_choice(agent: Agent) -> None:
    if agent.tool_choice == REQUIRED and not (agent.tools or agent.mcp_servers or agent.sandbox):
        raise ValueError(f"The agent {agent.name} has no tools, so its tool_choice cannot be 'required'.")
    if agent.tool_choice not in (AUTO, REQUIRED) and agent.tool(agent.tool_choice) is None:
        names = ", ".join(["auto", "required", *(tool.name for tool in agent.tools)])
        raise ValueError(
            f"The agent {agent.name} has no tool {agent.tool_choice!r} for its tool_choice. Use one of: {names}."
        )


def _check_schedule(agent: Agent) -> None:
    from outlast.kernel.schedules.rules import checked_cron, checked_zone

    if not agent.listed:
        raise ValueError(f"The agent {agent.name} has a schedule, so it needs to be listed.")
    try:
        checked_cron(agent.schedule, checked_zone(agent.zone), datetime.now(UTC))
    except InvalidRequest as error:
        raise ValueError(f"The schedule of the agent {agent.name} is invalid: {error.message} {error.hint}") from None


def _check_looks(agent: Agent) -> None:
    limits = {"title": MAX_TITLE_CHARS, "description": MAX_DESCRIPTION_CHARS, "icon": MAX_ICON_CHARS}
    for field_name, most in limits.items():
        text = getattr(agent, field_name)
        if len(text) > most or not text.isprintable():
            raise ValueError(
                f"The {field_name} of the agent {agent.name} must be one line of at most {most} characters."
            )
    if agent.icon.isascii() and agent.icon:
        raise ValueError(f"The icon of the agent {agent.name} must be one emoji.")
