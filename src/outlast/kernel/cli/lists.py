"""`outlast projects` and `outlast threads`."""

from typing import TYPE_CHECKING, Annotated

import typer

from outlast.kernel.cli.consoles import tell_json, tell_rows
from outlast.kernel.cli.options import DEFAULT_URL, JsonOption, TokenOption, UrlOption, with_server

if TYPE_CHECKING:
    from outlast.kernel.cli.client import Client

projects = typer.Typer(no_args_is_help=True, help="Projects you are a member of.")
threads = typer.Typer(no_args_is_help=True, help="Conversations of a project.")


@projects.command("list")
def list_projects(
    as_json: JsonOption = False, url: UrlOption = DEFAULT_URL, token: TokenOption = None
) -> None:
    """Your projects."""
    found = with_server(url, token, lambda client: client.get("/v1/projects"))
    if as_json:
        tell_json(found)
        return
    rows = [(item["id"], item["role"], item["thread_count"], item["name"]) for item in found["items"]]
    tell_rows(("project", "role", "threads", "name"), rows, empty="No projects.")


@threads.command("list")
def list_threads(
    project: Annotated[str | None, typer.Option(help="Project; without: the default one.")] = None,
    status: Annotated[str, typer.Option(help="open or archived.")] = "open",
    query: Annotated[str | None, typer.Option("--query", "-q", help="Words to search for.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=200)] = 20,
    as_json: JsonOption = False,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """Threads, last changed first."""

    async def work(client: "Client") -> dict[str, list[dict[str, str]]]:
        chosen = project or (await client.get("/v1/me"))["default_project_id"]
        found: dict[str, list[dict[str, str]]] = await client.get(
            f"/v1/projects/{chosen}/threads", status=status, q=query, limit=limit
        )
        return found

    found = with_server(url, token, work)
    if as_json:
        tell_json(found)
        return
    rows = [
        (item["id"], item["run_status"], item["updated_at"][:19], item["title"][:60])
        for item in found["items"]
    ]
    tell_rows(("thread", "status", "changed", "title"), rows, empty="No threads.")
