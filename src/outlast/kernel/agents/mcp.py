"""MCP servers in the code of an agent: `from outlast import mcp`, then `Agent(tools=[mcp.http("https://…/mcp")])`."""

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from outlast.kernel.agents.context import Context
from outlast.kernel.agents.tool import Tool

if TYPE_CHECKING:  # as in `tool`
    from pydantic import BaseModel

SERVER_NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,23}\Z")
_HTTP: Final = re.compile(r"https?://(?P<host>[^/:?#@\s]+)(?::\d+)?(?:[/?#]\S*)?\Z", re.IGNORECASE)
_GENERIC: Final = frozenset({"www", "mcp", "api"})


class Spot(NamedTuple):
    """What makes a server the same one in two agents: its name, its address, and the saved secret that its header
    carries (None: it needs none)."""

    name: str
    url: str
    header: str | None = None
    secret: str | None = None


class McpServer(Tool):
    """Stands among an agent's tools for those of a server. The agent keeps it in `mcp_servers`, not in `tools`."""

    def __init__(self, spot: Spot, allow: Iterable[str] | None) -> None:
        super().__init__(spot.name, f"The tools of the MCP server {spot.name}.", _no_model, _never)
        self.spot = spot
        self.allow = None if allow is None else frozenset(allow)

    def allows(self, tool: str) -> bool:
        """True if the agent gets this tool of the server."""
        return self.allow is None or tool in self.allow


def http(
    url: str,
    *,
    name: str | None = None,
    header: str | None = None,
    secret: str | None = None,
    allow: Iterable[str] | None = None,
) -> McpServer:
    """The tools of an MCP server at an address (streamable HTTP).

        Agent("support", tools=[refund, mcp.http("https://mcp.linear.app/mcp", secret="LINEAR_API_KEY")])

    The agent gets them in every project. They are listed when a run first needs them, and kept as they are described
    then: one that changes later, or comes later, is withheld until an administrator of the server allows it.

    `name`: the first part of their names, such as `linear.create_issue`: a letter, then at most 23 of a-z, 0-9 and `-`
    (default: from the address, here `linear`). `secret`: the secret that is sent in `header` (default: `Authorization`,
    with the scheme `Bearer`), a `secret_env` of the configuration or a saved one; its hosts must include the server's.
    `allow`: the names, on the server, of the tools that the agent gets (default: all).

    Raises `ValueError` for an invalid address or name, and for a header without a secret.
    """
    found = _HTTP.match(url)
    if found is None:
        raise ValueError(
            f"Invalid address of an MCP server {url!r}: write a whole one, such as https://example.com/mcp."
        )
    if header is not None and secret is None:
        raise ValueError(f"Name the secret that the header {header} of the MCP server {url} carries.")
    return McpServer(Spot(_checked(name or _name_for(found["host"]), url), url, header, secret), allow)


def _checked(name: str, place: str) -> str:
    if not SERVER_NAME.match(name):
        raise ValueError(
            f"Invalid name {name!r} of the MCP server {place}: use name='…', a letter and at most 23 of a-z, 0-9 and -."
        )
    return name


def _name_for(host: str) -> str:
    """The part of a host that says most: `linear` of mcp.linear.app."""
    parts = host.lower().split(".")
    named = [part for part in parts[:-1] if part not in _GENERIC] or parts
    return re.sub(r"^[^a-z]+|[^a-z0-9-]", "", named[-1])[:24]


def _no_model() -> "type[BaseModel]":
    raise TypeError("An MCP server is not a tool itself.")


async def _never(_context: Context, _arguments: Mapping[str, Any]) -> str:
    raise NotImplementedError("An MCP server is not called itself.")
