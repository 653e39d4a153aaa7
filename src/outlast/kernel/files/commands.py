"""`outlast file …`: files of a project that people and agents look things up in."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import anyio
import typer

from outlast.kernel.cli.consoles import err, one_line, out, styled, tell_bytes, tell_json, tell_rows
from outlast.kernel.cli.exits import Exit
from outlast.kernel.cli.options import (
    DEFAULT_URL,
    JsonOption,
    TokenOption,
    UrlOption,
    project_of,
    with_server,
)

if TYPE_CHECKING:
    from outlast.kernel.cli.client import Client

app = typer.Typer(
    no_args_is_help=True, help="Files of a project, whose texts agents search: add, list, read, search."
)
ProjectOption = Annotated[str | None, typer.Option(help="Project; without: the default one.")]
FileArgument = Annotated[str, typer.Argument(help="Id of the file (art_…); see 'file list'.")]
MOST_PAUSE_S: Final = 2.0


@app.command()
def add(
    paths: Annotated[list[Path], typer.Argument(help="Text, Markdown, PDF or image files.", exists=True)],
    project: ProjectOption = None,
    wait: Annotated[bool, typer.Option(help="Wait until their texts are read.")] = True,
    as_json: JsonOption = False,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """Put files into a project. The same file again is the same file."""

    async def work(client: "Client") -> list[dict[str, Any]]:
        chosen, made = await project_of(client, project), []
        for path in paths:
            content = await anyio.Path(path).read_bytes()
            made.append(await client.upload(f"/v1/projects/{chosen}/artifacts", path.name, content))
        return [await _read(client, one) if wait else one for one in made]

    files = with_server(url, token, work)
    if as_json:
        tell_json({"items": files, "next": None})
    for one in files if not as_json else ():
        words = f" ({one['trouble']})" if one["trouble"] else ""
        err.print(f"{one_line(one['name'])}: {one['state']}{words}", style="dim")
        out.print(one["id"])
    if any(one["state"] == "failed" for one in files):
        raise typer.Exit(Exit.REFUSED)


@app.command("list")
def list_files(
    project: ProjectOption = None,
    before: Annotated[str | None, typer.Option(help="Only older ones than this file.")] = None,
    as_json: JsonOption = False,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """The files of a project, newest first."""

    async def work(client: "Client") -> Any:
        chosen = await project_of(client, project)
        return await client.get(f"/v1/projects/{chosen}/artifacts", before=before)

    found = with_server(url, token, work)
    if as_json:
        tell_json(found)
        return
    rows = [
        (one["id"], one["state"], one["media_type"], one["size_bytes"], one["name"][:80])
        for one in found["items"]
    ]
    tell_rows(
        ("file", "state", "type", "bytes", "name"), rows, empty="No files: 'outlast file add' puts one there."
    )


@app.command()
def text(
    file: FileArgument,
    page: Annotated[int, typer.Option(help="Of a PDF.", min=1)] = 1,
    as_json: JsonOption = False,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """A file's text, as agents and search see it."""
    found = with_server(url, token, lambda client: client.get(f"/v1/artifacts/{file}/text", page=page))
    tell_json(found) if as_json else tell_bytes(f"{found['text']}\n".encode())


@app.command()
def save(
    file: FileArgument,
    to: Annotated[Path, typer.Argument(help="Where to write it.")],
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """Write a file as it was uploaded."""
    content = with_server(url, token, lambda client: client.content(f"/v1/artifacts/{file}/content"))
    to.write_bytes(content)
    out.print(f"{to}: {len(content):,} bytes")


@app.command()
def search(
    query: Annotated[str, typer.Argument(help="What to look for.")],
    project: ProjectOption = None,
    limit: Annotated[int, typer.Option(min=1, max=50)] = 5,
    as_json: JsonOption = False,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """Look something up in the files of a project."""

    async def work(client: "Client") -> Any:
        chosen = await project_of(client, project)
        return await client.get(f"/v1/projects/{chosen}/artifacts/search", q=query, limit=limit)

    found = with_server(url, token, work)
    if as_json:
        tell_json(found)
        return
    for hit in found["items"]:
        page = f", page {hit['page']}" if hit["page"] else ""
        file = hit["artifact"]
        out.print(styled((one_line(file["name"]), "bold"), f"{page}  ", (file["id"], "dim")))
        out.print(hit["text"][:600] + "\n")
    if not found["items"]:
        err.print("Nothing found.", style="dim")
    if found["note"]:
        err.print(found["note"], style="dim")


@app.command()
def remove(file: FileArgument, url: UrlOption = DEFAULT_URL, token: TokenOption = None) -> None:
    """Remove a file, and its text from search."""
    with_server(url, token, lambda client: client.delete(f"/v1/artifacts/{file}"))
    out.print(f"{file}: removed")


async def _read(client: "Client", one: dict[str, Any]) -> dict[str, Any]:
    pause = 0.1
    while one["state"] == "reading":
        await anyio.sleep(pause)
        pause = min(2 * pause, MOST_PAUSE_S)
        one = await client.get(f"/v1/artifacts/{one['id']}")
    return one
