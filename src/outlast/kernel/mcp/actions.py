"""MCP servers of a project: owners add them, and allow their tools; administrators those for every project."""

from collections.abc import Mapping, Sequence
from typing import Any

from outlast.base.errors import MalformedInput, SandboxUnavailable
from outlast.base.ids import new_id
from outlast.base.mcp_errors import McpNameTaken, McpServerFailed, McpServerInCode, McpToolChanged, TooManyMcpServers
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.agents.mcp import parse_command
from outlast.kernel.http.web_addresses import allowed_addresses
from outlast.kernel.mcp import store
from outlast.kernel.mcp.code_servers import place_of, server_in_code, usable_in
from outlast.kernel.mcp.configured_secrets import ConfiguredSecrets
from outlast.kernel.mcp.connection import McpConnections
from outlast.kernel.mcp.definitions import Definition, LeftOut, bounded
from outlast.kernel.mcp.rows import McpServerRow
from outlast.kernel.mcp.rules import DEFAULT_HEADER, checked_header, checked_name, checked_url
from outlast.kernel.mcp.shapes import LeftOutAnswer, McpServerAnswer, McpServerRequest, McpToolsAnswer
from outlast.kernel.mcp.tables import mcp_servers
from outlast.kernel.mcp.targets import Place
from outlast.kernel.projects.permissions import require, require_administrator, require_owned
from outlast.kernel.projects.rules import Right
from outlast.kernel.sandboxes.settings import NO_SANDBOXES_HINT
from outlast.kernel.services import Services, in_read, in_read_with_services, in_write, in_write_with_services
from outlast.kernel.subjects.rules import demand_room
from outlast_sandbox.host_patterns import NotAHost, parse_pattern


async def add_server(
    services: Services, actor: Actor, project_id: str | None, wanted: McpServerRequest
) -> McpToolsAnswer:
    """Add a server and list its tools (owners; for None, which is every project, administrators). With `own`, it is the
    actor's, for the runs that they start in every project (editors). Agents are offered none of the tools yet. One with
    `login` lists no tools until an owner has connected their account. Raises `MalformedInput`, `McpNameTaken`,
    `TooManyMcpServers`, `McpSecretUnusable`, `McpServerFailed`, and `SignInRefused` if the server offers no sign-in."""
    if wanted.own and project_id is None:
        raise MalformedInput("A server for every project is not your own.", field="own")
    owner_id = actor.user_id if wanted.own else None
    await services.db.read(_demand_room, services, actor, project_id, owner_id)
    if wanted.package is not None:
        row = _package(services, actor, project_id, wanted)
        answer = await services.db.write(_add, services, actor, project_id, row)
        services.want_packages()
        return answer
    place = _checked(services, wanted)
    if wanted.login is not None:
        await services.accounts.oauth.discover(place.url)
        row = _row(services, actor, project_id, wanted, name=place.name, url=place.url, login=wanted.login)
        return await services.db.write(_add, services, actor, project_id, row, ())
    found, left_out = await _listed(services, actor, project_id or "", place)
    carried = {"header": place.header, "secret": place.secret}
    row = _row(services, actor, project_id, wanted, name=place.name, url=place.url, **carried)
    return await services.db.write(_add, services, actor, project_id, row, found, left_out)


@in_read_with_services
def list_servers(tx: Tx, services: Services, actor: Actor, project_id: str) -> list[McpServerAnswer]:
    """The servers of a project (members), by name, those for every project, the actor's own, and those that the code of
    its agents names."""
    require(tx, actor, project_id, Right.READ)
    in_code = [_server_data(tx, services, row) for row in usable_in(tx, services.engine.agents, project_id)]
    return [*store.list_servers(tx, project_id, actor.user_id), *in_code]


@in_read
def list_server_servers(tx: Tx, actor: Actor) -> list[McpServerAnswer]:
    """The servers for every project, by name (administrators)."""
    require_administrator(tx, actor)
    return store.list_servers(tx, None, actor.user_id)


@in_read_with_services
def list_tools(tx: Tx, services: Services, actor: Actor, server_id: str) -> McpToolsAnswer:
    """The tools of a server as they were last listed (members; everybody for one of every project or of agents'
    code)."""
    server = _require_server(tx, actor, server_id, Right.READ)
    return _answer(tx, services, server)


