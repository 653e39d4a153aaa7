"""The agents of one server."""

from collections.abc import Iterable, Iterator, Mapping

from outlast.base.errors import StartRefused
from outlast.kernel.agents.agent import Agent


class Agents(Mapping[str, Agent]):
    """Agents by name, from the apps that have them: `Agents({"chat": [chat], "shop": [support, triage]})`. Read-only.

    Raises `StartRefused` with the names of both apps for two agents of one name.
    """

    def __init__(self, by_app: Mapping[str, Iterable[Agent]]) -> None:
        self._agents: dict[str, Agent] = {}
        self._apps: dict[str, str] = {}
        for app, agents in by_app.items():
            for agent in agents:
                self._add(app, agent)
        tools = [tool for agent in self._agents.values() for tool in agent.tools]
        self.names = frozenset(self._agents)
        self.listed = frozenset(agent.name for agent in self._agents.values() if agent.listed)
        self.sandboxed = frozenset(agent.name for agent in self._agents.values() if agent.sandbox)
        self.questions = frozenset(tool.name for tool in tools if tool.asks_person)
        """Names of the tools whose calls are questions to a person."""

    def _add(self, app: str, agent: Agent) -> None:
        other = self._apps.setdefault(agent.name, app)
        if agent.name in self._agents:
            raise StartRefused(
                f"Two agents are called {agent.name!r}: one of the app {other}, one of the app {app}.",
                hint="Rename one of the two, or remove one of the two apps.",
            )
        self._agents[agent.name] = agent

    def __getitem__(self, name: str) -> Agent:
        return self._agents[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._agents)

    def __len__(self) -> int:
        return len(self._agents)
