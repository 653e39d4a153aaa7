"""Queries of MCP servers and their tools. First argument: the open transaction."""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from hashlib import sha256
from typing import Final, NamedTuple

import sqlalchemy as sa

from outlast.base.ids import new_id
from outlast.base.lookups import demand_found
from outlast.db.database import Tx
from outlast.kernel.agents.mcp import Spot
from outlast.kernel.mcp.definitions import Definition, call_name, reason_to_ask
from outlast.kernel.mcp.rows import McpServerRow, McpToolRow
from outlast.kernel.mcp.shapes import McpServerAnswer, McpToolAnswer, ServerOrigin, ToolState
from outlast.kernel.mcp.tables import OF_SERVER, mcp_servers, mcp_tools
from outlast.kernel.row_shapes import shape_of

RETRY_FIRST_S: Final = 30
RETRY_MOST_S: Final = 3_600
_OFFERED_BY: Final = (
    sa.select(
        mcp_servers.c.id.label("server_id"),
        mcp_servers.c.name.label("server"),
        mcp_servers.c.url,
        mcp_servers.c.login,
        mcp_tools.c.name,
        mcp_tools.c.call_name,
        mcp_tools.c.definition,
        mcp_tools.c.digest,
        mcp_servers.c.command,
        mcp_servers.c.owner_id,
        mcp_servers.c.project_id,
    )
    .join(mcp_tools, mcp_tools.c.server_id == mcp_servers.c.id)
    .where(mcp_tools.c.listed, mcp_tools.c.allowed_digest == mcp_tools.c.digest)
    .order_by(mcp_tools.c.call_name)
)
USABLE: Final = sa.or_(
    mcp_servers.c.project_id == sa.bindparam("project"), mcp_servers.c.owner_id == sa.bindparam("user"), OF_SERVER
)
_OFFERED: Final = _OFFERED_BY.where(USABLE)
_OFFERED_OF_CODE: Final = _OFFERED_BY.where(mcp_servers.c.code_key.in_(sa.bindparam("keys", expanding=True)))


class _Pin(NamedTuple):
    """What was allowed of a tool, and what is listed, without its description and schema."""

    name: str
    listed: bool
    digest: str
    allowed_digest: str | None


class OfferedTool(NamedTuple):
    """A tool that the agents of a project may call."""

    server_id: str
    server: str
    url: str
    login: str | None
    name: str
    call_name: str
    definition: dict[str, object]
    digest: str
    command: str | None
    owner_id: str | None
    project_id: str | None


def offered(tx: Tx, project_id: str, user_id: str) -> list[OfferedTool]:
    """The allowed tools of the project's servers, of the user's own and of those for every project, by their names for
    models. Of servers that have the same name, the user's own goes first, then the project's."""
    found = tx.rows(OfferedTool, _OFFERED, {"project": project_id, "user": user_id})
    own = {one.server for one in found if one.owner_id is not None}
    ours = {one.server for one in found if one.project_id is not None}
    return [
        one for one in found if one.owner_id or (one.server not in own and (one.project_id or one.server not in ours))
    ]


def offered_of_code(tx: Tx, spots: Sequence[Spot]) -> list[OfferedTool]:
    """The allowed tools of servers that an agent's code names, by their names for models."""
    return tx.rows(OfferedTool, _OFFERED_OF_CODE, {"keys": [code_key(spot) for spot in spots]})


def packages_due(tx: Tx, most_s: float) -> tuple[list[McpServerRow], float]:
    """The packages that are to be installed and listed now, and the seconds until others are, at most `most_s`."""
    query = sa.select(mcp_servers).where(mcp_servers.c.command.is_not(None), mcp_servers.c.listed_at.is_(None))
    waiting = tx.rows(McpServerRow, query.order_by(mcp_servers.c.created_at))
    due = [row for row in waiting if row.retry_at is None or row.retry_at <= tx.now]
    later = [(row.retry_at - tx.now).total_seconds() for row in waiting if row.retry_at and row.retry_at > tx.now]
    return due, min([most_s, *later])


def put_installed(tx: Tx, server_id: str, installed: Mapping[str, object]) -> None:
    """Pin what a package has installed, unless that is done."""
    mine = mcp_servers.c.id == server_id, mcp_servers.c.installed.is_(None)
    tx.execute(sa.update(mcp_servers).where(*mine).values(installed=dict(installed)))


def code_key(spot: Spot) -> str:
    """What a server of agents' code is found by. Another address is another server."""
    return sha256(f"{spot.name}\0{spot.url}\0{spot.command or ''}".encode()).hexdigest()


def shared_server_of(tx: Tx, server_id: str) -> McpServerRow | None:
    """The row if the server is for every project, agents' code names it, or the configuration the service; or None."""
    row = tx.find(McpServerRow, mcp_servers, {"id": server_id})
    return row if row is not None and row.project_id is None and row.owner_id is None else None


