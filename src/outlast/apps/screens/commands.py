"""`outlast screens …`: the apps on a project's canvas; their files, themes and copies."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import orjson
import typer

from outlast.kernel.cli import terminal
from outlast.kernel.cli.commands import Commands
from outlast.kernel.cli.exits import Exit
from outlast.kernel.cli.options import LimitOption, ProjectOption
from outlast.kernel.cli.session import call_server, wants_json
from outlast.kernel.cli.subject_verbs import add_subject_verbs, create_in_project, list_of_project

if TYPE_CHECKING:
    from outlast.kernel.cli.client import Client

app = Commands()
ScreenArgument = Annotated[str, typer.Argument(help="Id of the screen (scr_…).")]


@app.verb("list", "outlast screens list --project prj_01h…")
def list_screens(project: ProjectOption = None, limit: LimitOption = None) -> None:
    """List the screens of a project, oldest first."""
    terminal.print_list(
        list_of_project("screens", project, limit),
        "screen=id state template theme changed=updated_at title",
        empty="No screens. Create one with 'outlast screens create'.",
    )


@app.verb("create", 'outlast screens create "Pricing" --template next')
def create(
    title: Annotated[str | None, typer.Argument(help="Title (default: the agent chooses one).")] = None,
    project: ProjectOption = None,
    template: Annotated[
        Literal["next", "vite"] | None, typer.Option(help="App template (default: the configured one).")
    ] = None,
    theme: Annotated[str | None, typer.Option(help="Id of a theme; see 'outlast screens themes'.")] = None,
) -> None:
    """Create a screen on the canvas and print its id.

    Then let an agent build it: outlast runs start "a pricing page" --screen ID"""
    create_in_project("screens", project, title=title, template=template, theme=theme)


@app.verb("show", "outlast screens show scr_01h…")
def show(screen: ScreenArgument) -> None:
    """Show a screen: its state, theme, files and problems."""
    found = call_server(lambda client: client.get(f"/v1/screens/{screen}"))
    terminal.print_fields(
        found,
        "screen=id title state template theme thread=thread_id run=active_run_id sandbox=sandbox_id"
        " preview=preview_url files changed=updated_at error=trouble problems",
        {"problems": "\n".join(map(str, found["problems"]))},
    )


@app.verb("open", "outlast screens open scr_01h…")
def open_screen(
    screen: ScreenArgument,
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="Wait until the app answers, or only start it.")
    ] = True,
) -> None:
    """Start the app of a screen and print a link that opens it.

    The link works once, in one browser, for a minute."""

    async def work(client: "Client") -> str | None:
        found = await client.get(f"/v1/screens/{screen}")
        cursor = (await client.get(f"/v1/projects/{found['project_id']}"))["cursor"]
        await client.post(f"/v1/screens/{screen}/open")
        if not wait or not (await _runs(client, found) or await _comes_to_run(client, found, cursor)):
            return None
        return str((await client.post(f"/v1/screens/{screen}/preview"))["ticket_url"])

    link = call_server(work)
    if link is not None:
        terminal.print_result({"url": link}, link)
    elif wait:
        raise typer.Exit(Exit.FAILED)


@app.verb("files", 'outlast screens files scr_01h… --search "useState"')
def files(
    screen: ScreenArgument,
    search: Annotated[str | None, typer.Option("--search", "-s", help="Show lines that contain this text.")] = None,
) -> None:
    """List the files of a screen's app, or search them."""
    path = f"/v1/screens/{screen}/{'files' if search is None else 'search'}"
    found = call_server(lambda client: client.get(path, q=search))
    if wants_json():
        terminal.print_json(found)
        return
    for item in found["items"]:
        line = f"{item['path']}:{item['line']}: {item['text']}" if search is not None else item["path"]
        terminal.out.print(terminal.one_line(line))
    if found["truncated"]:
        terminal.err.print(f"Only the first {len(found['items'])} are shown.")


@app.verb("read", "outlast screens read scr_01h… app/page.tsx", "cat")
def read(
    screen: ScreenArgument, path: Annotated[str, typer.Argument(help="Path of the file; see 'outlast screens files'.")]
) -> None:
    """Print a file of a screen's app, up to 5 MB."""
    where = f"/v1/screens/{screen}/files/content"
    terminal.print_bytes(call_server(lambda client: client.content(where, path=path)))


