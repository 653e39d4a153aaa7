"""`outlast proposal …`: what agents would like to change in documents, and your decisions."""

from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from outlast.kernel.cli.consoles import one_line, out, tell_json, tell_rows
from outlast.kernel.cli.options import DEFAULT_URL, JsonOption, TokenOption, UrlOption, with_server

if TYPE_CHECKING:
    from outlast.kernel.cli.client import Client

app = typer.Typer(
    no_args_is_help=True, help="What agents would like to change in documents: look, accept, reject."
)
WhichArgument = Annotated[str, typer.Argument(help="A proposal (prp_…), or one edit of it (edt_…).")]
EDIT: Final = "edt_"


@app.command("list")
def list_proposals(
    document: Annotated[str, typer.Argument(help="Id of the document (doc_…).")],
    state: Annotated[str, typer.Option(help="open, closed or all.")] = "open",
    as_json: JsonOption = False,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """What is proposed for a document, newest first."""
    path = f"/v1/documents/{document}/proposals"
    found = with_server(url, token, lambda client: client.get(path, state=state))
    if as_json:
        tell_json(found)
        return
    rows = [
        (
            item["id"],
            item["state"],
            sum(edit["state"] == "open" for edit in item["edits"]),
            len(item["edits"]),
            item["created_at"][:19],
            item["summary"][:60],
        )
        for item in found["items"]
    ]
    columns = ("proposal", "state", "open", "edits", "when", "what")
    tell_rows(columns, rows, empty="Nothing is proposed.")


@app.command()
def show(
    proposal: Annotated[str, typer.Argument(help="Id of the proposal (prp_…).")],
    as_json: JsonOption = False,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """Its edits: what they would take away and put in, and what became of them."""
    found = with_server(url, token, lambda client: client.get(f"/v1/proposals/{proposal}"))
    if as_json:
        tell_json(found)
        return
    out.print(found["summary"], style="bold")
    for edit in found["edits"]:
        reason = f" ({edit['reason']})" if edit["reason"] else ""
        out.print(f"\n{edit['id']}  {edit['op']}  {edit['state']}{reason}", style="dim")
        heading = edit["heading"]
        if heading:
            out.print(f"+ {'#' * edit['level']} {one_line(heading)}", style="green")
        for sign, text, look in (("-", edit["old_text"], "red"), ("+", edit["new_text"], "green")):
            for line in text.splitlines():
                out.print(f"{sign} {line}", style=look)


@app.command()
def accept(
    which: WhichArgument,
    text: Annotated[str | None, typer.Option(help="Write this instead of the edit's text.")] = None,
    as_json: JsonOption = False,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """Accept an edit, or every open one of a proposal, as one version."""
    if text is not None and not which.startswith(EDIT):
        raise typer.BadParameter("a text takes the place of one edit's: name an edit (edt_…)")
    _tell(with_server(url, token, lambda client: _decide(client, which, "accept", text)), as_json)


@app.command()
def reject(
    which: WhichArgument,
    as_json: JsonOption = False,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """Reject an edit, or every open one of a proposal."""
    _tell(with_server(url, token, lambda client: _decide(client, which, "reject", None)), as_json)


@app.command()
def reopen(
    which: Annotated[str, typer.Argument(help="An edit (edt_…).", metavar="EDIT")],
    as_json: JsonOption = False,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """Take the decision about an edit back. What was accepted leaves the document, with all that was accepted in the
    same version."""
    if not which.startswith(EDIT):
        raise typer.BadParameter("name an edit (edt_…)")
    _tell(with_server(url, token, lambda client: _decide(client, which, "reopen", None)), as_json)


async def _decide(client: "Client", which: str, decision: str, text: str | None) -> Any:
    if not which.startswith(EDIT):
        return await client.post(f"/v1/proposals/{which}/{decision}")
    body = {"decision": decision} | ({} if text is None else {"text": text})
    return await client.post(f"/v1/edits/{which}", body)


def _tell(decided: Any, as_json: bool) -> None:
    if as_json:
        tell_json(decided)
        return
    left = {one["edit_id"]: one["message"] for one in decided["left"]}
    for edit in decided["edits"]:
        why = f" ({left[edit['id']]})" if edit["id"] in left else ""
        out.print(f"{edit['id']}: {edit['state']}{why}")
    if decided["version"] is not None:
        out.print(f"version {decided['version']}")
