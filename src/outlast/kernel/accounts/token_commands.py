"""`outlast token …`: API tokens, straight in the database, so that the first one can be made before the first start."""

from typing import Annotated

import typer

from outlast.kernel.cli.consoles import err, out, tell_rows
from outlast.kernel.cli.options import ConfigOption, DataDirOption, read_settings

app = typer.Typer(no_args_is_help=True, help="API tokens; opens the database, also beside a running server.")
UserOption = Annotated[
    str | None, typer.Option(help="Id or name of the user; without: the owner of this server.")
]


@app.command()
def create(
    name: Annotated[str, typer.Option(help="What to recognise the token by.")] = "token",
    user: UserOption = None,
    new_user: Annotated[str | None, typer.Option(help="Make a user of this name, for this token.")] = None,
    plan: Annotated[str | None, typer.Option(help="Plan of the new user.")] = None,
    expires_in_days: Annotated[float | None, typer.Option(min=0.001, max=3650)] = None,
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
) -> None:
    """Make a token and print it: this is the only time it is shown."""
    from outlast.kernel.cli.admin import Admin

    # The first token may come before the first start, but only in a place that was named.
    named = config is not None or data_dir is not None
    store = Admin(read_settings(config, data_dir), create=named)
    made = store.create(name, user, new_user, plan, expires_in_days)
    err.print(
        f"Token {made.token.id} ({made.token.name}); keep it, it is not shown again:",
        style="dim",
    )
    out.print(made.secret)


@app.command("list")
def list_tokens(user: UserOption = None, config: ConfigOption = None, data_dir: DataDirOption = None) -> None:
    """A user's tokens, without their secrets."""
    from outlast.kernel.cli.admin import Admin

    rows = [
        (
            token.id,
            token.prefix + "…",
            token.name,
            token.created_at[:19],
            token.last_used_at,
            token.expires_at,
        )
        for token in Admin(read_settings(config, data_dir)).tokens(user)
    ]
    tell_rows(("token", "begins with", "name", "created", "last used", "expires"), rows, empty="No tokens.")


@app.command()
def revoke(
    token: Annotated[str, typer.Argument(help="Id of the token (tok_…).")],
    user: UserOption = None,
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
) -> None:
    """End a token and the sessions made with it."""
    from outlast.kernel.cli.admin import Admin

    Admin(read_settings(config, data_dir)).revoke(token, user)
    out.print(f"{token} is revoked.")
