"""`outlast serve` and `worker`. Nothing here imports Rich: it would stay in memory as long as the server runs."""

import errno
import os
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from outlast.kernel.cli.commands import Commands
from outlast.kernel.cli.exits import Exit
from outlast.kernel.cli.options import ON_MACHINE
from outlast.kernel.cli.session import read_settings

if TYPE_CHECKING:
    from outlast.base.errors import OutlastError
    from outlast.kernel.settings import Settings
    from outlast.surfaces.cli.main import Program

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)
app = Commands(ON_MACHINE)


@app.verb("serve", "outlast serve --config /etc/outlast.toml")
def serve(
    context: typer.Context,
    host: Annotated[str | None, typer.Option(help="Address to listen on. Default: 127.0.0.1.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on. 0 chooses a free one. Default: 8400.")] = None,
) -> None:
    """Start the server with its web app.

    Press Ctrl+C to stop; press it again to stop without waiting for running steps."""
    _run(context.obj, read_settings(host=host, port=port), http=True)


@app.verb("dev", "outlast dev --config outlast.toml")
def dev(
    context: typer.Context,
    host: Annotated[str | None, typer.Option(help="Address to listen on. Default: 127.0.0.1.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on. 0 chooses a free one. Default: 8400.")] = None,
) -> None:
    """Start the server, and load your agents again when you save a file.

    The files are in the folder agents, next to the configuration file or, without one, in the current folder. If a file
    cannot be loaded, the earlier agents stay, and the terminal and the web app show the error."""
    settings = read_settings(host=host, port=port)
    folder = settings.agents.folder or str(Path("agents").absolute())
    agents = replace(settings.agents, folder=folder, reload=True)
    _run(context.obj, replace(settings, agents=agents), http=True)


@app.verb("worker", "outlast worker --config /etc/outlast.toml")
def worker(context: typer.Context) -> None:
    """Start a worker without HTTP, beside servers on the same PostgreSQL."""
    _run(context.obj, read_settings(), http=False)


def _run(program: "Program", settings: "Settings", *, http: bool) -> None:
    from outlast.base.data_directory import data_directory
    from outlast.base.errors import DiskFull, OutlastError
    from outlast.base.logs import LOG_PATH, LogFile, set_up_logs

    try:
        path = data_directory(settings.server.data_dir) / LOG_PATH
        file = LogFile(path, settings.logs.file_mb * 1_000_000) if settings.logs.file_mb else None
        set_up_logs(settings.logs.level, settings.logs.format, file)
        program(settings, partial(_announce, settings), http)
    except OutlastError as error:  # in every case the server has not started
        _refuse(error)
    except OSError as error:
        if error.errno not in FULL:
            raise
        _refuse(DiskFull(f"The data directory is not writable: {error.strerror}."))


def _refuse(error: "OutlastError") -> None:
    from outlast.kernel.cli.terminal import print_error

    print_error(error)
    raise typer.Exit(Exit.REFUSED_TO_START) from None


def _announce(settings: "Settings", address: str) -> None:
    from outlast.kernel.models.providers import is_installed
    from outlast.kernel.sidecars import wanted_sidecars

    ready = "Outlast is ready" if address else "The worker is ready"
    _say(f"{ready} {address}".rstrip(), bold=True, fg="green")
    if not address:
        return
    if all(not is_installed(provider.kind) for provider in settings.providers.values()):
        guide = f"{address}/docs/guides/connect-a-model/"
        _say(f"  No model is connected, so agents cannot answer: {guide} shows how.")
    for sidecar in wanted_sidecars(settings):
        _say(f"  {sidecar.summary}")
    if settings.agents.reload:
        _say(f"  Agents in {settings.agents.folder} are loaded again when you save a file.")
    if settings.sandbox is None:
        _say("  No sandboxes: agents cannot run code. Add a section [sandbox], which may be empty.")
    _say("  Press Ctrl+C to stop. Runs continue at the next start.", dim=True)


def _say(line: str, **style: Any) -> None:
    typer.secho(line, err=True, color=False if "NO_COLOR" in os.environ else None, **style)
