"""`outlast threads …`."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from outlast.kernel.cli.commands import Commands
from outlast.kernel.cli.options import LimitOption, ProjectOption
from outlast.kernel.cli.session import call_server
from outlast.kernel.cli.terminal import print_list

if TYPE_CHECKING:
    from outlast.kernel.cli.client import Client

app = Commands()


@app.verb("list", "outlast threads list --status archived")
def list_threads(
    project: ProjectOption = None,
    status: Annotated[Literal["open", "archived"], typer.Option(help="Only threads with this status.")] = "open",
    query: Annotated[str | None, typer.Option("--query", "-q", help="Only threads with these words.")] = None,
    limit: LimitOption = 20,
) -> None:
    """List the threads of a project, the last changed first."""

    async def work(client: "Client") -> Any:
        path = f"/v1/projects/{await client.project_id(project)}/threads"
        return await client.items(path, limit, status=status, q=query)

    print_list(
        call_server(work),
        "thread=id run=run_status changed=updated_at title",
        empty="No threads. Start one with 'outlast runs start'.",
    )
