"""The agents of one server."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field

from outlast.base.errors import StartRefused
from outlast.base.records import dataclass
from outlast.kernel.agents.additions import Addition
from outlast.kernel.agents.agent import Agent, name_of
from outlast.kernel.agents.mcp import Spot
from outlast.kernel.subjects import registry as subjects

Sources = Mapping[str, Iterable[Agent]]


class Agents(Mapping[str, Agent]):
    """Agents by name: those of apps, `{"chat": [chat]}`, and those of the operator by the place where they were found,
    `{"agents/shop.py": [support, triage]}`.

    `use` replaces the operator's, so do not keep an answer of this object longer than a moment; an agent that was
    replaced keeps working. `additions` are the apps' additions to all listed agents.

    Raises `StartRefused` with the names of both places for two agents of one name, for an agent with a tool of the
    same name as one that is added, and for handoffs to agents that are missing or have threads of their own.
    """

    def __init__(self, by_app: Sources, own: Sources | None = None, *, additions: Sequence[Addition] = ()) -> None:
        self._by_app = {f"the app {app}": tuple(agents) for app, agents in by_app.items()}
        self._additions = additions
        self._known = self._before = _join(self._by_app, own or {}, additions)
        self.problem = ""
        """Why the operator's newest files were not taken; empty if they were."""

    def use(self, own: Sources) -> None:
        """Replace the agents of the operator, in one assignment. Raises `StartRefused`; nothing has changed then."""
        self._before, self._known = self._known, _join(self._by_app, own, self._additions)
        self.problem = ""

    @property
    def names(self) -> frozenset[str]:
        return self._known.names

    @property
    def listed(self) -> frozenset[str]:
        """Names of agents that people may choose."""
        return self._known.listed

    @property
    def sandboxed(self) -> frozenset[str]:
        """Names of agents that work in a sandbox."""
        return self._known.sandboxed

    @property
    def questions(self) -> frozenset[str]:
        """Names of the tools whose calls are questions to a person."""
        return self._known.questions

    @property
    def mcp_servers(self) -> Mapping[Spot, Sequence[Agent]]:
        """The MCP servers that agents name, with these agents."""
        return self._known.mcp_servers

    @property
    def own(self) -> frozenset[str]:
        """Names of the operator's agents."""
        return self._known.own

    def __getitem__(self, name: str) -> Agent:
        found = self._known.by_name.get(name)
        # A run may be claimed just before its agent is removed.
        return self._before.by_name[name] if found is None else found

    def __contains__(self, name: object) -> bool:
        return name in self._known.names

    def __iter__(self) -> Iterator[str]:
        return iter(self._known.by_name)

    def __len__(self) -> int:
        return len(self._known.by_name)


@dataclass(frozen=True, slots=True)
class _Known:
    """The agents by name, and what follows from them."""

    by_name: Mapping[str, Agent]
    own: frozenset[str]
    names: frozenset[str] = field(init=False)
    listed: frozenset[str] = field(init=False)
    sandboxed: frozenset[str] = field(init=False)
    questions: frozenset[str] = field(init=False)
    mcp_servers: Mapping[Spot, Sequence[Agent]] = field(init=False)

    def __post_init__(self) -> None:
        agents = self.by_name.values()
        sets = {
            "names": self.by_name,
            "listed": (agent.name for agent in agents if agent.listed),
            "sandboxed": (agent.name for agent in agents if agent.sandbox),
            "questions": (tool.name for agent in agents for tool in agent.tools if tool.asks_person),
        }
        for name, members in sets.items():
            object.__setattr__(self, name, frozenset(members))
        servers: dict[Spot, list[Agent]] = {}
        for agent in agents:
            for server in agent.mcp_servers:
                servers.setdefault(server.spot, []).append(agent)
        object.__setattr__(self, "mcp_servers", servers)


def _join(by_app: Sources, own: Sources, additions: Sequence[Addition]) -> _Known:
    by_name: dict[str, Agent] = {}
    places: dict[str, str] = {}
    asks: dict[str, tuple[bool, str]] = {}
    spots: dict[str, tuple[Spot, str]] = {}
    for place, agent in (
        (place, agent) for sources in (by_app, own) for place, found in sources.items() for agent in found
    ):
        if agent.name in by_name:
            raise StartRefused(
                f"Two agents are called {agent.name!r}: one of {places[agent.name]}, one of {place}.",
                hint="Rename or remove one of the two.",
            )
        by_name[agent.name], places[agent.name] = _extended(agent, place, additions), place
        _check_questions(by_name[agent.name], place, asks)
        _check_servers(agent, place, spots)
    handing_over = [agent for agent in by_name.values() if agent.handoffs]
    for agent in handing_over:
        _check_handoffs(agent, places[agent.name], by_name)
    by_name |= {agent.name: agent.with_handoffs(by_name) for agent in handing_over}
    return _Known(by_name, frozenset(agent.name for found in own.values() for agent in found))


def _check_questions(agent: Agent, place: str, asks: dict[str, tuple[bool, str]]) -> None:
    """A transcript names its tools, and a call of a question is never made: a name is either one or the other."""
    for tool in agent.tools:
        asks_person, other = asks.setdefault(tool.name, (tool.asks_person, place))
        if asks_person is not tool.asks_person:
            raise StartRefused(
                f"Two tools are called {tool.name!r}, and only one is a question to a person: one of {other}, "
                f"one of {place}.",
                hint="Rename one of the two.",
            )


def _check_servers(agent: Agent, place: str, spots: dict[str, tuple[Spot, str]]) -> None:
    """A name stands for one MCP server in all agents, because people see its tools by it."""
    for server in agent.mcp_servers:
        spot, other = spots.setdefault(server.name, (server.spot, place))
        if spot != server.spot:
            raise StartRefused(
                f"Two MCP servers are called {server.name!r} and differ: one of {other}, one of {place}.",
                hint="Give one of them another name, with name='…'.",
            )


def _check_handoffs(agent: Agent, place: str, known: Mapping[str, Agent]) -> None:
    for name in map(name_of, agent.handoffs):
        if name not in known:
            raise StartRefused(
                f"The agent {agent.name!r} of {place} hands over to {name!r}, and there is no agent of this name.",
                hint="Load that agent too, at the top level of a module, or correct the name in handoffs.",
            )
        if subjects.subject(name) is not None:
            raise StartRefused(
                f"The agent {agent.name!r} of {place} hands over to {name!r}, which has threads of its own.",
                hint="Hand over to an agent that works in any thread.",
            )


def _extended(agent: Agent, place: str, additions: Sequence[Addition]) -> Agent:
    try:
        return agent.with_additions(additions)
    except ValueError as error:
        raise StartRefused(
            f"The agent {agent.name!r} of {place} has a tool that an app adds to every agent: {error}",
            hint="Rename the agent's tool, or set extends=False for the agent.",
        ) from None
