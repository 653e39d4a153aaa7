"""`outlast hooks …`: addresses at which other programs start runs."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from outlast.kernel.cli import terminal
from outlast.kernel.cli.commands import Commands
from outlast.kernel.cli.options import LimitOption, ProjectOption, read_text
from outlast.kernel.cli.session import call_server

if TYPE_CHECKING:
    from outlast.kernel.cli.client import Client

app = Commands()
HookArgument = Annotated[str, typer.Argument(help="Id of the incoming webhook (hok_…).")]


@app.verb("create", "outlast hooks create Tickets --template ticket.txt")
def create(
    title: Annotated[str, typer.Argument(help="Title; also of the threads that it creates.")],
    template: Annotated[str, typer.Option(help="File with the message, or - for standard input.")],
    agent: Annotated[str | None, typer.Option(help="Agent that answers. Default: the usual one.")] = None,
    same_thread: Annotated[bool, typer.Option("--same-thread", help="Put all calls into one thread.")] = False,
    project: ProjectOption = None,
) -> None:
    """Create an incoming webhook and print its path and secret. The secret is not shown again."""
    body = {
        "title": title,
        "template": read_text(template),
        "profile": agent,
        "thread": "same" if same_thread else "new",
    }

    async def work(client: "Client") -> Any:
        return await client.post(f"/v1/projects/{await client.project_id(project)}/hooks", body)

    _print_secret(call_server(work))


@app.verb("list", "outlast hooks list --project prj_01h…")
def list_hooks(project: ProjectOption = None) -> None:
    """List the incoming webhooks of a project."""

    async def work(client: "Client") -> Any:
        return await client.get(f"/v1/projects/{await client.project_id(project)}/hooks")

    columns = "hook=id on=enabled agent=profile thread by=created_by_name title"
    terminal.print_list(
        call_server(work), columns, empty="No incoming webhooks. Create one with 'outlast hooks create'."
    )


@app.verb("calls", "outlast hooks calls hok_01h…")
def calls(
    hook: HookArgument,
    before: Annotated[str | None, typer.Option(help="Only calls older than this one (hcl_…).")] = None,
    limit: LimitOption = 50,
) -> None:
    """List the last calls of an incoming webhook, the newest first."""

    async def work(client: "Client") -> Any:
        return await client.items(f"/v1/hooks/{hook}/calls", limit, before=before)

    columns = "call=id created=created_at run=run_id refused=code sender_id reason"
    terminal.print_list(call_server(work), columns, empty="No calls.")


@app.verb("rotate", "outlast hooks rotate hok_01h…")
def rotate(hook: HookArgument) -> None:
    """Give an incoming webhook a new secret and print it. The old one is invalid at once."""
    _print_secret(call_server(lambda client: client.post(f"/v1/hooks/{hook}/rotate")))


@app.verb("delete", "outlast hooks delete hok_01h…", "remove")
def delete(hook: HookArgument) -> None:
    """Delete an incoming webhook. Its threads and runs stay."""
    call_server(lambda client: client.delete(f"/v1/hooks/{hook}"))
    terminal.print_result({"id": hook, "state": "deleted"}, f"{hook}: deleted")


def _print_secret(made: dict[str, Any]) -> None:
    terminal.err.print(f"Programs call {made['path']}. Keep the secret: it is not shown again.", style="dim")
    terminal.print_result(made, made["secret"])