async def refresh_tools(
    services: Services, actor: Actor, server_id: str, project_id: str | None = None
) -> McpToolsAnswer:
    """List the tools of a server again (owners; administrators for one of every project or of agents' code, with the
    secrets of `project_id`). A tool that changed is withheld until it is allowed again. Raises `McpSecretUnusable`,
    `McpServerFailed`, and `ConnectionNeeded` if the actor has not connected their account."""
    server = await services.db.read(_require_to_list, actor, server_id, project_id)
    if server.command is not None:  # its contents are pinned: it is only installed
        if server.listed_at is None:
            await services.db.write(store.try_again, server_id)
            services.want_packages()
        return await list_tools(services, actor, server_id)
    try:
        found, left_out = await _listed(services, actor, server.project_id or project_id or "", place_of(server))
    except McpServerFailed as error:
        await services.db.write(store.put_problem, server_id, error.message)
        raise
    return await services.db.write(_refresh, services, actor, server_id, found, left_out)


@in_write_with_services
def allow_tools(tx: Tx, services: Services, actor: Actor, server_id: str, tools: Mapping[str, str]) -> McpToolsAnswer:
    """Offer tools to the project's agents (owners), of every project, or to those whose code names the server
    (administrators). `tools`: the digest of each one's description that the actor has looked at, by name. Raises
    `McpToolChanged`; nothing is allowed then."""
    server = _require_server(tx, actor, server_id, Right.OWN)
    for name, digest in tools.items():
        row = store.tool_of(tx, server_id, name)
        if row is None or not row.listed or row.digest != digest:
            raise McpToolChanged(f"The server {server.name} changed a tool since you looked at it.", tool=name[:128])
        store.allow(tx, row, actor.user_id)
    return _answer(tx, services, server)


@in_write_with_services
def forbid_tools(tx: Tx, services: Services, actor: Actor, server_id: str, tools: Sequence[str]) -> McpToolsAnswer:
    """Offer tools to agents no longer (as `allow_tools`). Names that are not allowed have no effect."""
    server = _require_server(tx, actor, server_id, Right.OWN)
    for name in tools:
        store.forbid(tx, server_id, name)
    return _answer(tx, services, server)


@in_write
def remove_server(tx: Tx, actor: Actor, server_id: str) -> None:
    """Remove a server with its tools (owners; administrators for one of every project). Raises `McpServerInCode`."""
    server = _require_server(tx, actor, server_id, Right.OWN)
    if server.code_key is not None:
        raise McpServerInCode(f"The MCP server {server.name} is named in the code of an agent.", server=server.name)
    store.remove(tx, server_id)


def _demand_room(tx: Tx, services: Services, actor: Actor, project_id: str | None, owner_id: str | None) -> None:
    if project_id is None:
        require_administrator(tx, actor)
    else:
        require(tx, actor, project_id, Right.OWN if owner_id is None else Right.EDIT)
    count, most = store.count_of(tx, project_id, owner_id), services.settings.mcp.most_per_project
    demand_room(TooManyMcpServers, "MCP servers", project_id or "", count, most)


def _package(services: Services, actor: Actor, project_id: str | None, wanted: McpServerRequest) -> McpServerRow:
    """The row of a package. Raises `MalformedInput`."""
    if wanted.url is not None or wanted.secret is not None or wanted.header is not None or wanted.login is not None:
        raise MalformedInput("A package has no address, no header and no sign-in.", field="package")
    command = (wanted.package or "").strip()
    try:
        parse_command(command)
    except ValueError as error:
        raise MalformedInput(str(error), field="package") from None
    try:
        for host in wanted.hosts:
            parse_pattern(host)
    except NotAHost as error:
        raise MalformedInput(str(error), field="hosts") from None
    if services.sandboxes.manager is None:
        raise SandboxUnavailable("A package runs in a sandbox, and this server has none.", hint=NO_SANDBOXES_HINT)
    more = {"hosts": list(wanted.hosts), "secrets": list(wanted.secrets)}
    return _row(services, actor, project_id, wanted, name=checked_name(wanted.name), url="", command=command, **more)


def _row(
    services: Services, actor: Actor, project_id: str | None, wanted: McpServerRequest, **values: Any
) -> McpServerRow:
    """A server that is not listed yet."""
    unset = dict.fromkeys(McpServerRow._fields)
    whose = {"owner_id": actor.user_id} if wanted.own else {"project_id": project_id}
    made = {"id": new_id("mcp_server"), "created_by": actor.user_id, "tries": 0}
    return McpServerRow(**{**unset, **made, **whose, "created_at": services.clock.now(), **values})


