"""`outlast checkpoints …`: earlier states of a thread's files."""

from typing import Annotated, Any, Final

import typer

from outlast.kernel.cli.commands import Commands
from outlast.kernel.cli.options import LimitOption, YesOption
from outlast.kernel.cli.session import call_server, wants_json
from outlast.kernel.cli.terminal import confirm, err, one_line, out, print_json, print_list, print_result
from outlast.kernel.cli.units import count

app = Commands()
CheckpointArgument = Annotated[str, typer.Argument(help="Id of the checkpoint (ckp_…).")]
MARKS: Final = {"added": "+", "changed": "~", "removed": "-"}
COLOURS: Final = {"+": "green", "-": "red", "@": "cyan"}


@app.verb("list", "outlast checkpoints list thr_01h…")
def list_checkpoints(
    of: Annotated[str, typer.Argument(metavar="THREAD", help="Id of the thread (thr_…) or of its sandbox (sbx_…).")],
    limit: LimitOption = 20,
) -> None:
    """List the checkpoints of a thread or sandbox, the newest first."""
    noun = "sandboxes" if of.startswith("sbx_") else "threads"
    print_list(
        call_server(lambda client: client.items(f"/v1/{noun}/{of}/checkpoints", limit)),
        "checkpoint=id taken=created_at reason files size=size_bytes",
        empty="No checkpoints. One is taken when a tool call changes files.",
    )


@app.verb("diff", "outlast checkpoints diff ckp_01h… --names")
def diff(
    checkpoint: CheckpointArgument,
    to: Annotated[str | None, typer.Argument(help="Compare with this checkpoint. Default: the one before.")] = None,
    names: Annotated[bool, typer.Option("--names", help="Show only the names of changed files.")] = False,
) -> None:
    """Show what changed in a checkpoint, or between two."""
    found = call_server(lambda client: client.get(f"/v1/checkpoints/{checkpoint}/diff", to=to))
    if wants_json():
        print_json(found)
        return
    if not found["changes"]:
        err.print("No differences.")
    for change in found["changes"]:
        _print_change(change, names)
    if found["truncated"]:
        err.print(f"Only the first {len(found['changes'])} files are shown.")


@app.verb("restore", "outlast checkpoints restore ckp_01h… --yes")
def restore(checkpoint: CheckpointArgument, yes: YesOption = False) -> None:
    """Restore the files of a checkpoint.

    The current files are kept as a checkpoint."""
    question = f"Replace the files with those of {checkpoint}? The current files are kept as a checkpoint."
    confirm(question, yes=yes)
    restored = call_server(lambda client: client.post(f"/v1/checkpoints/{checkpoint}/restore"))
    print_result(restored, f"{restored['id']}: {count(restored['files'], 'file')}")


@app.verb("reset", "outlast checkpoints reset thr_01h… --yes")
def reset(thread: Annotated[str, typer.Argument(help="Id of the thread (thr_…).")], yes: YesOption = False) -> None:
    """Give a thread an empty workspace.

    Use this if stored files are lost. A screen starts again with the files of its template. Earlier checkpoints are
    kept."""
    confirm(f"Give {thread} an empty workspace? Its agent no longer sees the current files.", yes=yes)
    made = call_server(lambda client: client.post(f"/v1/threads/{thread}/workspace/reset"))
    print_result(made, f"{made['id']}: {count(made['files'], 'file')}")


def _print_change(change: dict[str, Any], names: bool) -> None:
    if names or change["diff"] is None:
        before, after = change["before_bytes"], change["after_bytes"]
        sizes = f" ({'none' if before is None else before} -> {'none' if after is None else after} bytes)"
        out.print(one_line(f"{MARKS[change['change']]} {change['path']}{'' if names else sizes}"))
        return
    for line in change["diff"].splitlines():
        out.print(line, style=COLOURS.get(line[:1]))
