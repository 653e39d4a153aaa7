"""Queries of MCP servers and their tools. First argument: the open transaction."""

from collections.abc import Sequence
from typing import Final, NamedTuple
from urllib.parse import urlsplit

import sqlalchemy as sa

from outlast.base.lookups import demand_found
from outlast.db.database import Tx
from outlast.kernel.mcp.definitions import Definition, call_name, reason_to_ask
from outlast.kernel.mcp.rows import McpServerRow, McpToolRow
from outlast.kernel.mcp.shapes import McpServerAnswer, McpToolAnswer, ToolState
from outlast.kernel.mcp.tables import mcp_servers, mcp_tools
from outlast.kernel.row_shapes import shape_of

_OFFERED: Final = (
    sa.select(
        mcp_servers.c.id.label("server_id"),
        mcp_servers.c.name.label("server"),
        mcp_servers.c.url,
        mcp_servers.c.login,
        mcp_tools.c.name,
        mcp_tools.c.call_name,
        mcp_tools.c.definition,
        mcp_tools.c.digest,
    )
    .join(mcp_tools, mcp_tools.c.server_id == mcp_servers.c.id)
    .where(
        mcp_servers.c.project_id == sa.bindparam("project"),
        mcp_tools.c.listed,
        mcp_tools.c.allowed_digest == mcp_tools.c.digest,
    )
    .order_by(mcp_tools.c.call_name)
)


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

    @property
    def host(self) -> str:
        """The server's host."""
        return urlsplit(self.url).hostname or ""


def offered(tx: Tx, project_id: str) -> list[OfferedTool]:
    """The allowed tools of the project's servers, by their names for models."""
    return tx.rows(OfferedTool, _OFFERED, {"project": project_id})


def server_of(tx: Tx, server_id: str) -> McpServerRow:
    """Raises `NotFound`."""
    row = tx.find(McpServerRow, mcp_servers, {"id": server_id})
    return demand_found(row, "There is no such MCP server for you.", id=server_id)


def tool_of(tx: Tx, server_id: str, name: str) -> McpToolRow | None:
    """The tool's row, or None."""
    return tx.find(McpToolRow, mcp_tools, {"server_id": server_id, "name": name})


def count_of(tx: Tx, project_id: str) -> int:
    """The number of servers of a project."""
    mine = sa.select(sa.func.count()).select_from(mcp_servers).where(mcp_servers.c.project_id == project_id)
    return int(tx.execute(mine).scalar_one())


def add(tx: Tx, row: McpServerRow) -> bool:
    """Add a server. False if the project has one of its name."""
    return tx.insert_missing(mcp_servers, **row._asdict())


def remove(tx: Tx, server_id: str) -> None:
    """Remove a server with its tools."""
    tx.execute(sa.delete(mcp_servers).where(mcp_servers.c.id == server_id))


def put_listing(tx: Tx, server_id: str, found: Sequence[Definition]) -> None:
    """Keep what a server listed. What was allowed stays allowed only as it was described then. Does nothing if the
    server was removed meanwhile."""
    query = sa.select(mcp_servers).where(mcp_servers.c.id == server_id).with_for_update()
    server = tx.row(McpServerRow, query)  # locked: two listings at once are kept one after the other
    if server is None:
        return
    known = {pin.name: pin for pin in _pins(tx, server_id)}
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
            unknown = dict.fromkeys(("allowed_definition", "allowed_digest", "allowed_by", "allowed_at"))
            tx.insert(mcp_tools, server_id=server_id, name=one.name, **values, **unknown)
    for name in known.keys() - {one.name for one in found}:
        if known[name].allowed_digest is None:
            tx.execute(sa.delete(mcp_tools).where(mcp_tools.c.server_id == server_id, mcp_tools.c.name == name))
        else:  # it may come back: then it is offered again only if it is the same
            tx.update(mcp_tools, {"server_id": server_id, "name": name}, listed=False)
    tx.update(mcp_servers, {"id": server_id}, listed_at=tx.now)


def allow(tx: Tx, row: McpToolRow, user_id: str) -> None:
    """Allow a tool as it is described now."""
    values = {"allowed_definition": row.definition, "allowed_digest": row.digest}
    where = {"server_id": row.server_id, "name": row.name}
    tx.update(mcp_tools, where, **values, allowed_by=user_id, allowed_at=tx.now)


def forbid(tx: Tx, server_id: str, name: str) -> None:
    """Allow a tool no longer. Repeating is harmless."""
    none = dict.fromkeys(("allowed_definition", "allowed_digest", "allowed_by", "allowed_at"))
    tx.update(mcp_tools, {"server_id": server_id, "name": name}, **none)


def list_servers(tx: Tx, project_id: str) -> list[McpServerAnswer]:
    """The servers of a project by name."""
    query = sa.select(mcp_servers).where(mcp_servers.c.project_id == project_id).order_by(mcp_servers.c.name)
    return [server_data(tx, row) for row in tx.rows(McpServerRow, query)]


def server_data(tx: Tx, row: McpServerRow) -> McpServerAnswer:
    """The server with the numbers of its tools."""
    states = [state_of(pin) for pin in _pins(tx, row.id)]
    return shape_of(
        McpServerAnswer,
        row,
        tools=len(states) - states.count("gone"),
        allowed=states.count("allowed"),
        waiting=states.count("new") + states.count("changed"),
    )


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
