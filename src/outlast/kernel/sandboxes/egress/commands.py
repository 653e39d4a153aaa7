"""`outlast secrets …`: requests that carried a secret."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from outlast.kernel.cli.commands import Commands
from outlast.kernel.cli.options import LimitOption, ProjectOption
from outlast.kernel.cli.session import call_server
from outlast.kernel.cli.terminal import print_list

if TYPE_CHECKING:
    from outlast.kernel.cli.client import Client

app = Commands()


@app.verb("uses", "outlast secrets uses --secret GITHUB_TOKEN")
def uses(
    project: ProjectOption = None,
    sandbox: Annotated[str | None, typer.Option(help="Only requests of this sandbox (sbx_…).")] = None,
    secret: Annotated[str | None, typer.Option(help="Only requests with this secret.")] = None,
    limit: LimitOption = 20,
) -> None:
    """List requests that carried a secret, the newest first.

    Values of secrets are never shown."""

    async def work(client: "Client") -> Any:
        path = f"/v1/projects/{await client.project_id(project)}/secret-uses"
        return await client.items(path, limit, sandbox=sandbox, secret=secret)

    print_list(
        call_server(work),
        "time=at secret request answer sandbox=sandbox_id",
        lambda item: {
            "request": f"{item['method']} {item['host']}{item['path']}",
            "answer": item["status"] or "no answer",
        },
        empty="No request carried a secret.",
    )
