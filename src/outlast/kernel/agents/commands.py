"""`outlast agents …`."""

from typing import TYPE_CHECKING, Any

from outlast.kernel.cli.commands import Commands
from outlast.kernel.cli.options import ProjectOption
from outlast.kernel.cli.session import call_server
from outlast.kernel.cli.terminal import print_list

if TYPE_CHECKING:
    from outlast.kernel.cli.client import Client

app = Commands()


@app.verb("list", "outlast agents list --project prj_01h…")
def list_agents(project: ProjectOption = None) -> None:
    """List the agents that people may choose for a thread, the default first."""

    async def work(client: "Client") -> Any:
        return await client.get("/v1/agents", project=project)

    print_list(call_server(work), "agent=name title origin usable description", empty="No agents.")
