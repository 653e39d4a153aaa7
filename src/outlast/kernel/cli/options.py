"""Options and arguments that several commands share."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from typing import Annotated, Any, Final

import typer

ProjectOption = Annotated[str | None, typer.Option("--project", help="Project (prj_…). Default: your default project.")]
LimitOption = Annotated[int | None, typer.Option("--limit", "-n", min=1, help="Show at most this many.")]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
FollowOption = Annotated[bool, typer.Option("--follow/--detach", help="Follow the run live, or only print its id.")]
WaitOption = Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until the server has read the text.")]


def _shared(name: str, kind: Any, option: Any, default: Any = None) -> inspect.Parameter:
    annotation: Any = Annotated[kind, option]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


# Added to every command of a kind; `Session` documents them.
_SERVER: Final = "Address of the server. Default: that of 'outlast login', or http://127.0.0.1:8400."
_AT: Final[dict[str, Any]] = {"rich_help_panel": "Server"}
JSON: Final = _shared("json", bool, typer.Option("--json", help="Print JSON."), default=False)
SERVER: Final = _shared(
    "server", str | None, typer.Option("--server", "--url", help=_SERVER, envvar="OUTLAST_URL", **_AT)
)
_TOKEN: Final = "API token. Default: the one saved for this address. Not needed on the server's machine."
TOKEN: Final = _shared("token", str | None, typer.Option(help=_TOKEN, envvar="OUTLAST_TOKEN", **_AT))
CONFIG: Final = _shared(
    "config", Path, typer.Option("--config", "-c", help="Configuration file (TOML).", envvar="OUTLAST_CONFIG", **_AT)
)
DATA_DIR: Final = _shared(
    "data_dir", str, typer.Option("--data-dir", "-d", help="Folder of the database, files and workspaces.", **_AT)
)
SharedOptions = tuple[inspect.Parameter, ...]
ON_SERVER: Final[SharedOptions] = (JSON, SERVER, TOKEN)
ON_DATA: Final[SharedOptions] = (JSON, CONFIG, DATA_DIR)
ON_MACHINE: Final[SharedOptions] = (CONFIG, DATA_DIR)
ON_TERMINAL: Final[SharedOptions] = (JSON,)


def read_text(place: str) -> str:
    """The text of a file, or of standard input for `-`."""
    if place == "-":
        return sys.stdin.read()
    try:
        return Path(place).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise typer.BadParameter(f"{place} cannot be read: {error}") from None
