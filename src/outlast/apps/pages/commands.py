"""`outlast pages …`: live pages; actions on them, their versions, and links that show them."""

from textwrap import indent
from typing import TYPE_CHECKING, Annotated, Any, Literal

import orjson
import typer

from outlast.kernel.cli import terminal
from outlast.kernel.cli.commands import Commands
from outlast.kernel.cli.options import FollowOption, LimitOption, ProjectOption, read_text
from outlast.kernel.cli.session import call_server, wants_json
from outlast.kernel.cli.subject_verbs import add_subject_verbs, create_in_project, list_of_project

if TYPE_CHECKING:
    from outlast.kernel.cli.client import Client

app = Commands()
PageArgument = Annotated[str, typer.Argument(help="Id of the page (pag_…).")]


@app.verb("list", "outlast pages list --project prj_01h…")
def list_pages(project: ProjectOption = None, limit: LimitOption = None) -> None:
    """List the pages of a project, oldest first."""
    terminal.print_list(
        list_of_project("pages", project, limit),
        "page=id state version changed=updated_at title",
        empty="No pages. Create one with 'outlast pages create'.",
    )


@app.verb("create", 'outlast pages create "Open issues"', "new")
def create(
    title: Annotated[str | None, typer.Argument(help="Title (default: the agent chooses one).")] = None,
    html: Annotated[str | None, typer.Option(help="File with the first HTML. '-' reads standard input.")] = None,
    project: ProjectOption = None,
) -> None:
    """Create a page and print its id.

    Then let an agent write it: outlast runs start "show my open issues" --page ID"""
    create_in_project("pages", project, title=title, html=None if html is None else read_text(html))


@app.verb("show", "outlast pages show pag_01h… --html")
def show(
    page: PageArgument,
    version: Annotated[int | None, typer.Option(help="Version (default: the newest).")] = None,
    html: Annotated[bool, typer.Option("--html", help="Print only the HTML of the page.")] = False,
) -> None:
    """Show a page: its state, version and size, or its HTML."""
    path = f"/v1/pages/{page}" if version is None else f"/v1/pages/{page}/versions/{version}"
    found = call_server(lambda client: client.get(path))
    if html:
        terminal.print_bytes(f"{found['html']}\n".encode())
        return
    terminal.print_fields(
        found,
        "page=id title state version change=summary thread=thread_id run=active_run_id html_bytes changed=updated_at",
        {"id": page, "html_bytes": len(found["html"].encode())},
    )


@app.verb("act", """outlast pages act pag_01h… close --data '{"id": "7"}'""")
def act(
    page: PageArgument,
    name: Annotated[str, typer.Argument(help="Name of a data-action of the page.")],
    data: Annotated[str, typer.Option(help="Values of the action, as a JSON object.")] = "{}",
    follow: FollowOption = True,
) -> None:
    """Do something on a page, like a click, and follow the run.

    While a run works on the page, the action waits for the next run."""
    body = {"name": name, "data": _json_object(data)}

    async def work(client: "Client") -> int:
        acted = await client.create(f"/v1/pages/{page}/actions", **body)
        if not follow:
            terminal.print_result(acted, acted["run_id"])
            return 0
        if acted["state"] == "waiting":
            terminal.err.print("Waiting for the run that works on the page.", style="dim")
        from outlast.kernel.runs.commands import follow_started

        return await follow_started(client, acted)

    raise typer.Exit(call_server(work))


@app.verb("actions", "outlast pages actions pag_01h… --state waiting")
def actions(
    page: PageArgument,
    state: Annotated[
        Literal["waiting", "taken", "done", "failed", "dropped"] | None,
        typer.Option(help="Only actions in this state."),
    ] = None,
    limit: LimitOption = 50,
) -> None:
    """List the actions on a page, newest first."""
    terminal.print_list(
        call_server(lambda client: client.items(f"/v1/pages/{page}/actions", limit, state=state)),
        "action=id state when=created_at who=by_name name data",
        lambda item: {"data": orjson.dumps(item["data"]).decode()},
        empty="No actions.",
    )


