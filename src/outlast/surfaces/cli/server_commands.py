"""`outlast serve`, `worker`, `check-config`, `migrate`, `doctor`."""

import errno
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from outlast.base.errors import DiskFull, OutlastError
from outlast.base.logs import set_up_logs
from outlast.base.settings import Settings, load_settings
from outlast.kernel.cli.consoles import err, out, styled, tell_error
from outlast.kernel.cli.exits import Exit
from outlast.kernel.cli.options import ConfigOption, DataDirOption, read_settings
from outlast.kernel.models.providers import is_installed
from outlast.kernel.sidecars import wanted_sidecars

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)
Announce = Callable[[str], None]
Program = Callable[[Settings, Announce], None]


def add_commands(app: typer.Typer, serve: Program, work: Program) -> None:
    """The commands that start something, around the programs that are wired above."""

    @app.command("serve")
    def start_server(
        config: ConfigOption = None,
        data_dir: DataDirOption = None,
        host: Annotated[str | None, typer.Option(help="Address to listen on (127.0.0.1).")] = None,
        port: Annotated[int | None, typer.Option(help="Port to listen on (8400); 0: a free one.")] = None,
    ) -> None:
        """Start the server with its web app. Stop it with Ctrl+C: twice, if it shall not wait for running steps."""
        settings = read_settings(config, data_dir, host=host, port=port)
        _run(serve, settings)

    @app.command("worker")
    def start_worker(config: ConfigOption = None, data_dir: DataDirOption = None) -> None:
        """Start a worker without the HTTP door, beside servers on the same PostgreSQL."""
        _run(work, read_settings(config, data_dir))

    app.command("check-config")(check_config)
    app.command("migrate")(migrate)
    app.command("doctor")(doctor)


def _run(program: Program, settings: Settings) -> None:
    set_up_logs(settings.logs.level, settings.logs.format)
    try:
        program(settings, partial(_announce, settings))
    except OutlastError as error:  # whatever it is, the server has not started
        tell_error(error)
        raise typer.Exit(Exit.REFUSED_TO_START) from None
    except OSError as error:
        if error.errno not in FULL:
            raise
        tell_error(DiskFull(f"The data directory could not be written: {error.strerror}."))
        raise typer.Exit(Exit.REFUSED_TO_START) from None


def _announce(settings: Settings, address: str) -> None:
    words = "Outlast is ready" if address else "The worker is ready"
    err.print(styled((words, "bold green"), f" {address}"))
    if not address:
        return
    if all(not is_installed(provider.kind) for provider in settings.providers.values()):
        guide = f"{address}/docs/guides/connect-a-model/"
        err.print(f"  No model is connected, so agents cannot answer: {guide} shows how.")
    for sidecar in wanted_sidecars(settings):
        err.print(f"  {sidecar.summary}")
    if settings.sandbox is None:
        err.print(
            "  No sandboxes: agents answer without tools that run code. A section [sandbox] in the configuration, "
            "which may be empty, gives them this machine's.",
        )
    err.print("  Ctrl+C stops it; runs go on at the next start.", style="dim")


def check_config(
    file: Annotated[Path, typer.Argument(help="Configuration file (TOML).", exists=False)],
) -> None:
    """Check a configuration file without starting anything: exit code 0, or 2 with the setting and its line."""
    from outlast.kernel.sandboxes.providers import check_provider

    settings = load_settings(file)
    if settings.sandbox is not None:
        check_provider(settings.sandbox)
    default = settings.default_model or settings.models[0].id
    out.print(f"{file} is a valid configuration.", style="green")
    out.print(f"  models: {', '.join(model.id for model in settings.models)} (default {default})")
    out.print(f"  database: {settings.database.url}")
    out.print(f"  sandboxes: {settings.sandbox.provider if settings.sandbox else 'none'}")
    out.print(f"  listens on: {settings.server.host}:{settings.server.port}")


def migrate(config: ConfigOption = None, data_dir: DataDirOption = None) -> None:
    """Bring the database's tables up to date. A starting server does this by itself; repeating is harmless."""
    from outlast.kernel.cli.admin import Admin

    Admin(read_settings(config, data_dir), create=True).migrate()
    out.print("The database is up to date.")


def doctor(config: ConfigOption = None, data_dir: DataDirOption = None) -> None:
    """What this machine can do: Python, sandboxes, database, models and keys; with the fix for what it cannot."""
    from outlast.surfaces.cli.doctor import tell_findings

    raise typer.Exit(tell_findings(read_settings(config, data_dir)))