def _checked(services: Services, wanted: McpServerRequest) -> Place:
    if wanted.url is None:
        raise MalformedInput("Give the address of the server, or its package.", field="url")
    if wanted.hosts or wanted.secrets:
        raise MalformedInput("Only a package has hosts and secrets.", field="hosts")
    allowed = allowed_addresses(services.settings.mcp.allow_private)
    address, name = checked_url(wanted.url, allowed), checked_name(wanted.name)
    if wanted.login is not None and (wanted.secret or wanted.header):
        raise MalformedInput("People sign in to this server, so it takes no secret.", field="secret")
    if wanted.secret is None:
        if wanted.header is not None:
            raise MalformedInput("Name the saved secret that the header carries.", field="secret")
        return Place(name, wanted.url, is_own=wanted.own)
    if not wanted.url.lower().startswith("https:") and address not in allowed:
        raise MalformedInput(
            "A secret is only sent over https://, because other networks could read it on the way.", field="url"
        )
    header = checked_header(wanted.header or DEFAULT_HEADER)
    return Place(name, wanted.url, header, wanted.secret, is_own=wanted.own)


async def _listed(
    services: Services, actor: Actor, project_id: str, place: Place
) -> tuple[Sequence[Definition], Sequence[LeftOut]]:
    settings = services.settings.mcp
    configured = ConfiguredSecrets(services.settings.sandbox)
    connections = McpConnections(services.db, services.vault, settings, services.accounts, configured)
    found = await connections.use(place, project_id, actor.user_id, connections.list_tools)
    return bounded(found, settings.most_tools)


def _add(
    tx: Tx,
    services: Services,
    actor: Actor,
    project_id: str | None,
    row: McpServerRow,
    found: Sequence[Definition] | None = None,
    left_out: Sequence[LeftOut] = (),
) -> McpToolsAnswer:
    """Add a server with the tools that it lists; None: they are listed later."""
    _demand_room(tx, services, actor, project_id, row.owner_id)  # again: much may have happened while it answered
    if not store.add(tx, row):
        whose = "You have" if row.owner_id else "Every project has" if row.project_id is None else "The project has"
        raise McpNameTaken(f"{whose} an MCP server {row.name}.", name=row.name)
    if found is not None:
        store.put_listing(tx, row.id, found)
    return _answer(tx, services, store.server_of(tx, row.id), left_out)


def _refresh(
    tx: Tx, services: Services, actor: Actor, server_id: str, found: Sequence[Definition], left_out: Sequence[LeftOut]
) -> McpToolsAnswer:
    _require_server(tx, actor, server_id, Right.OWN)
    store.put_listing(tx, server_id, found)
    return _answer(tx, services, store.server_of(tx, server_id), left_out)


def _answer(tx: Tx, services: Services, server: McpServerRow, left_out: Sequence[LeftOut] = ()) -> McpToolsAnswer:
    tools = store.list_tools(tx, server)
    if server.code_key is not None:
        in_code = server_in_code(services.engine.agents, server)
        tools = [tool for tool in tools if in_code.allows(tool.name)]
    return McpToolsAnswer(
        server=_server_data(tx, services, server),
        tools=tools,
        left_out=[LeftOutAnswer(name=one.name, reason=one.reason) for one in left_out],
    )


def _server_data(tx: Tx, services: Services, row: McpServerRow) -> McpServerAnswer:
    if row.code_key is None:
        return store.server_data(tx, row)
    in_code = server_in_code(services.engine.agents, row)
    return store.server_data(tx, row, sorted(agent.title for agent in in_code.agents), in_code.allows)


def _require_to_list(tx: Tx, actor: Actor, server_id: str, project_id: str | None) -> McpServerRow:
    if project_id is not None:
        require(tx, actor, project_id, Right.READ)
    return _require_server(tx, actor, server_id, Right.OWN)


def _require_server(tx: Tx, actor: Actor, server_id: str, right: Right) -> McpServerRow:
    """The server's row. One of every project or of agents' code is read by everybody and changed by administrators; a
    person's own is theirs alone. Raises `NotFound`, `Forbidden`."""
    if (own := store.own_server_of(tx, actor.user_id, server_id)) is not None:
        return own
    shared = store.shared_server_of(tx, server_id)
    if shared is None or shared.kind is not None:  # a service of the configuration is no MCP server
        return require_owned(tx, actor, McpServerRow, mcp_servers, "MCP server", server_id, right)
    if right is not Right.READ:
        require_administrator(tx, actor)
    return shared