@app.verb("cancel-action", "outlast pages cancel-action pag_01h… act_01h…", "take-back")
def cancel_action(
    page: PageArgument, action: Annotated[str, typer.Argument(help="Id of a waiting action (act_…).")]
) -> None:
    """Cancel an action that still waits."""
    call_server(lambda client: client.delete(f"/v1/pages/{page}/actions/{action}"))
    terminal.print_result({"id": action, "state": "cancelled"}, f"{action}: cancelled")


@app.verb("versions", "outlast pages versions pag_01h…")
def versions(
    page: PageArgument,
    before: Annotated[int | None, typer.Option(help="Only versions older than this one.")] = None,
    limit: LimitOption = 50,
) -> None:
    """List the versions of a page, newest first."""
    terminal.print_list(
        call_server(lambda client: client.items(f"/v1/pages/{page}/versions", limit, before=before)),
        "version kind when=created_at run=run_id change=summary",
        empty="No versions: the page has not been changed.",
    )


@app.verb("undo", "outlast pages undo pag_01h…")
def undo(page: PageArgument) -> None:
    """Undo the last change to a page.

    Repeat it to undo earlier changes."""
    changed = call_server(lambda client: client.post(f"/v1/pages/{page}/undo"))
    terminal.print_result(changed, f"{page}: version {changed['version']}")


@app.verb("restore", "outlast pages restore pag_01h… 4")
def restore(
    page: PageArgument, version: Annotated[int, typer.Argument(help="Version; see 'outlast pages versions'.")]
) -> None:
    """Restore an earlier version of a page."""
    path = f"/v1/pages/{page}/restore"
    changed = call_server(lambda client: client.post(path, {"version": version}))
    terminal.print_result(changed, f"{page}: version {changed['version']}")


@app.verb("code", "outlast pages code pag_01h…")
def code(page: PageArgument, limit: LimitOption = 50) -> None:
    """Show the code that ran for a page and its results, newest first."""
    found = call_server(lambda client: client.items(f"/v1/pages/{page}/code", limit))
    if wants_json():
        terminal.print_json(found)
        return
    for item in found["items"]:
        about = f" - {item['description']}" if item["description"] else ""
        heading = f"{terminal.local_time(item['at'])} {item['tool']} ({item['status']}){about}"
        terminal.out.print(terminal.one_line(heading), style="bold")
        terminal.out.print(indent(item["code"], "    "))
        terminal.out.print(indent(item["result"] or "", "    "), style="dim")
    if not found["items"]:
        terminal.err.print("No code has run for this page.", style="dim")


@app.verb("share", "outlast pages share pag_01h… --days 7", "link")
def share(
    page: PageArgument,
    name: Annotated[str, typer.Option(help="Name of the link, for those who manage links.")] = "",
    days: Annotated[float | None, typer.Option(help="Days until the link expires (default: never).")] = None,
    frame: Annotated[bool, typer.Option("--frame", help="Print HTML that embeds the page.")] = False,
) -> None:
    """Create a read-only link to a page and print it.

    Anyone with the link can view the page. The link is not shown again."""
    made = call_server(lambda client: client.create(f"/v1/pages/{page}/links", name=name, expires_in_days=days))
    terminal.print_result(made, made["frame"] if frame else made["url"])


@app.verb("links", "outlast pages links pag_01h…")
def links(page: PageArgument) -> None:
    """List the links to a page, newest first."""
    terminal.print_list(
        call_server(lambda client: client.get(f"/v1/pages/{page}/links")),
        "link=id created=created_at expires=expires_at name",
        empty="No links.",
    )


@app.verb("unshare", "outlast pages unshare pag_01h… lnk_01h…", "unlink")
def unshare(page: PageArgument, link: Annotated[str, typer.Argument(help="Id of the link (lnk_…).")]) -> None:
    """Revoke a link to a page."""
    call_server(lambda client: client.delete(f"/v1/pages/{page}/links/{link}"))
    terminal.print_result({"id": link, "state": "revoked"}, f"{link}: revoked")


add_subject_verbs(app, "page", "pag_01h…", "its history, conversation and files", copies=True)


def _json_object(text: str) -> dict[str, Any]:
    try:
        read = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise typer.BadParameter(f"--data is not JSON: {error}") from None
    if not isinstance(read, dict):
        raise typer.BadParameter("--data is not a JSON object.")
    return read
