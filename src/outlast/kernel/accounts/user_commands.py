"""`outlast users …`: users, their plans and credits, directly in the database."""

from collections.abc import Callable
from typing import Annotated

import typer

from outlast.db.database import Tx
from outlast.kernel.accounts import store as accounts
from outlast.kernel.administration import actions as administration
from outlast.kernel.administration.shapes import UserSummaryAnswer
from outlast.kernel.cli.admin import create_user, find_user, in_transaction
from outlast.kernel.cli.commands import Commands
from outlast.kernel.cli.options import ON_DATA
from outlast.kernel.cli.session import read_settings
from outlast.kernel.cli.terminal import print_list, print_result
from outlast.kernel.settings import Settings

app = Commands(ON_DATA)
UserArgument = Annotated[str, typer.Argument(help="Id or name of the user.")]
PlanArgument = Annotated[str, typer.Argument(help="A plan of [credits.plans].")]


@app.verb("list", "outlast users list")
def list_users() -> None:
    """List all users with their plans and credits."""
    settings = read_settings()
    plans = settings.credits.plans
    users = in_transaction(
        settings, lambda tx: [administration.summarize(tx, plans, row) for row in accounts.list_users(tx)]
    )
    print_list(
        {"items": [user.model_dump() for user in users], "next": None},
        "user=id name plan credits administrator=is_admin since=created_at",
        lambda user: {"credits": _credits(user["balance"])},
        empty="No users.",
    )


@app.verb("create", "outlast users create Ada --plan pro")
def create(
    name: Annotated[str, typer.Argument(help="Name that other members see.")],
    plan: Annotated[str | None, typer.Option(help="A plan of [credits.plans].")] = None,
) -> None:
    """Create a user with their own project.

    Then create a token for them: outlast tokens create --user NAME"""
    _change(lambda tx, settings: create_user(tx, settings, name, plan))


@app.verb("set-plan", "outlast users set-plan Ada pro", "plan")
def set_plan(user: UserArgument, plan: PlanArgument) -> None:
    """Move a user to another plan from the next month on."""
    _change_user(user, lambda tx, settings, one: administration.move_to_plan(tx, settings.credits.plans, one, plan))


@app.verb("grant", "outlast users grant Ada 500")
def grant(
    user: UserArgument,
    amount: Annotated[int, typer.Argument(min=1, help="Credits for this month, in addition to the plan's.")],
) -> None:
    """Give a user credits."""
    _change_user(user, lambda tx, settings, one: administration.give_credits(tx, settings.credits.plans, one, amount))


@app.verb("set-admin", "outlast users set-admin Ada", "admin")
def set_admin(
    user: UserArgument, remove: Annotated[bool, typer.Option("--remove", help="Remove the right.")] = False
) -> None:
    """Let a user administer the server: users, plans, credits and failed items."""
    _change_user(user, lambda tx, _settings, one: administration.make_administrator(tx, one, not remove))


def _change_user(user: str, change: Callable[[Tx, Settings, str], object]) -> None:
    def run(tx: Tx, settings: Settings) -> str:
        user_id = find_user(tx, settings, user)
        change(tx, settings, user_id)
        return user_id

    _change(run)


def _change(change: Callable[[Tx, Settings], str]) -> None:
    """Print the user whose id `change` returns, after the change."""
    settings = read_settings()

    def run(tx: Tx) -> UserSummaryAnswer:
        row = accounts.user(tx, change(tx, settings))
        return administration.summarize(tx, settings.credits.plans, row)

    user = in_transaction(settings, run)
    rights = ", administrator" if user.is_admin else ""
    summary = f"{user.id}: {user.name}, plan {user.plan}, {_credits(user.balance)} credits{rights}"
    print_result(user.model_dump(), summary)


def _credits(balance: int | None) -> str:
    return "unlimited" if balance is None else str(balance)
