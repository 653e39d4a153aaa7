"""`outlast files …`: files of a project that people and agents search."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import anyio
import typer

from outlast.kernel.cli import terminal
from outlast.kernel.cli.commands import Commands
from outlast.kernel.cli.exits import Exit
from outlast.kernel.cli.options import LimitOption, ProjectOption, WaitOption
from outlast.kernel.cli.session import call_server, wants_json

if TYPE_CHECKING:
    from outlast.kernel.cli.client import Client

app = Commands()
FileArgument = Annotated[str, typer.Argument(help="Id of the file (art_…).")]


@app.verb("add", "outlast files add handbook.pdf notes.md")
def add(
    paths: Annotated[list[Path], typer.Argument(help="Text, Markdown, PDF or image files.", exists=True)],
    project: ProjectOption = None,
    wait: WaitOption = True,
) -> None:
    """Add files to a project and print their ids.

    A file that is already in the project is not added twice."""

    async def work(client: "Client") -> list[dict[str, Any]]:
        path = f"/v1/projects/{await client.project_id(project)}/artifacts"
        made = [await client.upload(path, file.name, await anyio.Path(file).read_bytes()) for file in paths]
        return [await client.until_read(f"/v1/artifacts/{one['id']}", one) for one in made] if wait else made

    files = call_server(work)
    if wants_json():
        terminal.print_json({"items": files, "next": None})
    for one in files if not wants_json() else ():
        words = f" ({one['trouble']})" if one["trouble"] else ""
        terminal.err.print(f"{terminal.one_line(one['name'])}: {one['state']}{words}", style="dim")
        terminal.out.print(one["id"])
    if any(one["state"] == "failed" for one in files):
        raise typer.Exit(Exit.REFUSED)


@app.verb("list", "outlast files list --project prj_01h…")
def list_files(
    project: ProjectOption = None,
    before: Annotated[str | None, typer.Option(help="Only files older than this one (art_…).")] = None,
    limit: LimitOption = 50,
) -> None:
    """List the files of a project, the newest first."""

    async def work(client: "Client") -> Any:
        path = f"/v1/projects/{await client.project_id(project)}/artifacts"
        return await client.items(path, limit, before=before)

    terminal.print_list(
        call_server(work),
        "file=id state type=media_type size=size_bytes name",
        empty="No files. Add one with 'outlast files add'.",
    )


@app.verb("read", "outlast files read art_01h… --page 3", "text")
def read(file: FileArgument, page: Annotated[int, typer.Option(help="Page of a PDF.", min=1)] = 1) -> None:
    """Print the text of a file as agents and search see it."""
    found = call_server(lambda client: client.get(f"/v1/artifacts/{file}/text", page=page))
    terminal.print_json(found) if wants_json() else terminal.print_bytes(f"{found['text']}\n".encode())


@app.verb("download", "outlast files download art_01h… handbook.pdf", "save")
def download(file: FileArgument, to: Annotated[Path, typer.Argument(help="File to write.")]) -> None:
    """Download a file as it was uploaded."""
    content = call_server(lambda client: client.content(f"/v1/artifacts/{file}/content"))
    to.write_bytes(content)
    terminal.print_result({"path": str(to), "size_bytes": len(content)}, f"{to}: {len(content):,} bytes")


@app.verb("search", 'outlast files search "refund policy"')
def search(
    query: Annotated[str, typer.Argument(help="Words to search for.")],
    project: ProjectOption = None,
    limit: LimitOption = 5,
) -> None:
    """Search the files of a project."""

    async def work(client: "Client") -> Any:
        path = f"/v1/projects/{await client.project_id(project)}/artifacts/search"
        return await client.get(path, q=query, limit=limit)

    found = call_server(work)
    if wants_json():
        terminal.print_json(found)
        return
    for hit in found["items"]:
        page = f", page {hit['page']}" if hit["page"] else ""
        file = hit["artifact"]
        terminal.out.print(terminal.styled((terminal.one_line(file["name"]), "bold"), f"{page}  ", (file["id"], "dim")))
        terminal.out.print(hit["text"][:600] + "\n")
    if not found["items"]:
        terminal.err.print("Nothing found.", style="dim")
    if found["note"]:
        terminal.err.print(found["note"], style="dim")


@app.verb("delete", "outlast files delete art_01h…", "remove")
def delete(file: FileArgument) -> None:
    """Delete a file and its text from search."""
    call_server(lambda client: client.delete(f"/v1/artifacts/{file}"))
    terminal.print_result({"id": file, "state": "deleted"}, f"{file}: deleted")
