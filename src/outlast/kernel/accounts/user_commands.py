"""`outlast user …`: users, their plans and credits, straight in the database."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from outlast.base.settings import Settings
from outlast.db.database import Tx
from outlast.kernel.cli.consoles import tell_rows
from outlast.kernel.cli.options import ConfigOption, DataDirOption, read_settings

if TYPE_CHECKING:
    from outlast.kernel.administration.shapes import UserSummaryAnswer

app = typer.Typer(no_args_is_help=True, help="Users; opens the database, also beside a running server.")
UserArgument = Annotated[str, typer.Argument(help="Id or name of the user.")]
COLUMNS = ("user", "name", "plan", "credits", "administrator", "since")


@app.command("list")
def list_users(config: ConfigOption = None, data_dir: DataDirOption = None) -> None:
    """Every user with plan and balance."""
    from outlast.kernel.cli.admin import Admin

    rows = [_cells(user) for user in Admin(read_settings(config, data_dir)).users()]
    tell_rows(COLUMNS, rows, empty="No users.")


@app.command()
def create(
    name: Annotated[str, typer.Argument(help="Shown to other members.")],
    plan: Annotated[str | None, typer.Option(help="A plan of [credits.plans].")] = None,
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
) -> None:
    """Make a user with a project of their own. Give them a token: outlast token create --user ID."""
    from outlast.kernel.cli.admin import Admin

    settings = read_settings(config, data_dir)
    tell_rows(COLUMNS, [_cells(Admin(settings).add_user(name, plan))], empty="")


@app.command()
def plan(
    user: UserArgument,
    plan: Annotated[str, typer.Argument(help="A plan of [credits.plans].")],
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
) -> None:
    """Move a user to another plan; its allowance counts from the next month on."""

    def change(tx: Tx, user_id: str, settings: Settings) -> None:
        from outlast.kernel.administration.actions import move_to_plan

        move_to_plan(tx, settings.credits.plans, user_id, plan)

    _change(user, change, read_settings(config, data_dir))


@app.command()
def grant(
    user: UserArgument,
    amount: Annotated[int, typer.Argument(min=1, help="Credits for this month, on top of the plan's.")],
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
) -> None:
    """Give a user credits."""

    def change(tx: Tx, user_id: str, settings: Settings) -> None:
        from outlast.kernel.administration.actions import give_credits

        give_credits(tx, settings.credits.plans, user_id, amount)

    _change(user, change, read_settings(config, data_dir))


@app.command()
def admin(
    user: UserArgument,
    remove: Annotated[bool, typer.Option("--remove", help="Take the right away.")] = False,
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
) -> None:
    """Let a user run the server: users, plans, credits, what was set aside."""

    def change(tx: Tx, user_id: str, _settings: Settings) -> None:
        from outlast.kernel.administration.actions import make_administrator

        make_administrator(tx, user_id, not remove)

    _change(user, change, read_settings(config, data_dir))


def _change(user: str, change: Callable[[Tx, str, Settings], None], settings: Settings) -> None:
    from outlast.kernel.cli.admin import Admin

    changed = Admin(settings).change_user(user, lambda tx, user_id: change(tx, user_id, settings))
    tell_rows(COLUMNS, [_cells(changed)], empty="")


def _cells(user: "UserSummaryAnswer") -> tuple[str, ...]:
    balance = "unlimited" if user.balance is None else str(user.balance)
    return user.id, user.name, user.plan, balance, "yes" if user.is_admin else "", user.created_at[:19]
