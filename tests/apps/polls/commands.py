"""`outlast polls …`"""

from typing import Any

from outlast.kernel.cli import terminal
from outlast.kernel.cli.client import Client
from outlast.kernel.cli.commands import Commands
from outlast.kernel.cli.options import ProjectOption
from outlast.kernel.cli.session import call_server

app = Commands()


@app.verb("list", "outlast polls list")
def list_polls(project: ProjectOption = None) -> None:
    """List the polls of a project, oldest first."""

    async def work(client: Client) -> Any:
        return await client.get(f"/v1/projects/{await client.project_id(project)}/polls")

    found = {"items": call_server(work), "next": None}
    terminal.print_list(found, "poll=id title options", empty="No polls.")
