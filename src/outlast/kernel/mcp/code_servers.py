"""MCP servers that the code of agents names."""

from collections.abc import Sequence
from typing import NamedTuple

from outlast.db.database import Tx
from outlast.kernel.agents.agent import Agent
from outlast.kernel.agents.choice import is_usable
from outlast.kernel.agents.mcp import Spot
from outlast.kernel.agents.registry import Agents
from outlast.kernel.mcp import store
from outlast.kernel.mcp.rows import McpServerRow
from outlast.kernel.mcp.rules import DEFAULT_HEADER
from outlast.kernel.mcp.targets import Place
from outlast.kernel.projects import store as projects
from outlast.kernel.services import Services


class CodeServer(NamedTuple):
    """A server, and the agents that name it."""

    spot: Spot
    agents: Sequence[Agent]

    def allows(self, tool: str) -> bool:
        """True if one of the agents gets this tool."""
        servers = [one for agent in self.agents for one in agent.mcp_servers if one.spot == self.spot]
        return any(one.allows(tool) for one in servers)


def server_in_code(agents: Agents, row: McpServerRow) -> CodeServer:
    """The server of a row with the agents that name it now: none if they no longer do, or not on this node."""
    for spot, named_by in agents.mcp_servers.items():
        if store.code_key(spot) == row.code_key:
            return CodeServer(spot, named_by)
    return CodeServer(Spot(row.name, row.url, row.header, row.secret), ())


def place_of(row: McpServerRow) -> Place:
    """Where the server of a row is."""
    header = row.header if row.secret is None else row.header or DEFAULT_HEADER
    login = None if row.login is None else row.id
    of_code, is_own = row.code_key is not None, row.owner_id is not None
    return Place(row.name, row.url, header, row.secret, of_code=of_code, login=login, is_own=is_own)


def usable_in(tx: Tx, agents: Agents, project_id: str) -> list[McpServerRow]:
    """The servers that are named by agents of a project, by name."""
    allowed = projects.agents_of(tx, project_id).agents
    usable = [
        spot
        for spot, named_by in agents.mcp_servers.items()
        if any(is_usable(agent.name, allowed) or not agent.listed for agent in named_by)
    ]
    return store.code_servers(tx, usable)


async def follow_code(services: Services) -> None:
    """Keep the servers that the loaded agents name, so that people see them before a run needs them. Repeatable."""
    spots = list(services.engine.agents.mcp_servers)
    if spots:
        await services.db.write(store.put_code_servers, spots)
