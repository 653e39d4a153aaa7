"""`outlast mcp …`: MCP servers whose tools agents can call."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from outlast.base.errors import NotFound
from outlast.kernel.cli import terminal
from outlast.kernel.cli.commands import Commands
from outlast.kernel.cli.options import ProjectOption
from outlast.kernel.cli.session import call_server

if TYPE_CHECKING:
    from outlast.kernel.cli.client import Client

app = Commands()
ServerArgument = Annotated[str, typer.Argument(metavar="SERVER", help="Name or id of the MCP server.")]
COLUMNS = "state tool=shown asks description"


@app.verb("add", "outlast mcp add linear https://mcp.linear.app/mcp --secret LINEAR_API_KEY", "create")
def add(
    name: Annotated[str, typer.Argument(help="Name; its tools are called NAME.TOOL.")],
    url: Annotated[str | None, typer.Argument(help="Address of the server (streamable HTTP).")] = None,
    package: Annotated[
        str | None,
        typer.Option(help="Package to run in a sandbox instead, such as 'npx -y @scope/name' or 'uvx name'."),
    ] = None,
    hosts: Annotated[list[str] | None, typer.Option("--host", help="Host that the package may reach.")] = None,
    secret: Annotated[
        list[str] | None,
        typer.Option(help="Saved secret that is sent in the header; of a package: whose placeholder it gets."),
    ] = None,
    header: Annotated[str | None, typer.Option(help="Header of the secret. Default: Authorization.")] = None,
    login: Annotated[bool, typer.Option("--login", help="Each person signs in with their own account.")] = False,
    mine: Annotated[bool, typer.Option("--mine", help="Your own: for runs that you start, seen by you alone.")] = False,
    everywhere: Annotated[
        bool, typer.Option("--every-project", help="For every project of the server (administrators).")
    ] = False,
    project: ProjectOption = None,
) -> None:
    """Add an MCP server to a project, or to all, and list its tools. Agents get a tool once you allow it."""
    body: dict[str, Any] = {"name": name, "url": url, "header": header, "login": "user" if login else None, "own": mine}
    if package is not None:
        body |= {"package": package, "hosts": hosts or [], "secrets": secret or []}
    else:
        body |= {"secret": secret[0] if secret else None, "hosts": hosts or []}

    async def work(client: "Client") -> Any:
        whose = "admin" if everywhere else f"projects/{await client.project_id(project)}"
        return await client.post(f"/v1/{whose}/mcp-servers", body)

    found = call_server(work)
    if login:
        hint = f"Connect your account to list its tools: outlast connections connect {name}"
        terminal.err.print(hint, style="dim", markup=False)
    _print_tools(found)


@app.verb("list", "outlast mcp list --project prj_01h…")
def list_servers(project: ProjectOption = None) -> None:
    """List the MCP servers of a project, and those that the code of its agents names."""

    async def work(client: "Client") -> Any:
        return await client.get(f"/v1/projects/{await client.project_id(project)}/mcp-servers")

    columns = "server=id name state from tools allowed waiting secret where"
    terminal.print_list(call_server(work), columns, _described, empty="No MCP servers. Add one with 'outlast mcp add'.")


@app.verb("tools", "outlast mcp tools linear --refresh")
def tools(
    mcp_server: ServerArgument,
    refresh: Annotated[bool, typer.Option("--refresh", help="Ask the server for its tools again.")] = False,
    project: ProjectOption = None,
) -> None:
    """List the tools of an MCP server, and whether agents may call them."""

    async def work(client: "Client") -> Any:
        path = await _path(client, mcp_server, project)
        if not refresh:
            return await client.get(f"{path}/tools")
        return await client.post(f"{path}/refresh?project_id={await client.project_id(project)}")

    _print_tools(call_server(work))


@app.verb("allow", "outlast mcp allow linear create_issue list_issues")
def allow(
    mcp_server: ServerArgument,
    names: Annotated[list[str] | None, typer.Argument(help="Tools. Default: all that wait for you.")] = None,
    project: ProjectOption = None,
) -> None:
    """Offer tools of an MCP server to the project's agents, as 'outlast mcp tools' shows them now."""

    async def work(client: "Client") -> Any:
        path = await _path(client, mcp_server, project)
        found = await client.get(f"{path}/tools")
        digests = {one["name"]: one["digest"] for one in found["tools"] if one["state"] in ("new", "changed")}
        chosen = digests if not names else {name: _of(digests, found["tools"], name) for name in names}
        return await client.post(f"{path}/allow", {"tools": chosen}) if chosen else found

    _print_tools(call_server(work))