def own_server_of(tx: Tx, user_id: str, server_id: str) -> McpServerRow | None:
    """The server if it is this user's own, or None."""
    return tx.find(McpServerRow, mcp_servers, {"id": server_id, "owner_id": user_id})


def code_servers(tx: Tx, spots: Sequence[Spot]) -> list[McpServerRow]:
    """The servers that agents' code names, by name. Those that are not kept yet are missing."""
    query = sa.select(mcp_servers).where(mcp_servers.c.code_key.in_([code_key(spot) for spot in spots]))
    return tx.rows(McpServerRow, query.order_by(mcp_servers.c.name))


def put_code_servers(tx: Tx, spots: Sequence[Spot]) -> list[McpServerRow]:
    """Keep servers that agents' code names, with the secrets that it names now. As `code_servers`."""
    known = {row.code_key: row for row in code_servers(tx, spots)}
    for spot in spots:
        key = code_key(spot)
        carried: dict[str, object] = {
            "header": spot.header,
            "secret": spot.secret,
            "login": spot.login,
            "hosts": list(spot.hosts),
            "secrets": list(spot.secrets),
        }
        row = known.get(key)
        if row is None:
            named = {"name": spot.name, "url": spot.url, "command": spot.command}
            mine = {"id": new_id("mcp_server"), "code_key": key, "created_at": tx.now, "tries": 0}
            tx.insert_missing(mcp_servers, **mine, **named, **carried)
        elif any(getattr(row, name) != value for name, value in carried.items()):
            tx.update(mcp_servers, {"id": row.id}, **carried, tries=0, retry_at=None)
    return code_servers(tx, spots)


def try_again(tx: Tx, server_id: str) -> None:
    """Let a server that could not be listed be listed now."""
    tx.update(mcp_servers, {"id": server_id}, problem=None, tries=0, retry_at=None)


def put_problem(tx: Tx, server_id: str, problem: str) -> None:
    """Keep why a server could not be listed: it is listed again after a while, which doubles each time."""
    tries = tx.value(mcp_servers.c.tries, {"id": server_id})
    if tries is None:
        return
    wait_s = min(RETRY_FIRST_S * 2 ** min(tries, 10), RETRY_MOST_S)
    retry_at = tx.now + timedelta(seconds=wait_s)
    tx.update(mcp_servers, {"id": server_id}, problem=problem, tries=tries + 1, retry_at=retry_at)


def server_of(tx: Tx, server_id: str) -> McpServerRow:
    """Raises `NotFound`."""
    row = tx.find(McpServerRow, mcp_servers, {"id": server_id})
    return demand_found(row, "There is no such MCP server for you.", id=server_id)


def tool_of(tx: Tx, server_id: str, name: str) -> McpToolRow | None:
    """The tool's row, or None."""
    return tx.find(McpToolRow, mcp_tools, {"server_id": server_id, "name": name})


def count_of(tx: Tx, project_id: str | None, owner_id: str | None) -> int:
    """The number of servers of a project (None: for every project), or of a person's own."""
    whose = OF_SERVER if project_id is None else mcp_servers.c.project_id == project_id
    whose = whose if owner_id is None else mcp_servers.c.owner_id == owner_id
    mine = sa.select(sa.func.count()).select_from(mcp_servers).where(whose)
    return int(tx.execute(mine).scalar_one())


def add(tx: Tx, row: McpServerRow) -> bool:
    """Add a server. False if the project (or its owner, or the whole server) has one of its name."""
    return tx.insert_missing(mcp_servers, **row._asdict())


def remove(tx: Tx, server_id: str) -> None:
    """Remove a server with its tools."""
    tx.execute(sa.delete(mcp_servers).where(mcp_servers.c.id == server_id))


