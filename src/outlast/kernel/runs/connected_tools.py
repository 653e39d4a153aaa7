"""Tools that a run gets beside those of its agent."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from outlast.db.database import Tx
from outlast.kernel.agents.agent import Agent
from outlast.kernel.agents.tool import Tool

if TYPE_CHECKING:
    from outlast.kernel.runs.transcript import Run


class FindTools(Protocol):
    """Finds them, before each turn and for each call."""

    async def prepare(self, run: "Run", agent: Agent) -> Mapping[str, str]:
        """Look up, outside of transactions, what is not known yet. Returns why tools are missing, by their server."""
        ...

    def __call__(self, tx: Tx, run: "Run", agent: Agent) -> Mapping[str, Tool]:
        """The tools by their names."""
        ...


class NoTools:
    """There are none."""

    async def prepare(self, run: "Run", agent: Agent) -> Mapping[str, str]:
        return {}

    def __call__(self, tx: Tx, run: "Run", agent: Agent) -> Mapping[str, Tool]:
        return {}
