"""The agents of one server."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from outlast.base.errors import StartRefused
from outlast.kernel.agents.additions import Addition
from outlast.kernel.agents.agent import Agent


class Agents(Mapping[str, Agent]):
    """Agents by name, from their apps: `Agents({"chat": [chat], "shop": [support, triage]})`. Read-only. `additions`
    are the apps' additions to all listed agents.

    Raises `StartRefused` with the names of both apps for two agents of one name, and for an agent with a tool of the
    same name as one that is added.
    """

    def __init__(self, by_app: Mapping[str, Iterable[Agent]], additions: Sequence[Addition] = ()) -> None:
        self._agents: dict[str, Agent] = {}
        owners: dict[str, str] = {}
        for app, agent in ((app, agent) for app, agents in by_app.items() for agent in agents):
            if agent.name in owners:
                raise StartRefused(
                    f"Two agents are called {agent.name!r}: one of the app {owners[agent.name]}, one of the app {app}.",
                    hint="Rename one of the two, or remove one of the two apps.",
                )
            owners[agent.name], self._agents[agent.name] = app, _extended(agent, app, additions)
        tools = [tool for agent in self._agents.values() for tool in agent.tools]
        self.names = frozenset(self._agents)
        self.listed = frozenset(agent.name for agent in self._agents.values() if agent.listed)
        self.sandboxed = frozenset(agent.name for agent in self._agents.values() if agent.sandbox)
        self.questions = frozenset(tool.name for tool in tools if tool.asks_person)
        """Names of the tools whose calls are questions to a person."""

    def __getitem__(self, name: str) -> Agent:
        return self._agents[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._agents)

    def __len__(self) -> int:
        return len(self._agents)


def _extended(agent: Agent, app: str, additions: Sequence[Addition]) -> Agent:
    try:
        return agent.with_additions(additions)
    except ValueError as error:
        raise StartRefused(
            f"The agent {agent.name!r} of the app {app} has a tool that an app adds to every agent: {error}",
            hint="Rename the agent's tool, or set extends=False for the agent.",
        ) from None
