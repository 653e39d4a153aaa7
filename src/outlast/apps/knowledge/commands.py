"""`outlast docs …`: documentation that agents look things up in."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import anyio
import typer

from outlast.apps.knowledge.search_command import search
from outlast.kernel.cli.consoles import err, out, tell_json, tell_rows
from outlast.kernel.cli.exits import Exit
from outlast.kernel.cli.options import DEFAULT_URL, JsonOption, TokenOption, UrlOption, with_server

if TYPE_CHECKING:
    from outlast.kernel.cli.client import Client

app = typer.Typer(
    no_args_is_help=True, help="Documentation that agents look things up in: add, list, search, refresh."
)
app.command()(search)

ENDINGS: Final = (".md", ".mdx", ".markdown", ".rst", ".txt", ".html", ".htm", ".pyi", ".d.ts")
DONE: Final = ("ready", "failed")
MOST_PAUSE_S: Final = 2.0
ProjectOption = Annotated[str | None, typer.Option(help="Project; without: the default one.")]
SourceArgument = Annotated[str, typer.Argument(help="Id of the source (src_…); see 'docs list'.")]
KindOption = Annotated[
    str | None,
    typer.Option(help="markdown, llms_txt, sitemap, folder or package, where the address does not tell."),
]


@app.command()
def add(
    package: Annotated[str, typer.Argument(help="What it documents: npm:NAME, pypi:NAME or any name.")],
    place: Annotated[
        str, typer.Argument(metavar="FILE-OR-URL", help="A file or folder here, an address, or: package.")
    ],
    project: ProjectOption = None,
    kind: KindOption = None,
    wait: Annotated[bool, typer.Option(help="Wait until it is read.")] = True,
    as_json: JsonOption = False,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """Add documentation to a project. A file or folder of this machine is read here and sent; an address is read by
    the server. The same place again is read anew."""
    bodies = _bodies(package, place, project, kind)

    async def work(client: "Client") -> list[dict[str, Any]]:
        made = []
        for body in bodies:
            source = await client.post("/v1/knowledge/sources", body)
            made.append(await _read(client, source) if wait and source["kind"] != "text" else source)
        return made

    sources = with_server(url, token, work)
    if as_json:
        tell_json(sources[0] if len(sources) == 1 else {"items": sources, "next": None})
    for source in sources if not as_json else ():
        _tell(source)
    if any(source["state"] == "failed" for source in sources):
        raise typer.Exit(Exit.REFUSED)


@app.command("list")
def list_sources(
    project: ProjectOption = None,
    package: Annotated[str | None, typer.Option("--package", "-p", help="Only this package's.")] = None,
    as_json: JsonOption = False,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """What can be searched: everybody's sources and the project's, how far they are, and why one failed."""
    asked = {"project_id": project, "package": package}
    found = with_server(url, token, lambda client: client.get("/v1/knowledge/sources", **asked))
    if as_json:
        tell_json(found)
        return
    rows = [
        (
            item["id"],
            item["package"],
            item["version"],
            item["state"],
            str(item["passages"]),
            (item["fetched_at"] or "never")[:16],
            "everybody" if item["project_id"] is None else "project",
            item["location"],
        )
        for item in found["items"]
    ]
    columns = ("source", "package", "version", "state", "passages", "read", "for", "place")
    tell_rows(columns, rows, empty="No documentation yet: 'outlast docs add PACKAGE FILE-OR-URL' adds some.")
    for item in found["items"]:
        if item["error"]:
            err.print(f"{item['id']}: {item['error']}", style="yellow")


@app.command()
def refresh(
    source: Annotated[
        str | None, typer.Argument(help="Id of the source (src_…); without: all of them.")
    ] = None,
    project: ProjectOption = None,
    wait: Annotated[bool, typer.Option(help="Wait until it is read.")] = True,
    as_json: JsonOption = False,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """Have documentation read again now; what has not changed is kept."""

    async def work(client: "Client") -> list[dict[str, Any]]:
        ids = [source] if source is not None else await _refreshable(client, project)
        asked = [await client.post(f"/v1/knowledge/sources/{one}/refresh") for one in ids]
        return [await _read(client, one) for one in asked] if wait else asked

    sources = with_server(url, token, work)
    if as_json:
        tell_json({"items": sources, "next": None})
    for one in sources if not as_json else ():
        _tell(one)
    if any(one["state"] == "failed" for one in sources):
        raise typer.Exit(Exit.REFUSED)


@app.command()
def remove(source: SourceArgument, url: UrlOption = DEFAULT_URL, token: TokenOption = None) -> None:
    """Remove a source that was added to a project. What the configuration names, the operator takes out there."""
    with_server(url, token, lambda client: client.delete(f"/v1/knowledge/sources/{source}"))
    out.print(f"{source} is removed.")


def _bodies(package: str, place: str, project: str | None, kind: str | None) -> list[dict[str, Any]]:
    """What is sent: one source, or one for each document of a folder here."""
    common = {"package": package, "project_id": project, "kind": kind}
    path = Path(place).expanduser()
    if place == "package" or place.startswith(("http://", "https://", "npm:", "pypi:")) or not path.exists():
        return [_given(common | {"location": place})]
    if path.is_file():
        return [_given(common | {"name": path.name, "text": _text(path), "kind": None})]
    files = [one for one in sorted(path.rglob("*")) if one.is_file() and one.name.lower().endswith(ENDINGS)]
    files = [one for one in files if not _is_hidden(one.relative_to(path))]
    if not files:
        err.print(f"{place} holds no documents ({', '.join(ENDINGS)}).", style="red")
        raise typer.Exit(Exit.REFUSED_TO_START)
    names = {one: f"{path.resolve().name}/{one.relative_to(path).as_posix()}" for one in files}
    return [_given(common | {"name": names[one], "text": _text(one), "kind": None}) for one in files]


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") or part == "node_modules" for part in path.parts)


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8", "replace")
    except OSError as error:
        err.print(f"{path} cannot be read: {error.strerror}.", style="red")
        raise typer.Exit(Exit.REFUSED_TO_START) from None


def _given(body: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if value is not None}


async def _refreshable(client: "Client", project: str | None) -> list[str]:
    found = await client.get("/v1/knowledge/sources", project_id=project)
    return [item["id"] for item in found["items"] if item["kind"] != "text"]


async def _read(client: "Client", source: dict[str, Any]) -> dict[str, Any]:
    """The source once it is read."""
    pause_s = 0.1
    if source["state"] not in DONE:
        err.print(f"reading {source['location']} …", style="dim")
    while source["state"] not in DONE:
        await anyio.sleep(pause_s)
        pause_s = min(pause_s * 1.5, MOST_PAUSE_S)
        source = await client.get(f"/v1/knowledge/sources/{source['id']}")
    return source


def _tell(source: dict[str, Any]) -> None:
    if source["error"]:
        err.print(source["error"], style="red" if source["state"] == "failed" else "yellow")
    line = f"{source['id']}  {source['package']} {source['version']}".rstrip()
    out.print(f"{line}  {source['state']}, {source['passages']} passages")


COMMANDS: Final = {"docs": app}
