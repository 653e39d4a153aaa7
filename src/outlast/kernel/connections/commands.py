"""`outlast connections …`: your accounts on MCP servers and services."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from outlast.base.errors import NotFound
from outlast.kernel.cli import terminal
from outlast.kernel.cli.commands import Commands
from outlast.kernel.cli.options import ProjectOption, YesOption
from outlast.kernel.cli.session import call_server

if TYPE_CHECKING:
    from outlast.kernel.cli.client import Client

app = Commands()
ServerArgument = Annotated[
    str, typer.Argument(metavar="SERVER", help="Name of the service, or name or id of the MCP server.")
]


@app.verb("list", "outlast connections list")
def list_connections(project: ProjectOption = None) -> None:
    """List the services and a project's MCP servers that people sign in to, and your connections."""

    async def work(client: "Client") -> Any:
        return await client.get(f"/v1/projects/{await client.project_id(project)}/connections")

    columns = "server state account since=connected_at used=last_used_at host"
    terminal.print_list(call_server(work), columns, empty="There is nothing to connect an account on.")


@app.verb("connect", "outlast connections connect linear")
def connect(mcp_server: ServerArgument, project: ProjectOption = None) -> None:
    """Print the address at which you connect your account.

    Open it in a browser in which you are signed in to Outlast, within ten minutes."""

    async def work(client: "Client") -> Any:
        return await client.post(await _path(client, mcp_server, project))

    found = call_server(work)
    terminal.err.print("Open this address in your browser. It works once.", style="dim", markup=False)
    terminal.print_result(found, found["url"])


@app.verb("test", "outlast connections test github")
def try_account(mcp_server: ServerArgument, project: ProjectOption = None) -> None:
    """Test your account on a service with one cheap request."""

    async def work(client: "Client") -> Any:
        return await client.post(f"{await _path(client, mcp_server, project)}/test")

    found = call_server(work)
    terminal.print_result(found, f"{found['server']}: works, as {found['account'] or 'an account without a name'}")


@app.verb("delete", "outlast connections delete linear --yes")
def delete(mcp_server: ServerArgument, project: ProjectOption = None, yes: YesOption = False) -> None:
    """Disconnect your account from an MCP server or a service."""
    terminal.confirm(f"Disconnect your account from {mcp_server}?", yes=yes)

    async def work(client: "Client") -> Any:
        return await client.delete(await _path(client, mcp_server, project))

    call_server(work)
    terminal.print_result({"server": mcp_server, "state": "missing"}, f"{mcp_server}: disconnected")


async def _path(client: "Client", server: str, project: str | None) -> str:
    found = await client.get(f"/v1/projects/{await client.project_id(project)}/connections")
    for one in found["items"]:
        if server.lower() in (one["server"].lower(), one["server_id"], (one["service"] or {}).get("name")):
            return f"/v1/mcp-servers/{one['server_id']}/connection"
    raise NotFound(f"People do not sign in to {server}.", hint="See 'outlast connections list'.", name=server)
