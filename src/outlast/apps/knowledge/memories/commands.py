"""`outlast memories …`: what agents remember, for a project and for you."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from outlast.kernel.cli import terminal
from outlast.kernel.cli.commands import Commands
from outlast.kernel.cli.options import LimitOption, ProjectOption
from outlast.kernel.cli.session import call_server

if TYPE_CHECKING:
    from outlast.kernel.cli.client import Client

app = Commands()
MemoryArgument = Annotated[str, typer.Argument(help="Id of the memory (mem_…).")]
TextArgument = Annotated[str, typer.Argument(help="The memory, at most 500 characters.")]


@app.verb("list", "outlast memories list --scope person")
def list_memories(
    project: ProjectOption = None,
    scope: Annotated[
        Literal["project", "person", "run"], typer.Option(help="The project's, your own, or the lines of its runs.")
    ] = "project",
    before: Annotated[str | None, typer.Option(help="Only memories older than this one (mem_…).")] = None,
    limit: LimitOption = 50,
) -> None:
    """List memories, the newest first."""

    async def work(client: "Client") -> Any:
        path = f"/v1/projects/{await client.project_id(project)}/memories"
        return await client.items(path, limit, before=before, scope=scope)

    terminal.print_list(
        call_server(work),
        "memory=id created by=created_by_name text",
        lambda item: {"created": terminal.local_time(item["created_at"])},
        empty="No memories. Agents add some as they work, or use 'outlast memories add'.",
    )


@app.verb("add", "outlast memories add 'We deploy on Fridays' --for-everyone")
def add(
    text: TextArgument,
    project: ProjectOption = None,
    for_everyone: Annotated[
        bool, typer.Option("--for-everyone", help="For all members of the project (default: for you alone).")
    ] = False,
) -> None:
    """Add a memory that agents use from their next run on."""
    body = {"text": text, "scope": "project" if for_everyone else "person"}

    async def work(client: "Client") -> Any:
        return await client.create(f"/v1/projects/{await client.project_id(project)}/memories", **body)

    made = call_server(work)
    terminal.print_result(made, made["id"])


@app.verb("edit", "outlast memories edit mem_01h… 'We deploy on Mondays'")
def edit(memory: MemoryArgument, text: TextArgument) -> None:
    """Replace the text of a memory."""
    made = call_server(lambda client: client.patch(f"/v1/memories/{memory}", {"text": text}))
    terminal.print_result(made, f"{memory}: saved")


@app.verb("delete", "outlast memories delete mem_01h…", "remove")
def delete(memory: MemoryArgument) -> None:
    """Delete a memory."""
    call_server(lambda client: client.delete(f"/v1/memories/{memory}"))
    terminal.print_result({"id": memory, "state": "deleted"}, f"{memory}: deleted")
