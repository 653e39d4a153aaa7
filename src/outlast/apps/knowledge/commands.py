"""`outlast docs …`: documentation that agents search."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer

from outlast.kernel.cli import terminal
from outlast.kernel.cli.commands import Commands
from outlast.kernel.cli.exits import Exit
from outlast.kernel.cli.options import LimitOption, ProjectOption, WaitOption
from outlast.kernel.cli.session import call_server, wants_json

if TYPE_CHECKING:
    from outlast.kernel.cli.client import Client

app = Commands()

ENDINGS: Final = (".md", ".mdx", ".markdown", ".rst", ".txt", ".html", ".htm", ".pyi", ".d.ts")
HIT_LINES: Final = 12
PackageOption = Annotated[str | None, typer.Option("--package", "-p", help="Only documentation of this package.")]


@app.verb("add", "outlast docs add npm:react https://react.dev/llms.txt")
def add(
    package: Annotated[str, typer.Argument(help="Documented package: npm:NAME, pypi:NAME or any name.")],
    place: Annotated[
        str, typer.Argument(metavar="FILE-OR-URL", help="A local file or folder, an address, or 'package'.")
    ],
    project: ProjectOption = None,
    kind: Annotated[
        Literal["markdown", "llms_txt", "sitemap", "folder", "package"] | None,
        typer.Option(help="Kind of the source (default: detected)."),
    ] = None,
    wait: WaitOption = True,
) -> None:
    """Add documentation to a project, or read it again.

    Local files and folders are sent to the server. The server reads addresses itself."""
    bodies = _bodies(package, place, project, kind)

    async def work(client: "Client") -> list[dict[str, Any]]:
        made = []
        for body in bodies:
            source = await client.create("/v1/knowledge/sources", **body)
            made.append(await _wait_until_read(client, source) if wait and source["kind"] != "text" else source)
        return made

    sources = call_server(work)
    _print_sources(sources, sources[0] if len(sources) == 1 else {"items": sources, "next": None})


@app.verb("list", "outlast docs list --package npm:react")
def list_sources(project: ProjectOption = None, package: PackageOption = None, limit: LimitOption = None) -> None:
    """List the documentation of a project and the shared documentation, with its state."""
    asked = {"project_id": project, "package": package}
    found = call_server(lambda client: client.get("/v1/knowledge/sources", **asked))
    found["items"] = found["items"][:limit]
    terminal.print_list(
        found,
        "source=id package version state passages read for place=location",
        lambda item: {
            "read": terminal.local_time(item["fetched_at"]) or "never",
            "for": "project" if item["project_id"] else "everybody",
        },
        empty="No documentation. Add some with 'outlast docs add PACKAGE FILE-OR-URL'.",
    )
    for item in found["items"]:
        if item["error"]:
            terminal.err.print(f"{item['id']}: {item['error']}", style="yellow")


@app.verb("search", "outlast docs search useEffect cleanup --package npm:react")
def search(
    query: Annotated[list[str], typer.Argument(help="Words to search for.")],
    package: PackageOption = None,
    limit: LimitOption = 5,
    project: ProjectOption = None,
) -> None:
    """Search the documentation like agents do, best hit first."""
    asked = {"q": " ".join(query), "package": package, "limit": limit, "project_id": project}
    found = call_server(lambda client: client.get("/v1/knowledge/search", **asked))
    if wants_json():
        terminal.print_json(found)
        return
    for number, hit in enumerate(found["items"], 1):
        _print_hit(number, hit)
    if not found["items"]:
        terminal.err.print("Nothing found. 'outlast docs list' shows what can be searched.", style="dim")
    if found["note"]:
        terminal.err.print(found["note"], style="dim")


@app.verb("refresh", "outlast docs refresh src_01h…")
def refresh(
    source: Annotated[str | None, typer.Argument(help="Id of a source (src_…) (default: all).")] = None,
    project: ProjectOption = None,
    wait: WaitOption = True,
) -> None:
    """Read documentation again now, and update changed passages."""

    async def work(client: "Client") -> list[dict[str, Any]]:
        ids = [source]
        if source is None:
            found = await client.get("/v1/knowledge/sources", project_id=project)
            ids = [item["id"] for item in found["items"] if item["kind"] != "text"]
        asked = [await client.post(f"/v1/knowledge/sources/{one}/refresh") for one in ids]
        return [await _wait_until_read(client, one) for one in asked] if wait else asked

    sources = call_server(work)
    _print_sources(sources, {"items": sources, "next": None})


@app.verb("delete", "outlast docs delete src_01h…", "remove")
def delete(source: Annotated[str, typer.Argument(help="Id of the source (src_…).")]) -> None:
    """Delete a source of a project.

    To remove a source of the configuration, edit the configuration."""
    call_server(lambda client: client.delete(f"/v1/knowledge/sources/{source}"))
    terminal.print_result({"id": source, "state": "deleted"}, f"{source}: deleted")


def _print_sources(sources: list[dict[str, Any]], as_json: Any) -> None:
    """Print the sources. Ends the command with an error if one could not be read."""
    if wants_json():
        terminal.print_json(as_json)
    for source in sources if not wants_json() else ():
        if source["error"]:
            terminal.err.print(source["error"], style="red" if source["state"] == "failed" else "yellow")
        line = f"{source['id']}  {source['package']} {source['version']}".rstrip()
        terminal.out.print(f"{line}  {source['state']}, {source['passages']} passages")
    if any(source["state"] == "failed" for source in sources):
        raise typer.Exit(Exit.REFUSED)


def _print_hit(number: int, hit: dict[str, Any]) -> None:
    heading = terminal.one_line(hit["heading"] or hit["package"])
    terminal.out.print(terminal.styled((f"{number}. {heading}", "bold"), "  ", (f"{hit['score']:.2f}", "dim")))
    where = [hit["package"], hit["version"], (hit["fetched_at"] or "")[:10], hit["url"] or hit["usage"]]
    terminal.out.print("   " + "  ".join(part for part in where if part), style="dim")
    lines = hit["text"].strip().splitlines()
    for line in lines[:HIT_LINES]:
        terminal.out.print(f"   {line}")
    if len(lines) > HIT_LINES:
        terminal.out.print(f"   … {len(lines) - HIT_LINES} more lines", style="dim")
    terminal.out.print()


def _bodies(package: str, place: str, project: str | None, kind: str | None) -> list[dict[str, Any]]:
    """The requests to send: one source, or one for each document of a local folder."""
    common = {"package": package, "project_id": project, "kind": kind}
    path = Path(place).expanduser()
    if place == "package" or place.startswith(("http://", "https://", "npm:", "pypi:")) or not path.exists():
        return [common | {"location": place}]
    if path.is_file():
        return [common | {"name": path.name, "text": _text(path), "kind": None}]
    files = [one for one in sorted(path.rglob("*")) if one.is_file() and one.name.lower().endswith(ENDINGS)]
    files = [one for one in files if not _is_hidden(one.relative_to(path))]
    if not files:
        raise typer.BadParameter(f"{place} has no documents. Documents end in {', '.join(ENDINGS)}.")
    names = {one: f"{path.resolve().name}/{one.relative_to(path).as_posix()}" for one in files}
    return [common | {"name": names[one], "text": _text(one), "kind": None} for one in files]


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") or part == "node_modules" for part in path.parts)


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8", "replace")
    except OSError as error:
        raise typer.BadParameter(f"{path} cannot be read: {error.strerror}.") from None


async def _wait_until_read(client: "Client", source: dict[str, Any]) -> Any:
    terminal.err.print(f"Reading {source['location']} …", style="dim")
    return await client.until_read(f"/v1/knowledge/sources/{source['id']}", source)
