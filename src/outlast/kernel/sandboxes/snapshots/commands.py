"""`outlast snapshot …`: what sandboxes start from; opens the database, also beside a running server."""

from typing import Annotated, Any

import typer

from outlast.kernel.cli.consoles import err, out, tell_json, tell_rows
from outlast.kernel.cli.options import ConfigOption, DataDirOption, read_settings

app = typer.Typer(
    no_args_is_help=True,
    help="What sandboxes start from, with the configured packages installed; opens the database, also beside a running"
    " server.",
)
JsonOption = Annotated[bool, typer.Option("--json", help="One JSON document.")]


@app.command("list")
def list_snapshots(
    as_json: JsonOption = False, config: ConfigOption = None, data_dir: DataDirOption = None
) -> None:
    """Those of this server: state, what is installed, size, last use. The configured one is marked."""
    from outlast.kernel.sandboxes.snapshots.admin import SnapshotAdmin

    found = SnapshotAdmin(read_settings(config, data_dir)).listed()
    if as_json:
        tell_json({"items": found})
        return
    rows = [
        (
            snapshot["name"],
            f"{snapshot['state']} (configured)" if snapshot["configured"] else snapshot["state"],
            f"{snapshot['size_bytes'] / 1e6:.1f} MB" if snapshot["size_bytes"] else "",
            snapshot["last_used_at"][:19],
            snapshot["error"] or ", ".join(_held(snapshot)),
        )
        for snapshot in found
    ]
    tell_rows(("snapshot", "state", "size", "last used", "holds, or why not"), rows, empty="No snapshots.")


def _held(snapshot: dict[str, Any]) -> list[str]:
    template = snapshot["template"]
    return [*([f"app template {template}"] if template else []), *snapshot["dependencies"]]


@app.command()
def build(
    template: Annotated[str, typer.Option(help="That of an app template: next or vite.")] = "",
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
) -> None:
    """Build the configured one, or that of an app template, now, also when it failed before; shows what the build
    prints."""
    from outlast.kernel.sandboxes.snapshots.admin import SnapshotAdmin

    said = ["", ""]

    def told(step: str, output: str) -> None:
        if step != said[0]:
            err.print(f"{step} …", style="dim")
            said[:] = [step, ""]
        new = output[len(said[1]) :] if output.startswith(said[1]) else output[-200:]
        err.print(new, end="", style="dim")
        said[1] = output

    # A snapshot may be built before the first start, but only in a place that was named.
    named = config is not None or data_dir is not None
    name = SnapshotAdmin(read_settings(config, data_dir), create=named).build(told, template)
    if name is None:
        out.print("Nothing is configured to be installed: sandboxes start from the bare base.")
    else:
        out.print(f"{name} is ready.")


@app.command()
def remove(
    name: Annotated[str, typer.Argument(help="Name of the snapshot (snap-…).")],
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
) -> None:
    """Remove one, unless a living sandbox was started from it."""
    from outlast.kernel.sandboxes.snapshots.admin import SnapshotAdmin

    SnapshotAdmin(read_settings(config, data_dir)).remove(name)
    out.print(f"{name} is removed.")
