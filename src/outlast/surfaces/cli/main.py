"""The command `outlast`: its parts, and the one edge where errors become words and exit codes."""

import sys
from importlib.metadata import version
from typing import Annotated

import typer

from outlast.apps import APPS
from outlast.base.errors import InvalidSetting, OutlastError, StartRefused
from outlast.kernel.accounts import token_commands as tokens
from outlast.kernel.accounts import user_commands as users
from outlast.kernel.apps import registry
from outlast.kernel.apps.commands import app_commands
from outlast.kernel.backups import commands as backups
from outlast.kernel.cli import lists
from outlast.kernel.cli.consoles import err, styled, tell_error
from outlast.kernel.cli.exits import MEANINGS, Exit, Unreachable
from outlast.kernel.files import commands as artifacts
from outlast.kernel.runs import commands as runs
from outlast.kernel.sandboxes import commands as sandboxes
from outlast.kernel.sandboxes.checkpoints import commands as checkpoints
from outlast.kernel.sandboxes.egress import commands as secrets
from outlast.kernel.sandboxes.snapshots import commands as snapshots
from outlast.kernel.threads import search_commands as search
from outlast.surfaces.cli import server_commands as serving

EXIT_CODES = "\n\n".join(f"{code.value}: {meaning}" for code, meaning in MEANINGS.items())


def build_app(serve: serving.Program, work: serving.Program) -> typer.Typer:
    """All commands. `serve` and `work` run the server and a worker alone; they come from above, where all is wired."""
    app = typer.Typer(
        name="outlast",
        add_completion=False,
        no_args_is_help=True,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        help="Runs of AI agents that outlast the tab, the connection, the process and the sandbox.",
        epilog=f"[bold]Exit codes[/bold]\n\n{EXIT_CODES}",
    )
    app.callback()(_version)
    serving.add_commands(app, serve, work)
    backups.add_commands(app)
    app.add_typer(runs.app, name="run")
    app.add_typer(artifacts.app, name="file")
    app.add_typer(sandboxes.app, name="sandbox")
    app.add_typer(checkpoints.app, name="checkpoint")
    app.add_typer(lists.projects, name="projects")
    app.add_typer(lists.threads, name="threads")
    app.add_typer(tokens.app, name="token")
    app.add_typer(users.app, name="user")
    app.add_typer(search.app, name="search")
    app.add_typer(secrets.app, name="secret")
    app.add_typer(snapshots.app, name="snapshot")
    of_kernel = [group.name for group in app.registered_groups if group.name is not None]
    for name, commands in app_commands(APPS, of_kernel):
        app.add_typer(commands, name=name)
    return app


def run_cli(serve: serving.Program, work: serving.Program, arguments: list[str] | None = None) -> None:
    """Run one command, then exit."""
    registry.declare(APPS)
    try:
        build_app(serve, work)(arguments)
    except (KeyboardInterrupt, OutlastError, Unreachable) as error:
        sys.exit(_tell(error))
    except BaseExceptionGroup as group:
        known = group.subgroup((KeyboardInterrupt, OutlastError, Unreachable))
        if known is None:
            raise
        sys.exit(_tell(_first(known)))


def _tell(error: BaseException) -> Exit:
    """Print what went wrong; the exit code that says so."""
    if isinstance(error, OutlastError):
        tell_error(error)
        return Exit.REFUSED_TO_START if isinstance(error, InvalidSetting | StartRefused) else Exit.REFUSED
    if isinstance(error, Unreachable):
        err.print(styled(("error", "bold red"), f": {error}"))
        err.print(
            "  Start one with 'outlast serve', or name another with --url or OUTLAST_URL.", style="yellow"
        )
        return Exit.UNREACHABLE
    return Exit.INTERRUPTED


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    inner = group.exceptions[0]
    return _first(inner) if isinstance(inner, BaseExceptionGroup) else inner


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"outlast {version('outlast')}")
        raise typer.Exit


def _version(
    show: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show it and exit.")
    ] = False,
) -> None:
    """Nothing to do before a command."""