def put_listing(tx: Tx, server_id: str, found: Sequence[Definition]) -> None:
    """Keep what a server listed. What was allowed stays allowed only as it was described then. The first listing of a
    server that agents' code names is allowed as it is. Does nothing if the server was removed meanwhile."""
    query = sa.select(mcp_servers).where(mcp_servers.c.id == server_id).with_for_update()
    server = tx.row(McpServerRow, query)  # locked: two listings at once are kept one after the other
    if server is None:
        return
    known = {pin.name: pin for pin in _pins(tx, server_id)}
    is_allowed = server.code_key is not None and server.listed_at is None
    for one in found:
        digest, pin = one.digest(), known.get(one.name)
        if pin is not None and pin.listed and pin.digest == digest:  # as for most: nothing is written
            continue
        values = {
            "call_name": call_name(server.name, one.name),
            "definition": one.as_json(),
            "digest": digest,
            "listed": True,
        }
        if pin is not None:
            tx.update(mcp_tools, {"server_id": server_id, "name": one.name}, **values)
        else:
            allowed = {
                "allowed_definition": one.as_json() if is_allowed else None,
                "allowed_digest": digest if is_allowed else None,
                "allowed_by": None,
                "allowed_at": tx.now if is_allowed else None,
            }
            tx.insert(mcp_tools, server_id=server_id, name=one.name, **values, **allowed)
    for name in known.keys() - {one.name for one in found}:
        if known[name].allowed_digest is None:
            tx.execute(sa.delete(mcp_tools).where(mcp_tools.c.server_id == server_id, mcp_tools.c.name == name))
        else:  # it may come back: then it is offered again only if it is the same
            tx.update(mcp_tools, {"server_id": server_id, "name": name}, listed=False)
    tx.update(mcp_servers, {"id": server_id}, listed_at=tx.now, problem=None, tries=0, retry_at=None)


def allow(tx: Tx, row: McpToolRow, user_id: str) -> None:
    """Allow a tool as it is described now."""
    values = {"allowed_definition": row.definition, "allowed_digest": row.digest}
    where = {"server_id": row.server_id, "name": row.name}
    tx.update(mcp_tools, where, **values, allowed_by=user_id, allowed_at=tx.now)


def forbid(tx: Tx, server_id: str, name: str) -> None:
    """Allow a tool no longer. Repeating is harmless."""
    none = dict.fromkeys(("allowed_definition", "allowed_digest", "allowed_by", "allowed_at"))
    tx.update(mcp_tools, {"server_id": server_id, "name": name}, **none)


def list_servers(tx: Tx, project_id: str | None, user_id: str) -> list[McpServerAnswer]:
    """The servers of a project by name, those for every project, then the user's own; for None only those for every
    project."""
    query = sa.select(mcp_servers).where(OF_SERVER if project_id is None else USABLE)
    query = query.order_by(mcp_servers.c.owner_id.is_not(None), mcp_servers.c.project_id.is_(None), mcp_servers.c.name)
    who = None if project_id is None else {"project": project_id, "user": user_id}
    return [server_data(tx, row) for row in tx.rows(McpServerRow, query, who)]


def server_data(
    tx: Tx, row: McpServerRow, agents: Sequence[str] = (), wanted: Callable[[str], bool] = lambda _tool: True
) -> McpServerAnswer:
    """The server with the numbers of its tools. `agents`: titles of those whose code names it; `wanted`: the tools that
    they get."""
    states = [state_of(pin) for pin in _pins(tx, row.id) if wanted(pin.name)]
    return shape_of(
        McpServerAnswer,
        row,
        origin=_origin_of(row),
        agents=list(agents),
        package=row.command,
        version=row.installed["version"] if row.installed is not None else None,
        hosts=row.hosts or [],
        secrets=row.secrets or [],
        tools=len(states) - states.count("gone"),
        allowed=states.count("allowed"),
        waiting=states.count("new") + states.count("changed"),
    )


def _origin_of(row: McpServerRow) -> ServerOrigin:
    if row.code_key is not None:
        return "code"
    if row.owner_id is not None:
        return "user"
    return "server" if row.project_id is None else "project"


def list_tools(tx: Tx, server: McpServerRow) -> list[McpToolAnswer]:
    """The tools of a server by name."""
    return [_tool_data(server.name, row) for row in _tools(tx, server.id)]


def state_of(row: McpToolRow | _Pin) -> ToolState:
    """Whether agents are offered it, or what a person has to look at."""
    if not row.listed:
        return "gone"
    if row.allowed_digest is None:
        return "new"
    return "allowed" if row.allowed_digest == row.digest else "changed"


def _pins(tx: Tx, server_id: str) -> list[_Pin]:
    columns = (mcp_tools.c[name] for name in _Pin._fields)
    return tx.rows(_Pin, sa.select(*columns).where(mcp_tools.c.server_id == server_id))


def _tools(tx: Tx, server_id: str) -> list[McpToolRow]:
    query = sa.select(mcp_tools).where(mcp_tools.c.server_id == server_id).order_by(mcp_tools.c.name)
    return tx.rows(McpToolRow, query)


def _tool_data(server: str, row: McpToolRow) -> McpToolAnswer:
    shown = f"{server}.{row.name}"
    definition = Definition(**row.definition)
    return shape_of(
        McpToolAnswer,
        row,
        shown=shown,
        title=definition.title,
        description=definition.description,
        parameters=definition.schema,
        annotations=definition.annotations,
        state=state_of(row),
        asks=bool(reason_to_ask(shown, definition.annotations)),
        allowed_description=None if row.allowed_definition is None else row.allowed_definition["description"],
    )
