"""`outlast snapshots …`: list, build, delete; opens the data directory, also while a server runs."""

from typing import Annotated, Any

import typer

from outlast.kernel.cli.commands import Commands
from outlast.kernel.cli.options import ON_DATA
from outlast.kernel.cli.session import is_place_named, read_settings
from outlast.kernel.cli.terminal import err, print_list, print_result
from outlast.kernel.sandboxes.snapshots import admin

app = Commands(ON_DATA)


@app.verb("list", "outlast snapshots list")
def list_snapshots() -> None:
    """List snapshots with their state, size, last use and packages."""
    print_list(
        {"items": admin.list_snapshots(read_settings())},
        "snapshot=name state configured size=size_bytes last_used=last_used_at packages_or_error",
        lambda snapshot: {"packages_or_error": snapshot["error"] or ", ".join(_packages(snapshot))},
        empty="No snapshots.",
    )


def _packages(snapshot: dict[str, Any]) -> list[str]:
    template = snapshot["template"]
    return [*([f"app template {template}"] if template else []), *snapshot["dependencies"]]


@app.verb("build", "outlast snapshots build --template next")
def build(
    template: Annotated[str, typer.Option(help="App template whose snapshot to build: next or vite.")] = "",
) -> None:
    """Build the configured snapshot now, even if it failed before."""
    said = ["", ""]

    def show_progress(step: str, output: str) -> None:
        if step != said[0]:
            err.print(f"{step} …", style="dim")
            said[:] = [step, ""]
        new = output[len(said[1]) :] if output.startswith(said[1]) else output[-200:]
        err.print(new, end="", style="dim")
        said[1] = output

    name = admin.build_snapshot(read_settings(), show_progress, template, create=is_place_named())
    if name is None:
        print_result({"name": None}, "The configuration names no packages: sandboxes start from the base system.")
    else:
        print_result({"name": name}, f"{name} is ready.")


@app.verb("delete", "outlast snapshots delete snap-1f2e…", "remove")
def delete(name: Annotated[str, typer.Argument(help="Name of the snapshot (snap-…).")]) -> None:
    """Delete a snapshot that no sandbox uses."""
    admin.remove_snapshot(read_settings(), name)
    print_result({"name": name, "state": "deleted"}, f"{name}: deleted")