@app.verb("download", "outlast screens download scr_01h… pricing.zip")
def download(
    screen: ScreenArgument,
    to: Annotated[Path | None, typer.Argument(help="File to write (default: named by the title).")] = None,
) -> None:
    """Download the app of a screen as a ZIP.

    To run the app elsewhere: npm install && npm run dev"""

    async def work(client: "Client") -> tuple[str, bytes]:
        title = (await client.get(f"/v1/screens/{screen}"))["title"]
        return title, await client.content(f"/v1/screens/{screen}/archive")

    title, content = call_server(work)
    from outlast.apps.screens.zip_archive import archive_name

    target = to or Path(f"{archive_name(title)}.zip")
    target.write_bytes(content)
    terminal.print_result({"path": str(target), "size_bytes": len(content)}, str(target))


@app.verb("changes", "outlast screens changes scr_01h…")
def changes(
    screen: ScreenArgument,
    run: Annotated[str | None, typer.Argument(help="Run (run_…) (default: the last one that changed files).")] = None,
) -> None:
    """List the files that a run changed.

    For the lines that changed: outlast checkpoints diff"""
    terminal.print_list(
        call_server(lambda client: client.get(f"/v1/screens/{screen}/changes", run=run)),
        "change=status before=before_bytes after=after_bytes file=path",
        empty="No run has changed a file.",
    )


@app.verb("themes", "outlast screens themes")
def themes() -> None:
    """List the themes of screens."""
    terminal.print_list(
        call_server(lambda client: client.get("/v1/themes")), "theme=id name description", empty="No themes."
    )


@app.verb("set-theme", "outlast screens set-theme scr_01h… ocean", "theme")
def set_theme(
    screen: ScreenArgument,
    name: Annotated[str, typer.Argument(help="Id of a theme, or a JSON file with your own {light: {…}, dark: {…}}.")],
) -> None:
    """Change the theme of a screen.

    A running app changes at once; if a run works on it, the app changes when the run ends."""
    body = {"theme_tokens": _tokens(Path(name))} if name.endswith(".json") else {"theme": name}
    changed = call_server(lambda client: client.patch(f"/v1/screens/{screen}", body))
    terminal.print_result(changed, f"{changed['id']}: {changed['theme']}")


add_subject_verbs(app, "screen", "scr_01h…", "its conversation and files", copies=True)


def _tokens(file: Path) -> Any:
    try:
        return orjson.loads(file.read_bytes())
    except (OSError, orjson.JSONDecodeError) as error:
        raise typer.BadParameter(f"{file} cannot be read as JSON: {error}") from None


async def _runs(client: "Client", screen: dict[str, Any]) -> bool:
    """True if the app answers already."""
    if screen["sandbox_id"] is None:
        return False
    sandbox = await client.get(f"/v1/sandboxes/{screen['sandbox_id']}")
    return sandbox["state"] == "ready" and _dev(sandbox["services"]) == ("healthy", None)


async def _comes_to_run(client: "Client", screen: dict[str, Any], cursor: str) -> bool:
    """Wait until the app answers. Reports the one-time installation of its template, and failures, as they
    happen."""
    told = ""
    async for _, event in client.follow(f"/v1/projects/{screen['project_id']}/events", cursor):
        data, line = event["data"], ""
        match event["event"]:
            case "sandbox.state" if data["workspace_id"] == screen["workspace_id"]:
                state, error = _dev(data["services"])
                if data["state"] == "ready" and state == "healthy":
                    return True
                if state == "failed":
                    terminal.err.print(f"The dev server failed: {error}", style="red")
                    return False
                line = f"sandbox {data['state']}, dev server {state}"
            case "snapshot.progress" if data["state"] != "ready":
                line = f"installing: {data['step']}"
            case "screen.updated" if data["screen"]["id"] == screen["id"] and data["screen"]["trouble"]:
                terminal.err.print(data["screen"]["trouble"], style="red")
                return False
            case "screen.deleted" if data["screen_id"] == screen["id"]:
                terminal.err.print("The screen was deleted.", style="red")
                return False
        if line and line != told:
            terminal.err.print(line, style="dim")
            told = line
    return False


def _dev(services: list[dict[str, Any]]) -> tuple[str, str | None]:
    """The state of the dev server, and its failure."""
    found = (one for one in services if one["name"] == "dev")
    return next(((one["state"], one["error"]) for one in found), ("stopped", None))
