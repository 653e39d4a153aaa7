"""`outlast checkpoint …`: what a thread's files were, what changed, bringing them back, starting without them."""

from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from outlast.kernel.cli.consoles import err, one_line, out, tell_json, tell_rows
from outlast.kernel.cli.options import DEFAULT_URL, JsonOption, TokenOption, UrlOption, with_server

if TYPE_CHECKING:
    from outlast.kernel.cli.client import Client

app = typer.Typer(no_args_is_help=True, help="The files of a thread as they were; compare and restore them.")
CheckpointArgument = Annotated[str, typer.Argument(help="Id of the checkpoint (ckp_…).")]
MARKS: Final = {"added": "+", "changed": "~", "removed": "-"}
COLOURS: Final = {"+": "green", "-": "red", "@": "cyan"}


@app.command("list")
def list_checkpoints(
    of: Annotated[str, typer.Argument(help="Id of a thread (thr_…) or of a sandbox (sbx_…).")],
    limit: Annotated[int, typer.Option(min=1, max=200)] = 20,
    as_json: JsonOption = False,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """Its checkpoints, the newest first."""
    noun = "sandboxes" if of.startswith("sbx_") else "threads"
    found = with_server(url, token, lambda client: client.get(f"/v1/{noun}/{of}/checkpoints", limit=limit))
    if as_json:
        tell_json(found)
        return
    rows = [
        (
            item["id"],
            item["created_at"][:19],
            item["reason"],
            str(item["files"]),
            str(item["size_bytes"]),
            item["message_id"] or "",
        )
        for item in found["items"]
    ]
    columns = ("checkpoint", "taken", "reason", "files", "bytes", "answer")
    tell_rows(columns, rows, empty="No checkpoints: one is taken when a tool call changes files.")


@app.command()
def diff(
    checkpoint: CheckpointArgument,
    to: Annotated[str | None, typer.Argument(help="Compare with this one; without: what it changed.")] = None,
    names: Annotated[bool, typer.Option("--names", help="Only which files differ.")] = False,
    as_json: JsonOption = False,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """What changed: from it to another, or by the answer or tool call that it was taken after."""
    found = with_server(url, token, lambda client: client.get(f"/v1/checkpoints/{checkpoint}/diff", to=to))
    if as_json:
        tell_json(found)
        return
    if not found["changes"]:
        err.print("No differences.")
    for change in found["changes"]:
        _tell_change(change, names)
    if found["truncated"]:
        err.print(f"Only the first {len(found['changes'])} are shown.")


@app.command()
def restore(
    checkpoint: CheckpointArgument,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """Bring the files back to what they were then. What they are now is kept as a checkpoint."""
    if not yes:
        question = f"Replace the files with those of {checkpoint}? What they are now is kept as a checkpoint."
        typer.confirm(question, abort=True, err=True)

    async def work(client: "Client") -> Any:
        return await client.post(f"/v1/checkpoints/{checkpoint}/restore")

    told = with_server(url, token, work)
    out.print(f"{told['id']}: {told['files']} files as they were")


@app.command()
def reset(
    thread: Annotated[str, typer.Argument(help="Id of the thread (thr_…).")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """Start with an empty workspace, where stored files are gone for good. A screen starts with its template's files.
    Earlier checkpoints stay."""
    if not yes:
        question = f"Start {thread} with an empty workspace? Its agent no longer sees the files it has now."
        typer.confirm(question, abort=True, err=True)

    async def work(client: "Client") -> Any:
        return await client.post(f"/v1/threads/{thread}/workspace/reset")

    told = with_server(url, token, work)
    out.print(f"{told['id']}: the workspace has {told['files']} files")


def _tell_change(change: dict[str, Any], names: bool) -> None:
    if names or change["diff"] is None:
        before, after = change["before_bytes"], change["after_bytes"]
        sizes = f" ({'none' if before is None else before} -> {'none' if after is None else after} bytes)"
        out.print(one_line(f"{MARKS[change['change']]} {change['path']}{'' if names else sizes}"))
        return
    for line in change["diff"].splitlines():
        out.print(line, style=COLOURS.get(line[:1]))
