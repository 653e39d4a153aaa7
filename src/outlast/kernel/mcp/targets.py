"""Where an MCP server is, and how it is connected to."""

from dataclasses import dataclass, field

from outlast.kernel.mcp.rows import McpServerRow


@dataclass(frozen=True, slots=True)
class Place:
    """Where a server is, and which saved secret its header carries (None: it needs none). `login`: the id of a server
    on which each person has an account."""

    name: str
    url: str
    header: str | None = None
    secret: str | None = None
    login: str | None = None


def place_of(server: McpServerRow) -> Place:
    """Where a server of a project is."""
    login = None if server.login is None else server.id
    return Place(server.name, server.url, server.header, server.secret, login)


@dataclass(frozen=True, slots=True)
class Target:
    """A server that can be connected to. `header`: the name and the text of the header with the secret."""

    name: str
    url: str
    header: tuple[str, str] | None = field(default=None, repr=False)


@dataclass(slots=True)
class Failure:
    """Why the last request to a server failed, for people; empty if it did not. `status`: of its answer."""

    reason: str = ""
    status: int = 0
