"""The resources that legs work with, and that legs and actions need to end or park a run."""

from collections.abc import Callable
from dataclasses import field
from typing import Final

from anyio import CapacityLimiter

from outlast.base.clock import Clock
from outlast.base.records import dataclass
from outlast.db.blobs.port import Blobs
from outlast.db.database import Database, Tx
from outlast.kernel.agents.agent import Agent
from outlast.kernel.agents.registry import Agents
from outlast.kernel.agents.tool import Tool
from outlast.kernel.agents.tools.read_thread import read_thread_tool
from outlast.kernel.agents.workspaces import Workspaces
from outlast.kernel.models.catalog import ModelCatalog
from outlast.kernel.runs.connected_tools import FindTools, NoTools
from outlast.kernel.runs.intake import Intake
from outlast.kernel.sandboxes.checkpoints.keeper import CheckpointKeeper
from outlast.kernel.settings import Settings
from outlast.kernel.streams.hub import Hub
from outlast.kernel.streams.writer import Flusher

FUNCTION_THREADS: Final = 40  # beside those of the server, which steps that block do not hold up


def no_node(_tx: Tx) -> None:
    """There are no other nodes that look at this one."""


@dataclass(frozen=True, slots=True)
class Engine:
    """The open resources that runs need, and the agents that this server knows. `files` is None if the server has no
    sandboxes; `workspaces` opens those of functions. `connected` finds the tools, by name, that a run gets beside those
    of its agent. `renew_node` runs in each transaction that renews leases: a node that keeps its runs lives."""

    db: Database
    hub: Hub
    clock: Clock
    settings: Settings
    catalog: ModelCatalog
    blobs: Blobs
    agents: Agents
    flusher: Flusher
    node_id: str
    log: Callable[..., None]
    workspaces: Workspaces
    files: CheckpointKeeper | None = None
    connected: FindTools = field(default_factory=NoTools)
    renew_node: Callable[[Tx], None] = no_node
    intake: Intake = field(default_factory=Intake)
    threads: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(FUNCTION_THREADS))
    """Where steps of functions that are no coroutines work."""
    reader: Tool = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "reader", read_thread_tool(self.db))

    def tool(self, agent: Agent, name: str | None) -> Tool | None:
        """The agent's tool of that name, or the one that every agent with a compacted thread has."""
        return agent.tool(name) or (self.reader if name == self.reader.name else None)

    def max_steps(self, agent: Agent) -> int:
        """Turns of the model in one run: the configuration's limit for this agent, else the agent's own, else the limit
        for all agents."""
        configured = self.settings.profiles.get(agent.name)
        if configured is not None and configured.max_steps is not None:
            return configured.max_steps
        return agent.max_steps if agent.max_steps is not None else self.settings.runs.max_steps
