"""MCP servers of a project: owners add them, and allow their tools."""

from collections.abc import Mapping, Sequence

from outlast.base.errors import MalformedInput
from outlast.base.ids import new_id
from outlast.base.mcp_errors import McpNameTaken, McpToolChanged, TooManyMcpServers
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.http.web_addresses import allowed_addresses
from outlast.kernel.mcp import store
from outlast.kernel.mcp.connection import McpConnections
from outlast.kernel.mcp.definitions import Definition, LeftOut, bounded
from outlast.kernel.mcp.rows import McpServerRow
from outlast.kernel.mcp.rules import DEFAULT_HEADER, checked_header, checked_name, checked_url
from outlast.kernel.mcp.shapes import LeftOutAnswer, McpServerAnswer, McpServerRequest, McpToolsAnswer
from outlast.kernel.mcp.tables import mcp_servers
from outlast.kernel.mcp.targets import Place, place_of
from outlast.kernel.projects.permissions import require, require_owned
from outlast.kernel.projects.rules import Right
from outlast.kernel.services import Services, in_read, in_write
from outlast.kernel.subjects.rules import demand_room


async def add_server(services: Services, actor: Actor, project_id: str, wanted: McpServerRequest) -> McpToolsAnswer:
    """Add a server and list its tools (owners). Agents are offered none of them yet. One with `login` lists no tools
    until an owner has connected their account. Raises `MalformedInput`, `McpNameTaken`, `TooManyMcpServers`,
    `McpSecretUnusable`, `McpServerFailed`, and `SignInRefused` if the server offers no sign-in."""
    await services.db.read(_demand_room, services, actor, project_id)
    place = _checked(services, wanted)
    if wanted.login is not None:
        await services.accounts.oauth.discover(place.url)
        return await services.db.write(_add, services, actor, project_id, place, (), (), wanted.login)
    found, left_out = await _listed(services, actor, project_id, place)
    return await services.db.write(_add, services, actor, project_id, place, found, left_out)


@in_read
def list_servers(tx: Tx, actor: Actor, project_id: str) -> list[McpServerAnswer]:
    """The servers of a project (members), by name."""
    require(tx, actor, project_id, Right.READ)
    return store.list_servers(tx, project_id)


@in_read
def list_tools(tx: Tx, actor: Actor, server_id: str) -> McpToolsAnswer:
    """The tools of a server as they were last listed (members)."""
    server = _require_server(tx, actor, server_id, Right.READ)
    return _answer(tx, server)


async def refresh_tools(services: Services, actor: Actor, server_id: str) -> McpToolsAnswer:
    """List the tools of a server again (owners). A tool that changed is withheld until it is allowed again. Raises
    `McpSecretUnusable`, `McpServerFailed`, and `ConnectionNeeded` if the owner has not connected their account."""
    server = await services.db.read(_require_server, actor, server_id, Right.OWN)
    found, left_out = await _listed(services, actor, server.project_id, place_of(server))
    return await services.db.write(_refresh, actor, server_id, found, left_out)


@in_write
def allow_tools(tx: Tx, actor: Actor, server_id: str, tools: Mapping[str, str]) -> McpToolsAnswer:
    """Offer tools to the project's agents (owners). `tools`: the digest of each one's description that the actor has
    looked at, by name. Raises `McpToolChanged`; nothing is allowed then."""
    server = _require_server(tx, actor, server_id, Right.OWN)
    for name, digest in tools.items():
        row = store.tool_of(tx, server_id, name)
        if row is None or not row.listed or row.digest != digest:
            raise McpToolChanged(f"The server {server.name} changed a tool since you looked at it.", tool=name[:128])
        store.allow(tx, row, actor.user_id)
    return _answer(tx, server)


@in_write
def forbid_tools(tx: Tx, actor: Actor, server_id: str, tools: Sequence[str]) -> McpToolsAnswer:
    """Offer tools to agents no longer (owners). Names that are not allowed have no effect."""
    server = _require_server(tx, actor, server_id, Right.OWN)
    for name in tools:
        store.forbid(tx, server_id, name)
    return _answer(tx, server)


@in_write
def remove_server(tx: Tx, actor: Actor, server_id: str) -> None:
    """Remove a server with its tools (owners)."""
    _require_server(tx, actor, server_id, Right.OWN)
    store.remove(tx, server_id)


def _demand_room(tx: Tx, services: Services, actor: Actor, project_id: str) -> None:
    require(tx, actor, project_id, Right.OWN)
    count, most = store.count_of(tx, project_id), services.settings.mcp.most_per_project
    demand_room(TooManyMcpServers, "MCP servers", project_id, count, most)


def _checked(services: Services, wanted: McpServerRequest) -> Place:
    allowed = allowed_addresses(services.settings.mcp.allow_private)
    address, name = checked_url(wanted.url, allowed), checked_name(wanted.name)
    if wanted.login is not None and (wanted.secret or wanted.header):
        raise MalformedInput("People sign in to this server, so it takes no secret.", field="secret")
    if wanted.secret is None:
        if wanted.header is not None:
            raise MalformedInput("Name the saved secret that the header carries.", field="secret")
        return Place(name, wanted.url)
    if not wanted.url.lower().startswith("https:") and address not in allowed:
        raise MalformedInput(
            "A secret is only sent over https://, because other networks could read it on the way.", field="url"
        )
    return Place(name, wanted.url, checked_header(wanted.header or DEFAULT_HEADER), wanted.secret)


async def _listed(
    services: Services, actor: Actor, project_id: str, place: Place
) -> tuple[Sequence[Definition], Sequence[LeftOut]]:
    settings = services.settings.mcp
    connections = McpConnections(services.db, services.vault, settings, services.accounts)
    found = await connections.use(place, project_id, actor.user_id, connections.list_tools)
    return bounded(found, settings.most_tools)


def _add(
    tx: Tx,
    services: Services,
    actor: Actor,
    project_id: str,
    place: Place,
    found: Sequence[Definition],
    left_out: Sequence[LeftOut],
    login: str | None = None,
) -> McpToolsAnswer:
    _demand_room(tx, services, actor, project_id)  # again: much may have happened while the server answered
    row = McpServerRow(
        id=new_id("mcp_server"),
        project_id=project_id,
        name=place.name,
        url=place.url,
        header=place.header,
        secret=place.secret,
        login=login,
        created_by=actor.user_id,
        created_at=tx.now,
        listed_at=tx.now,
    )
    if not store.add(tx, row):
        raise McpNameTaken(f"The project has an MCP server {place.name}.", name=place.name)
    store.put_listing(tx, row.id, found)
    return _answer(tx, row, left_out)


def _refresh(
    tx: Tx, actor: Actor, server_id: str, found: Sequence[Definition], left_out: Sequence[LeftOut]
) -> McpToolsAnswer:
    _require_server(tx, actor, server_id, Right.OWN)
    store.put_listing(tx, server_id, found)
    return _answer(tx, store.server_of(tx, server_id), left_out)


def _answer(tx: Tx, server: McpServerRow, left_out: Sequence[LeftOut] = ()) -> McpToolsAnswer:
    return McpToolsAnswer(
        server=store.server_data(tx, server),
        tools=store.list_tools(tx, server),
        left_out=[LeftOutAnswer(name=one.name, reason=one.reason) for one in left_out],
    )


def _require_server(tx: Tx, actor: Actor, server_id: str, right: Right) -> McpServerRow:
    return require_owned(tx, actor, McpServerRow, mcp_servers, "MCP server", server_id, right)
