"""`outlast migrate`: the tables of the database, and the move from SQLite to PostgreSQL."""

from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

import typer

from outlast.base.errors import InvalidSetting
from outlast.base.node_errors import DatabaseNotMoved
from outlast.base.settings.fields import SecretUrl
from outlast.kernel.cli.admin import in_database, in_transaction
from outlast.kernel.cli.commands import Commands
from outlast.kernel.cli.options import ON_DATA
from outlast.kernel.cli.session import read_settings, wants_json
from outlast.kernel.cli.terminal import err, out, print_list, print_result

if TYPE_CHECKING:
    from outlast.db.sqlite_to_postgres import MovedTable
    from outlast.kernel.settings import Settings

SHOWN_DIGITS = 16
TARGET = "Move all rows from SQLite to this empty database: postgresql://USER:PASSWORD@HOST:PORT/NAME."
app = Commands(ON_DATA)


@app.verb("migrate", "outlast migrate --config /etc/outlast.toml")
def migrate(
    to: Annotated[str | None, typer.Option("--to", help=TARGET, envvar="OUTLAST_MIGRATE_TO", metavar="URL")] = None,
) -> None:
    """Update the tables of the database, or move it to PostgreSQL.

    The server updates the tables when it starts. The command is safe to repeat.

    With --to, the server must be stopped. All tables are copied in one transaction, read back and compared: a checksum
    of each is printed. If anything fails, nothing is copied. The SQLite file stays as it is. Files stay in the data
    directory."""
    settings = read_settings()
    if to is not None:
        _print_moved(_move(settings, SecretUrl(to)), SecretUrl(to))
        return
    in_transaction(settings, lambda _tx: None, create=True)
    print_result({"state": "migrated"}, "The database is up to date.")


def _move(settings: "Settings", target: SecretUrl) -> "list[MovedTable]":
    from outlast.base.clock import SystemClock
    from outlast.base.data_directory import existing_data_directory, held
    from outlast.db.connect import sqlite_path
    from outlast.db.sqlite import demand_whole

    url = settings.database.url.reveal()
    if not target.reveal().startswith(("postgresql://", "postgres://")):
        raise InvalidSetting(
            "The target is not the address of a PostgreSQL database.",
            hint="Write --to postgresql://USER:PASSWORD@HOST:PORT/NAME.",
            setting="--to",
        )
    if not url.startswith("sqlite:///"):
        raise DatabaseNotMoved(f"database.url is {settings.database.url}, and only SQLite can be moved.")
    folder = existing_data_directory(settings.server.data_dir)
    source = sqlite_path(url, folder)
    with held(folder) as was_clean:
        if not was_clean and source.is_file():
            demand_whole(source)

        async def run(_database: Any) -> None:
            """The file is there, and has all tables of this version."""

        in_database(settings, run)
        err.print(f"Target:   {_place(target)}", style="dim")
        # Loaded here because it imports asyncpg.
        import anyio

        from outlast.db.sqlite_to_postgres import move

        return anyio.run(move, source, target.reveal().replace("postgres://", "postgresql://", 1), SystemClock(), _show)


def _place(target: SecretUrl) -> str:
    """The address without password and options. Nothing is shown of one that cannot be read: any of it may be the
    password."""
    try:
        parts = urlsplit(target.reveal())
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return "PostgreSQL"
    if "@" in parts.path + parts.query + parts.fragment:
        return "PostgreSQL"
    return f"postgresql://{parts.hostname or ''}{port}{parts.path}"


def _show(what: str, table: str, rows: int, total: int) -> None:
    err.print(f"  {what} {table}: {rows:,} of {total:,} rows", style="dim")


def _print_moved(tables: "list[MovedTable]", target: SecretUrl) -> None:
    rows = sum(table.rows for table in tables)
    items = [
        {"table": one.name, "rows": one.rows, "sqlite": one.sqlite, "postgresql": one.postgresql} for one in tables
    ]
    if wants_json():
        print_result({"target": _place(target), "rows": rows, "tables": items}, "")
        return
    shown = [item | {side: str(item[side])[:SHOWN_DIGITS] for side in ("sqlite", "postgresql")} for item in items]
    print_list({"items": shown}, "table rows sqlite postgresql", empty="")
    out.print(f"{rows:,} rows of {len(tables)} tables are in PostgreSQL, each table with the same checksum.")
    err.print("Now set database.url to the target, and start the server with the same data directory.")
