"""`outlast logs`: the log of the server in a data directory."""

import subprocess
from typing import Annotated

import typer

from outlast.base.errors import NotFound
from outlast.kernel.cli.commands import Commands
from outlast.kernel.cli.options import ON_MACHINE
from outlast.kernel.cli.session import read_settings

app = Commands(ON_MACHINE)


@app.verb("logs", "outlast logs --follow")
def logs(
    limit: Annotated[int, typer.Option("--limit", "-n", min=0, help="Show at most this many lines.")] = 100,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Show new lines as they come.")] = False,
) -> None:
    """Show the last lines of the server's log.

    The log is in the data directory. Its level, format and size are settings in the section [logs]."""
    from outlast.base.data_directory import existing_data_directory
    from outlast.base.logs import LOG_PATH

    path = existing_data_directory(read_settings().server.data_dir) / LOG_PATH
    if not path.is_file():
        raise NotFound(f"There is no log at {path}.", hint="Start the server, and set logs.file_mb above 0.")
    command = ["tail", "-n", str(limit), *(["-F"] if follow else []), str(path)]
    raise typer.Exit(subprocess.run(command, check=False).returncode)
