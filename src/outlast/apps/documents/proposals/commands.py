"""`outlast proposals …`: changes that agents propose for documents, and your decisions."""

from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer

from outlast.kernel.cli.commands import Commands
from outlast.kernel.cli.options import LimitOption
from outlast.kernel.cli.session import call_server, wants_json
from outlast.kernel.cli.terminal import one_line, out, print_json, print_list, print_result

if TYPE_CHECKING:
    from outlast.kernel.cli.client import Client

app = Commands()
TargetArgument = Annotated[
    str, typer.Argument(metavar="ID", help="Id of a proposal (prp_…), or of one of its edits (edt_…).")
]
EDIT_PREFIX: Final = "edt_"


@app.verb("list", "outlast proposals list doc_01h…")
def list_proposals(
    document: Annotated[str, typer.Argument(help="Id of the document (doc_…).")],
    state: Annotated[Literal["open", "closed", "all"], typer.Option(help="Only proposals in this state.")] = "open",
    limit: LimitOption = None,
) -> None:
    """List the proposals for a document, newest first."""
    print_list(
        call_server(lambda client: client.items(f"/v1/documents/{document}/proposals", limit, state=state)),
        "proposal=id state open edits when=created_at change=summary",
        lambda item: {"open": sum(edit["state"] == "open" for edit in item["edits"])},
        empty="No proposals.",
    )


@app.verb("show", "outlast proposals show prp_01h…")
def show(proposal: Annotated[str, typer.Argument(help="Id of the proposal (prp_…).")]) -> None:
    """Show the edits of a proposal and their states."""
    found = call_server(lambda client: client.get(f"/v1/proposals/{proposal}"))
    if wants_json():
        print_json(found)
        return
    out.print(found["summary"], style="bold")
    for edit in found["edits"]:
        reason = f" ({edit['reason']})" if edit["reason"] else ""
        out.print(f"\n{edit['id']}  {edit['op']}  {edit['state']}{reason}", style="dim")
        heading = edit["heading"]
        if heading:
            out.print(f"+ {'#' * edit['level']} {one_line(heading)}", style="green")
        for sign, text, style in (("-", edit["old_text"], "red"), ("+", edit["new_text"], "green")):
            for line in text.splitlines():
                out.print(f"{sign} {line}", style=style)


@app.verb("accept", "outlast proposals accept prp_01h…")
def accept(
    target: TargetArgument,
    text: Annotated[str | None, typer.Option(help="Write this text instead of the proposed one.")] = None,
) -> None:
    """Accept an edit, or all open edits of a proposal."""
    if text is not None and not target.startswith(EDIT_PREFIX):
        raise typer.BadParameter("--text replaces the text of one edit. Give the id of an edit (edt_…).")
    _decide(target, "accept", text)


@app.verb("reject", "outlast proposals reject edt_01h…")
def reject(target: TargetArgument) -> None:
    """Reject an edit, or all open edits of a proposal."""
    _decide(target, "reject")


@app.verb("reopen", "outlast proposals reopen edt_01h…")
def reopen(edit: Annotated[str, typer.Argument(help="Id of the edit (edt_…).")]) -> None:
    """Reopen a decided edit.

    An accepted edit is removed from the document, with all others accepted in the same version."""
    if not edit.startswith(EDIT_PREFIX):
        raise typer.BadParameter("Give the id of an edit (edt_…).")
    _decide(edit, "reopen")


def _decide(target: str, decision: str, text: str | None = None) -> None:
    """Send the decision and print the state of each edit. `target` is the id of a proposal or of one edit."""

    async def send(client: "Client") -> Any:
        if not target.startswith(EDIT_PREFIX):
            return await client.post(f"/v1/proposals/{target}/{decision}")
        body = {"decision": decision} | ({} if text is None else {"text": text})
        return await client.post(f"/v1/edits/{target}", body)

    decided = call_server(send)
    reasons = {left["edit_id"]: f" ({left['message']})" for left in decided["left"]}
    lines = [f"{edit['id']}: {edit['state']}{reasons.get(edit['id'], '')}" for edit in decided["edits"]]
    if decided["version"] is not None:
        lines.append(f"version {decided['version']}")
    print_result(decided, "\n".join(lines))
