"""The command `outlast`: its groups, and the one place where errors become messages and exit codes."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from outlast.apps import APPS
from outlast.base.errors import InvalidSetting, OutlastError, StartRefused
from outlast.base.supervision.causes import leaves
from outlast.kernel.apps import packages
from outlast.kernel.apps.packages import app_commands
from outlast.kernel.cli.command_group import CONNECTION, SERVER, WORK, CommandGroup
from outlast.kernel.cli.commands import LazyCommand, Noun
from outlast.kernel.cli.exits import Exit, Unreachable

if TYPE_CHECKING:
    from outlast.kernel.settings import Settings

Announce = Callable[[str], None]
Program = Callable[["Settings", Announce, bool], None]
EPILOG = (
    "[bold]Exit codes[/bold]  0 ok, 1 failed, 2 usage or settings, 3 refused, 4 no server, 5 cancelled,"
    " 6 waiting for a person, 130 interrupted. [bold]Completion[/bold]  outlast --install-completion"
)
HERE = "outlast.surfaces.cli"
KERNEL = "outlast.kernel"
BEFORE_APPS = (
    CommandGroup("runs", f"{KERNEL}.runs.commands", "Start and follow runs, approve and answer", WORK),
    CommandGroup("agents", f"{KERNEL}.agents.commands", "Agents that answer in threads", WORK),
    CommandGroup("threads", f"{KERNEL}.threads.commands", "Conversations of a project", WORK),
    CommandGroup("projects", f"{KERNEL}.projects.commands", "Your projects", WORK),
    CommandGroup("schedules", f"{KERNEL}.schedules.commands", "Agents that start by the clock", WORK),
    CommandGroup("files", f"{KERNEL}.files.commands", "Files that people and agents search", WORK),
)
AFTER_APPS = (
    CommandGroup("sandboxes", f"{KERNEL}.sandboxes.commands", "Look at, pause, resume and end sandboxes", WORK),
    CommandGroup("checkpoints", f"{KERNEL}.sandboxes.checkpoints.commands", "Earlier files of a thread", WORK),
    CommandGroup("snapshots", f"{KERNEL}.sandboxes.snapshots.commands", "What sandboxes start from", SERVER),
    CommandGroup("secrets", f"{KERNEL}.secrets.commands", "Saved secrets, and requests that carried one", WORK),
    CommandGroup("mcp", f"{KERNEL}.mcp.commands", "MCP servers whose tools agents can call", WORK),
    CommandGroup("connections", f"{KERNEL}.connections.commands", "Your accounts on MCP servers", WORK),
    CommandGroup("webhooks", f"{KERNEL}.webhooks.commands", "Events that are sent to other programs", WORK),
    CommandGroup("hooks", f"{KERNEL}.hooks.commands", "Addresses at which other programs start runs", WORK),
    CommandGroup("login", f"{HERE}.login", "Sign in to a server for later commands", CONNECTION),
    CommandGroup("logout", f"{HERE}.login", "Forget a server and its token", CONNECTION),
    CommandGroup("status", f"{HERE}.status", "Show the state of the server", CONNECTION),
    CommandGroup("version", f"{HERE}.server_commands", "Show the version", CONNECTION),
    CommandGroup("serve", f"{HERE}.serve_commands", "Start the server", SERVER),
    CommandGroup("dev", f"{HERE}.serve_commands", "Start the server, and reload your agents on save", SERVER),
    CommandGroup("worker", f"{HERE}.serve_commands", "Start a worker without HTTP", SERVER),
    CommandGroup("logs", f"{HERE}.server_commands", "Show the log of the server", SERVER),
    CommandGroup("doctor", f"{HERE}.server_commands", "Check this machine and configuration", SERVER),
    CommandGroup("check-config", f"{HERE}.server_commands", "Check a configuration file", SERVER),
    CommandGroup("migrate", f"{HERE}.migrate_command", "Update the tables, or move to PostgreSQL", SERVER),
    CommandGroup("backup", f"{KERNEL}.backups.commands", "Back up all data", SERVER),
    CommandGroup("restore", f"{KERNEL}.backups.commands", "Restore a backup", SERVER),
    CommandGroup("verify", f"{KERNEL}.backups.commands", "Verify a backup or a data directory", SERVER),
    CommandGroup("rebuild-search", f"{KERNEL}.threads.index_commands", "Rebuild the search index", SERVER),
    CommandGroup("search", f"{KERNEL}.threads.index_commands", "Older spelling of rebuild-search"),
    CommandGroup("tokens", f"{KERNEL}.accounts.token_commands", "Create and revoke API tokens", SERVER),
    CommandGroup("users", f"{KERNEL}.accounts.user_commands", "Users, their plans and credits", SERVER),
)


class Root(Noun):
    """`outlast` itself."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command with this name; also a noun by its singular, its former name."""
        names = (cmd_name, f"{cmd_name}s", f"{cmd_name}es")
        return next((self.commands[name] for name in names if name in self.commands), None)


def build_command() -> Root:
    """The whole command line. Groups are imported when they are called."""
    packages.declare(APPS)
    app = typer.Typer(
        cls=Root,
        name="outlast",
        no_args_is_help=True,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        help="Run AI agents that outlast tabs, connections, servers and sandboxes.",
        epilog=EPILOG,
    )
    app.callback()(_version)
    root = typer.main.get_command(app)
    assert isinstance(root, Root)
    of_apps = app_commands(APPS, [group.name for group in (*BEFORE_APPS, *AFTER_APPS)])
    groups = [*BEFORE_APPS, *of_apps, *AFTER_APPS]
    for option in root.params:
        vars(option)["hidden"] = option.name in ("install_completion", "show_completion")
    for group in groups:
        root.add_command(LazyCommand(group))
    return root


def run_cli(program: Program, arguments: list[str] | None = None) -> None:
    """Run one command, then exit. `program` runs the server, or without HTTP a worker; the caller wires it."""
    try:
        build_command()(arguments, prog_name="outlast", obj=program)
    except (KeyboardInterrupt, OutlastError, Unreachable) as error:
        sys.exit(_print_failure(error))
    except BaseExceptionGroup as group:
        known = group.subgroup((KeyboardInterrupt, OutlastError, Unreachable))
        if known is None:
            raise
        sys.exit(_print_failure(next(leaves(known))))


def _print_failure(error: BaseException) -> Exit:
    """Print the error, and return its exit code."""
    from outlast.kernel.cli.terminal import err, print_error, styled

    if isinstance(error, OutlastError):
        print_error(error)
        return Exit.REFUSED_TO_START if isinstance(error, InvalidSetting | StartRefused) else Exit.REFUSED
    if isinstance(error, Unreachable):
        err.print(styled(("error", "bold red"), f": No server answers at {error}."))
        err.print("  Start it with 'outlast serve', or choose another with --server.", style="yellow")
        return Exit.UNREACHABLE
    return Exit.INTERRUPTED


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"outlast {version('outlast')}")
        raise typer.Exit


def _version(
    show: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.", metavar=""),
    ] = False,
) -> None:
    """Do nothing before a command."""
