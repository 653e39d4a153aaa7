"""Tools that a run gets beside those of its agent."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from outlast.base.agent_errors import UnknownConnection
from outlast.db.database import Tx
from outlast.kernel.agents.agent import Agent
from outlast.kernel.agents.tool import Tool

if TYPE_CHECKING:
    from outlast.kernel.agents.context import Journal
    from outlast.kernel.runs.transcript import Run


class FindTools(Protocol):
    """Finds them, before each turn and for each call."""

    async def prepare(self, run: "Run", agent: Agent) -> Mapping[str, str]:
        """Look up, outside of transactions, what is not known yet. Returns why tools are missing, by their server."""
        ...

    def __call__(self, tx: Tx, run: "Run", agent: Agent) -> Mapping[str, Tool]:
        """The tools by their names."""
        ...

    def variables(self, agent: Agent) -> Sequence[str]:
        """The environment variables in sandboxes that stand for people's accounts on services, as far as this agent may
        use them."""
        ...

    async def connect(self, journal: "Journal", run: "Run", agent: Agent, name: str) -> str:
        """The variable of a service, once the user who started the run has a working account there: until then the run
        waits. Raises `UnknownConnection`, and `ConnectionNeeded` if the person goes on without."""
        ...


class NoTools:
    """There are none."""

    async def prepare(self, run: "Run", agent: Agent) -> Mapping[str, str]:
        return {}

    def __call__(self, tx: Tx, run: "Run", agent: Agent) -> Mapping[str, Tool]:
        return {}

    def variables(self, agent: Agent) -> Sequence[str]:
        return ()

    async def connect(self, journal: "Journal", run: "Run", agent: Agent, name: str) -> str:
        raise UnknownConnection(f"There is no connection {name!r}.", connection=name, known=[])