@app.verb("forbid", "outlast mcp forbid linear delete_issue")
def forbid(
    mcp_server: ServerArgument,
    names: Annotated[list[str], typer.Argument(help="Tools.")],
    project: ProjectOption = None,
) -> None:
    """Stop offering tools of an MCP server to the project's agents."""

    async def work(client: "Client") -> Any:
        return await client.post(f"{await _path(client, mcp_server, project)}/forbid", {"tools": names})

    _print_tools(call_server(work))


@app.verb("remove", "outlast mcp remove linear", "delete")
def remove(mcp_server: ServerArgument, project: ProjectOption = None) -> None:
    """Remove an MCP server from a project."""

    async def work(client: "Client") -> Any:
        return await client.delete(await _path(client, mcp_server, project))

    call_server(work)
    terminal.print_result({"server": mcp_server, "state": "removed"}, f"{mcp_server}: removed")


def _described(server: dict[str, Any]) -> dict[str, Any]:
    own = {"project": "project", "server": "server", "user": "yourself"}
    origin = own.get(server["origin"]) or f"code of {', '.join(server['agents'])}"
    return {"state": _state(server), "from": origin, "where": server["package"] or server["url"]}


def _state(server: dict[str, Any]) -> str:
    if server["problem"]:
        return "failed"
    if server["listed_at"]:
        return "listed"
    return "installing" if server["package"] else "not listed yet"


async def _path(client: "Client", server: str, project: str | None) -> str:
    if server.startswith("mcp_"):
        return f"/v1/mcp-servers/{server}"
    found = await client.get(f"/v1/projects/{await client.project_id(project)}/mcp-servers")
    for one in found["items"]:
        if one["name"] == server:
            return f"/v1/mcp-servers/{one['id']}"
    raise NotFound(f"The project has no MCP server {server}.", hint="See 'outlast mcp list'.", name=server)


def _of(digests: dict[str, str], listed: Sequence[dict[str, Any]], name: str) -> str:
    """The digest of a tool that is named; allowing an allowed one again is harmless."""
    known = digests | {one["name"]: one["digest"] for one in listed if one["state"] != "gone"}
    if name not in known:
        raise NotFound(f"The server has no tool {name}.", hint="See 'outlast mcp tools'.", name=name)
    return str(known[name])


def _print_tools(found: dict[str, Any]) -> None:
    server = found["server"]
    if server["problem"]:
        terminal.err.print(terminal.one_line(server["problem"]), style="dim", markup=False)
    elif server["package"] and server["listed_at"] is None:
        hint = f"The package is being installed. See 'outlast mcp tools {server['name']}'."
        terminal.err.print(hint, style="dim", markup=False)
    for one in found["left_out"]:
        terminal.err.print(f"Left out {terminal.one_line(one['name'])}: {one['reason']}.", style="dim", markup=False)
    if found["server"]["waiting"]:
        hint = f"Look at the tools that are new or changed, then run 'outlast mcp allow {found['server']['name']}'."
        terminal.err.print(hint, style="dim", markup=False)
    empty = "The server has no tools." if server["listed_at"] else "Its tools are not listed yet."
    terminal.print_list({"items": found["tools"], "next": None}, COLUMNS, empty=empty)
