"""`outlast tokens …`: API tokens, directly in the database, so that you can create one before the first start."""

from datetime import timedelta
from typing import Annotated

import typer

from outlast.db.database import Tx
from outlast.kernel.accounts import store as accounts
from outlast.kernel.accounts.secrets import MAX_EXPIRY_DAYS
from outlast.kernel.accounts.shapes import NewTokenAnswer
from outlast.kernel.cli.admin import create_user, find_user, in_transaction
from outlast.kernel.cli.commands import Commands
from outlast.kernel.cli.options import ON_DATA
from outlast.kernel.cli.session import is_place_named, read_settings
from outlast.kernel.cli.terminal import err, print_list, print_result

app = Commands(ON_DATA)
UserOption = Annotated[str | None, typer.Option(help="Id or name of the user. Default: the owner of this server.")]


@app.verb("create", "outlast tokens create --user Ada --name laptop")
def create(
    name: Annotated[str, typer.Option(help="Name by which you recognize the token later.")] = "token",
    user: UserOption = None,
    new_user: Annotated[str | None, typer.Option(help="Create a user with this name for the token.")] = None,
    plan: Annotated[str | None, typer.Option(help="Plan of the new user.")] = None,
    expires_in_days: Annotated[
        float | None, typer.Option(min=0.001, max=MAX_EXPIRY_DAYS, help="Days until it expires. Default: never.")
    ] = None,
) -> None:
    """Create a token and print it. It is not shown again."""
    settings = read_settings()

    def run(tx: Tx) -> NewTokenAnswer:
        user_id = create_user(tx, settings, new_user, plan) if new_user else find_user(tx, settings, user)
        expires_at = tx.now + timedelta(days=expires_in_days) if expires_in_days else None
        return accounts.add_token(tx, user_id, name, expires_at)

    made = in_transaction(settings, run, create=is_place_named())
    err.print(f"Token {made.id} ({made.name}). Keep it: it is not shown again.", style="dim")
    print_result({"token": made.model_dump(exclude={"token"}), "secret": made.token}, made.token)


@app.verb("list", "outlast tokens list --user Ada")
def list_tokens(user: UserOption = None) -> None:
    """List the tokens of a user, without their secrets."""
    settings = read_settings()
    tokens = in_transaction(settings, lambda tx: accounts.list_tokens(tx, find_user(tx, settings, user)))
    print_list(
        {"items": [token.model_dump() for token in tokens], "next": None},
        "token=id begins_with=prefix name created=created_at last_used=last_used_at expires=expires_at",
        empty="No tokens.",
    )


@app.verb("revoke", "outlast tokens revoke tok_01h…")
def revoke(token: Annotated[str, typer.Argument(help="Id of the token (tok_…).")], user: UserOption = None) -> None:
    """Revoke a token and end its sessions."""
    settings = read_settings()
    in_transaction(settings, lambda tx: accounts.revoke_token(tx, find_user(tx, settings, user), token))
    print_result({"id": token, "state": "revoked"}, f"{token}: revoked")
