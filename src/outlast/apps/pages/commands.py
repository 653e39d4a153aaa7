"""`outlast page …`: live pages; what is done on them, what they were, and links that show them."""

import uuid
from typing import TYPE_CHECKING, Annotated, Any, Final

import orjson
import typer

from outlast.kernel.cli.consoles import err, one_line, out, tell_bytes, tell_json, tell_rows
from outlast.kernel.cli.options import (
    DEFAULT_URL,
    JsonOption,
    TokenOption,
    UrlOption,
    all_of_project,
    made_in_project,
    text_of,
    with_server,
)

if TYPE_CHECKING:
    from outlast.kernel.cli.client import Client

app = typer.Typer(no_args_is_help=True, help="Live pages: make, look at, act on, take back, show to others.")
PageArgument = Annotated[str, typer.Argument(help="Id of the page (pag_…).")]


@app.command("list")
def list_pages(
    project: Annotated[str | None, typer.Option(help="Project; without: the default one.")] = None,
    as_json: JsonOption = False,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """The pages of a project, oldest first."""
    items = with_server(url, token, lambda client: all_of_project(client, project, "pages"))
    if as_json:
        tell_json({"items": items, "next": None})
        return
    rows = [
        (item["id"], item["state"], item["version"], item["updated_at"][:19], item["title"][:60])
        for item in items
    ]
    tell_rows(
        ("page", "state", "version", "changed", "title"),
        rows,
        empty="No pages: 'outlast page new' makes one.",
    )


@app.command()
def new(
    title: Annotated[str | None, typer.Argument(help="Its title; without: the agent's.")] = None,
    html: Annotated[
        str | None, typer.Option(help="File with its first HTML; '-' reads it from standard input.")
    ] = None,
    project: Annotated[str | None, typer.Option(help="Project; without: the default one.")] = None,
    as_json: JsonOption = False,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """Make a page and print its id. Then: outlast run start "show my open issues" --page ID"""
    given = {"title": title, "html": None if html is None else text_of(html)}

    made = with_server(url, token, lambda client: made_in_project(client, project, "pages", given))
    tell_json(made) if as_json else out.print(made["id"])


@app.command()
def show(
    page: PageArgument,
    version: Annotated[int | None, typer.Option(help="As it was; without: as it is.")] = None,
    html: Annotated[bool, typer.Option("--html", help="Only its HTML, as it is.")] = False,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """Everything about a page, as JSON, or its HTML."""
    path = f"/v1/pages/{page}" if version is None else f"/v1/pages/{page}/versions/{version}"
    found = with_server(url, token, lambda client: client.get(path))
    tell_bytes(f"{found['html']}\n".encode()) if html else tell_json(found)


@app.command()
def act(
    page: PageArgument,
    name: Annotated[str, typer.Argument(help="The name of a data-action, as a click would send it.")],
    data: Annotated[str, typer.Option(help="Its values, a JSON object.")] = "{}",
    follow: Annotated[
        bool, typer.Option("--follow/--detach", help="Show the run live, or only print its id.")
    ] = True,
    as_json: JsonOption = False,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """Do something on a page, as a click there does. While a run works it waits for the next one."""
    body = {"name": name, "data": _json(data)}

    async def work(client: "Client") -> int:
        acted = await client.post(f"/v1/pages/{page}/actions", body, idempotency_key=uuid.uuid4().hex)
        if not follow:
            tell_json(acted) if as_json else out.print(acted["run_id"])
            return 0
        if not as_json:
            waits = " (waits for the one that works)" if acted["state"] == "waiting" else ""
            err.print(f"{acted['run_id']} in {acted['thread_id']}{waits}", style="dim")
        from outlast.kernel.cli.run_output import follow_run

        return await follow_run(client, acted["run_id"], as_json=as_json)

    raise typer.Exit(with_server(url, token, work))


@app.command()
def actions(
    page: PageArgument,
    state: Annotated[
        str | None, typer.Option(help="Only waiting, taken, done, failed or dropped ones.")
    ] = None,
    as_json: JsonOption = False,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """What was done on a page last, newest first."""
    found = with_server(url, token, lambda client: client.get(f"/v1/pages/{page}/actions", state=state))
    if as_json:
        tell_json(found)
        return
    rows = [
        (
            item["id"],
            item["state"],
            item["created_at"][:19],
            item["by_name"][:20],
            item["name"],
            orjson.dumps(item["data"]).decode()[:60],
        )
        for item in found["items"]
    ]
    columns = ("action", "state", "when", "who", "name", "data")
    tell_rows(columns, rows, empty="Nothing was done on this page.")


@app.command("take-back")
def take_back(
    page: PageArgument,
    action: Annotated[str, typer.Argument(help="An action that waits (act_…).")],
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """Take back an action that still waits."""
    with_server(url, token, lambda client: client.delete(f"/v1/pages/{page}/actions/{action}"))
    out.print(f"{action}: taken back")


@app.command()
def versions(
    page: PageArgument,
    before: Annotated[int | None, typer.Option(help="Only older ones than this version.")] = None,
    as_json: JsonOption = False,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """What a page was, newest first."""
    found = with_server(url, token, lambda client: client.get(f"/v1/pages/{page}/versions", before=before))
    if as_json:
        tell_json(found)
        return
    rows = [
        (
            item["version"],
            item["kind"],
            item["created_at"][:19],
            item["run_id"] or "",
            item["summary"][:70],
        )
        for item in found["items"]
    ]
    tell_rows(("version", "kind", "when", "run", "what"), rows, empty="The page has never been changed.")


@app.command()
def undo(page: PageArgument, url: UrlOption = DEFAULT_URL, token: TokenOption = None) -> None:
    """Take back what the last run, or person, made of it; again: what came before."""
    told = with_server(url, token, lambda client: client.post(f"/v1/pages/{page}/undo"))
    out.print(f"{page}: version {told['version']}")


@app.command()
def restore(
    page: PageArgument,
    version: Annotated[int, typer.Argument(help="See 'page versions'.")],
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """Make it what it was."""
    path = f"/v1/pages/{page}/restore"
    told = with_server(url, token, lambda client: client.post(path, {"version": version}))
    out.print(f"{page}: version {told['version']}")


@app.command()
def code(
    page: PageArgument,
    as_json: JsonOption = False,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """The code that ran for it last, and what came of it, newest first."""
    found = with_server(url, token, lambda client: client.get(f"/v1/pages/{page}/code"))
    if as_json:
        tell_json(found)
        return
    for item in found["items"]:
        about = f" - {item['description']}" if item["description"] else ""
        out.print(
            one_line(f"{item['at'][:19]} {item['tool']} ({item['status']}){about}"),
            style="bold",
        )
        out.print(_lines(item["code"]))
        out.print(_lines(item["result"] or ""), style="dim")
    if not found["items"]:
        err.print("No code has run for this page.", style="dim")


@app.command()
def link(
    page: PageArgument,
    name: Annotated[str, typer.Option(help="Where it is used, for those who manage links.")] = "",
    days: Annotated[float | None, typer.Option(help="How long it is good; without: until revoked.")] = None,
    frame: Annotated[bool, typer.Option("--frame", help="HTML that shows it in another site.")] = False,
    as_json: JsonOption = False,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """Make a link that shows it, read only, to whoever has the link. It is printed now and never again."""
    body: dict[str, Any] = {"name": name}
    if days is not None:
        body["expires_in_days"] = days
    made = with_server(url, token, lambda client: client.post(f"/v1/pages/{page}/links", body))
    if as_json:
        tell_json(made)
    else:
        out.print(made["frame"] if frame else made["url"])


@app.command()
def links(
    page: PageArgument, as_json: JsonOption = False, url: UrlOption = DEFAULT_URL, token: TokenOption = None
) -> None:
    """The links that show it, newest first."""
    found = with_server(url, token, lambda client: client.get(f"/v1/pages/{page}/links"))
    if as_json:
        tell_json(found)
        return
    rows = [
        (
            item["id"],
            item["created_at"][:19],
            (item["expires_at"] or "never")[:19],
            item["name"][:60],
        )
        for item in found["items"]
    ]
    tell_rows(("link", "made", "until", "name"), rows, empty="No links show this page.")


@app.command()
def unlink(
    page: PageArgument,
    link: Annotated[str, typer.Argument(help="Id of the link (lnk_…).")],
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """End a link at once."""
    with_server(url, token, lambda client: client.delete(f"/v1/pages/{page}/links/{link}"))
    out.print(f"{link}: revoked")


@app.command()
def rename(
    page: PageArgument,
    title: Annotated[str, typer.Argument(help="Its new title.")],
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """Give it a title of one's own."""
    told = with_server(url, token, lambda client: client.patch(f"/v1/pages/{page}", {"title": title}))
    out.print(one_line(f"{told['id']}: {told['title']}"))


@app.command()
def duplicate(
    page: PageArgument, as_json: JsonOption = False, url: UrlOption = DEFAULT_URL, token: TokenOption = None
) -> None:
    """Copy it with its HTML, files and conversation, and print the copy's id."""
    path, key = f"/v1/pages/{page}/duplicate", uuid.uuid4().hex
    made = with_server(url, token, lambda client: client.post(path, idempotency_key=key))
    tell_json(made) if as_json else out.print(made["id"])


@app.command()
def delete(
    page: PageArgument,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """Remove it with its history, conversation and files."""
    if not yes:
        question = f"Remove {page} with its history, conversation and files? They do not come back."
        typer.confirm(question, abort=True, err=True)
    with_server(url, token, lambda client: client.delete(f"/v1/pages/{page}"))
    out.print(f"{page}: removed")


def _json(text: str) -> dict[str, Any]:
    try:
        read = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise typer.BadParameter(f"--data is no JSON: {error}") from None
    if not isinstance(read, dict):
        raise typer.BadParameter("--data is no JSON object")
    return read


def _lines(text: str) -> str:
    """What an agent wrote, indented, without what would command the terminal."""
    return "\n".join(f"    {line}" for line in text.splitlines())


COMMANDS: Final = {"page": app}
