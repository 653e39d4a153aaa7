"""`outlast screen …`: the apps on a project's canvas; their files, their look, their copies."""

import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import orjson
import typer

from outlast.kernel.cli.consoles import err, one_line, out, tell_bytes, tell_json, tell_rows
from outlast.kernel.cli.exits import Exit
from outlast.kernel.cli.options import (
    DEFAULT_URL,
    JsonOption,
    TokenOption,
    UrlOption,
    all_of_project,
    made_in_project,
    with_server,
)

if TYPE_CHECKING:
    from outlast.kernel.cli.client import Client

app = typer.Typer(no_args_is_help=True, help="The apps on a project's canvas: make, open, look into, copy.")
ScreenArgument = Annotated[str, typer.Argument(help="Id of the screen (scr_…).")]


@app.command("list")
def list_screens(
    project: Annotated[str | None, typer.Option(help="Project; without: the default one.")] = None,
    as_json: JsonOption = False,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """The screens of a project, oldest first."""
    items = with_server(url, token, lambda client: all_of_project(client, project, "screens"))
    if as_json:
        tell_json({"items": items, "next": None})
        return
    rows = [
        (
            item["id"],
            item["state"],
            item["template"],
            item["theme"],
            item["updated_at"][:19],
            item["title"][:60],
        )
        for item in items
    ]
    columns = ("screen", "state", "template", "theme", "changed", "title")
    tell_rows(columns, rows, empty="No screens: 'outlast screen create' makes one.")


@app.command()
def create(
    title: Annotated[str | None, typer.Argument(help="Its title; without: the agent's.")] = None,
    project: Annotated[str | None, typer.Option(help="Project; without: the default one.")] = None,
    template: Annotated[str | None, typer.Option(help="next or vite; without: as configured.")] = None,
    theme: Annotated[str | None, typer.Option(help="Id of its theme; see 'screen themes'.")] = None,
    as_json: JsonOption = False,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """Make a screen on the canvas and print its id. Then: outlast run start "a pricing page" --screen ID"""
    given = {"title": title, "template": template, "theme": theme}

    made = with_server(url, token, lambda client: made_in_project(client, project, "screens", given))
    tell_json(made) if as_json else out.print(made["id"])


@app.command()
def show(screen: ScreenArgument, url: UrlOption = DEFAULT_URL, token: TokenOption = None) -> None:
    """Everything about a screen, as JSON."""
    tell_json(with_server(url, token, lambda client: client.get(f"/v1/screens/{screen}")))


@app.command("open")
def open_screen(
    screen: ScreenArgument,
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="Until its app answers, or only ask for it.")
    ] = True,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """Have its app running, and print a link that shows it in one browser, once, within a minute."""
    from outlast.apps.screens.browser_window import open_and_wait

    async def work(client: "Client") -> str | None:
        return await open_and_wait(client, screen, wait=wait)

    link = with_server(url, token, work)
    if link is not None:
        out.print(link)
    elif wait:
        raise typer.Exit(Exit.FAILED)


@app.command()
def files(
    screen: ScreenArgument,
    search: Annotated[
        str | None, typer.Option("--search", "-s", help="Only lines with this in them.")
    ] = None,
    as_json: JsonOption = False,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """Its app's own files; nothing is woken for that."""
    path = f"/v1/screens/{screen}/{'files' if search is None else 'search'}"
    found = with_server(url, token, lambda client: client.get(path, q=search))
    if as_json:
        tell_json(found)
        return
    for item in found["items"]:
        line = f"{item['path']}:{item['line']}: {item['text']}" if search is not None else item["path"]
        out.print(one_line(line))
    if found["truncated"]:
        err.print(f"Only the first {len(found['items'])} are shown.")


@app.command()
def cat(
    screen: ScreenArgument,
    path: Annotated[str, typer.Argument(help="Path of a file, as in 'screen files'.")],
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """A file of its app, the first 5 MB of it, as it is."""
    content = with_server(
        url, token, lambda client: client.content(f"/v1/screens/{screen}/files/content", path=path)
    )
    tell_bytes(content)


@app.command()
def download(
    screen: ScreenArgument,
    to: Annotated[Path | None, typer.Argument(help="File to write; without: named by its title.")] = None,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """Its app as a ZIP that runs elsewhere: npm install && npm run dev."""

    async def work(client: "Client") -> tuple[str, bytes]:
        title = (await client.get(f"/v1/screens/{screen}"))["title"]
        return title, await client.content(f"/v1/screens/{screen}/archive")

    title, content = with_server(url, token, work)
    from outlast.apps.screens.files import archive_name

    target = to or Path(f"{archive_name(title)}.zip")
    target.write_bytes(content)
    out.print(str(target))


@app.command()
def changes(
    screen: ScreenArgument,
    run: Annotated[str | None, typer.Argument(help="Run (run_…); without: the last that changed it.")] = None,
    as_json: JsonOption = False,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """Which files a run changed. Line by line: outlast checkpoint diff."""
    found = with_server(url, token, lambda client: client.get(f"/v1/screens/{screen}/changes", run=run))
    if as_json:
        tell_json(found)
        return
    rows = [(item["status"], _size(item), item["path"]) for item in found["items"]]
    tell_rows(("change", "bytes", "file"), rows, empty="No run has changed a file.")


@app.command()
def themes(as_json: JsonOption = False, url: UrlOption = DEFAULT_URL, token: TokenOption = None) -> None:
    """The themes that a screen can have."""
    found = with_server(url, token, lambda client: client.get("/v1/themes"))
    if as_json:
        tell_json(found)
        return
    rows = [(item["id"], item["name"], item["description"]) for item in found["items"]]
    tell_rows(("theme", "name", "description"), rows, empty="No themes.")


@app.command()
def theme(
    screen: ScreenArgument,
    name: Annotated[
        str, typer.Argument(help="Id of a theme, or a JSON file with {light: {…}, dark: {…}} of one's own.")
    ],
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """Give its app another look, at once where it runs; while a run works there, when that has ended."""
    body = {"theme_tokens": _tokens(Path(name))} if name.endswith(".json") else {"theme": name}
    told = with_server(url, token, lambda client: client.patch(f"/v1/screens/{screen}", body))
    out.print(f"{told['id']}: {told['theme']}")


@app.command()
def rename(
    screen: ScreenArgument,
    title: Annotated[str, typer.Argument(help="Its new title.")],
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """Give it a title of one's own."""
    told = with_server(url, token, lambda client: client.patch(f"/v1/screens/{screen}", {"title": title}))
    out.print(f"{told['id']}: {told['title']}")


@app.command()
def duplicate(
    screen: ScreenArgument,
    as_json: JsonOption = False,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """Copy it with its files, conversation and theme, and print the copy's id."""
    path, key = f"/v1/screens/{screen}/duplicate", uuid.uuid4().hex
    made = with_server(url, token, lambda client: client.post(path, idempotency_key=key))
    tell_json(made) if as_json else out.print(made["id"])


@app.command()
def delete(
    screen: ScreenArgument,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """Remove it with its conversation and files."""
    if not yes:
        question = f"Remove {screen} with its conversation and files? They do not come back."
        typer.confirm(question, abort=True, err=True)
    with_server(url, token, lambda client: client.delete(f"/v1/screens/{screen}"))
    out.print(f"{screen}: removed")


def _tokens(file: Path) -> Any:
    try:
        return orjson.loads(file.read_bytes())
    except (OSError, orjson.JSONDecodeError) as error:
        err.print(f"{file} cannot be read as JSON: {error}", style="red")
        raise typer.Exit(Exit.FAILED) from None


def _size(item: dict[str, Any]) -> str:
    before, after = item["before_bytes"], item["after_bytes"]
    return f"{'-' if before is None else before} -> {'-' if after is None else after}"


COMMANDS: Final = {"screen": app}
