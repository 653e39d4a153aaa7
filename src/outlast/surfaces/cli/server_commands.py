"""`outlast check-config`, `migrate`, `doctor`, `logs`, `version`."""

import subprocess
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer

from outlast.base.errors import NotFound
from outlast.kernel.cli.commands import Commands
from outlast.kernel.cli.options import ON_DATA, ON_MACHINE, ON_TERMINAL
from outlast.kernel.cli.session import read_settings
from outlast.kernel.cli.terminal import print_fields, print_result

app = Commands(ON_DATA)


@app.verb("check-config", "outlast check-config /etc/outlast.toml", shared=ON_TERMINAL)
def check_config(file: Annotated[Path, typer.Argument(help="Configuration file (TOML).")]) -> None:
    """Check a configuration file without starting the server.

    An error names the setting and its line."""
    from outlast.kernel.sandboxes.providers import check_provider
    from outlast.kernel.settings.load import load_settings

    settings = load_settings(file)
    if settings.sandbox is not None:
        check_provider(settings.sandbox)
    models = [model.id for model in settings.models]
    default = settings.default_model or models[0]
    found = {
        "file": str(file),
        "models": models,
        "default_model": default,
        "database": str(settings.database.url),
        "sandboxes": settings.sandbox.provider if settings.sandbox else "none",
        "listens_on": f"{settings.server.host}:{settings.server.port}",
    }
    named = {"models": f"{', '.join(models)} (default: {default})"}
    print_fields(found, "valid=file models database sandboxes listens_on", named)


@app.verb("doctor", "outlast doctor --config /etc/outlast.toml")
def doctor(
    connections: Annotated[
        bool, typer.Option("--connections", help="Try services, MCP servers and the web search instead.")
    ] = False,
) -> None:
    """Check this machine and the configuration, and print how to fix problems.

    With --connections, each service of the configuration and each MCP server is asked over the network, with accounts
    that people connected there, and the search service is asked one question."""
    from outlast.surfaces.cli.doctor import print_connections, print_findings

    raise typer.Exit((print_connections if connections else print_findings)(read_settings()))


@app.verb("logs", "outlast logs --follow", shared=ON_MACHINE)
def logs(
    limit: Annotated[int, typer.Option("--limit", "-n", min=0, help="Show at most this many lines.")] = 100,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Show new lines as they are written.")] = False,
) -> None:
    """Show the last lines of the server's log.

    The log is in the data directory. Set its level, format and size in the section [logs]."""
    from outlast.base.data_directory import existing_data_directory
    from outlast.base.logs import LOG_PATH

    path = existing_data_directory(read_settings().server.data_dir) / LOG_PATH
    if not path.is_file():
        raise NotFound(f"There is no log at {path}.", hint="Start the server, and set logs.file_mb above 0.")
    command = ["tail", "-n", str(limit), *(["-F"] if follow else []), str(path)]
    raise typer.Exit(subprocess.run(command, check=False).returncode)


@app.verb("version", "outlast version", shared=ON_TERMINAL)
def show_version() -> None:
    """Show the version of this program."""
    print_result({"version": version("outlast")}, f"outlast {version('outlast')}")
