"""`outlast secret …`: where secrets went."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from outlast.kernel.cli.consoles import tell_json, tell_rows
from outlast.kernel.cli.options import DEFAULT_URL, JsonOption, TokenOption, UrlOption, with_server

if TYPE_CHECKING:
    from outlast.kernel.cli.client import Client

app = typer.Typer(no_args_is_help=True, help="Secrets that sandboxes use without seeing them.")


@app.callback()
def _group() -> None:
    """One command so far."""


@app.command()
def uses(
    project: Annotated[str | None, typer.Option(help="Project; without: the default one.")] = None,
    sandbox: Annotated[str | None, typer.Option(help="Only from this sandbox (sbx_…).")] = None,
    secret: Annotated[str | None, typer.Option(help="Only of this secret.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=200)] = 20,
    as_json: JsonOption = False,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """Requests that carried a secret, the newest first; values are shown nowhere."""

    async def work(client: "Client") -> dict[str, Any]:
        chosen = project or (await client.get("/v1/me"))["default_project_id"]
        found: dict[str, Any] = await client.get(
            f"/v1/projects/{chosen}/secret-uses", sandbox=sandbox, secret=secret, limit=limit
        )
        return found

    found = with_server(url, token, work)
    if as_json:
        tell_json(found)
        return
    rows = [
        (
            item["at"][:19],
            item["secret"],
            f"{item['method']} {item['host']}{item['path']}",
            str(item["status"] or "no answer"),
            item["sandbox_id"],
            item["user_id"] or "",
        )
        for item in found["items"]
    ]
    columns = ("at", "secret", "request", "answer", "sandbox", "user")
    tell_rows(columns, rows, empty="No secret was used.")
