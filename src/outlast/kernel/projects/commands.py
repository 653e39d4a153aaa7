"""`outlast projects …`."""

from outlast.kernel.cli.commands import Commands
from outlast.kernel.cli.options import LimitOption
from outlast.kernel.cli.session import call_server
from outlast.kernel.cli.terminal import print_list

app = Commands()


@app.verb("list", "outlast projects list")
def list_projects(limit: LimitOption = None) -> None:
    """List your projects."""
    found = call_server(lambda client: client.get("/v1/projects"))
    print_list(
        {"items": found["items"][:limit], "next": found["next"]},
        "project=id role threads=thread_count name",
        empty="No projects.",
    )
