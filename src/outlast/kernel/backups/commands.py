"""`outlast backup`, `restore`, `verify`: a copy of everything, the way back, and whether all of it is there."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit, urlunsplit

import typer

from outlast.kernel.cli.consoles import err, out
from outlast.kernel.cli.exits import Exit
from outlast.kernel.cli.options import ConfigOption, DataDirOption, read_settings

if TYPE_CHECKING:
    from outlast.base.settings import Settings
    from outlast.kernel.backups.places import Place
    from outlast.kernel.backups.verification import Verified

MOST_PROBLEMS = 20


def add_commands(app: typer.Typer) -> None:
    """The three commands."""
    app.command("backup")(backup)
    app.command("restore")(restore)
    app.command("verify")(verify)


def backup(
    folder: Annotated[Path, typer.Argument(help="A new folder for the backup.")],
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
) -> None:
    """Copy the database, the stored files, workspaces and keys; safe beside a running server."""
    import anyio

    from outlast.base.clock import SystemClock
    from outlast.kernel.backups.backup import take_backup
    from outlast.kernel.backups.manifest import Manifest
    from outlast.kernel.cli.admin import opened

    settings = read_settings(config, data_dir)

    async def run() -> Manifest:
        async with opened(settings) as database:
            return await take_backup(_place(settings), database, SystemClock(), folder.absolute())

    manifest = anyio.run(run)
    out.print(
        f"{folder}: {len(manifest.blobs)} stored files, {len(manifest.files)} other files and folders, "
        f"{manifest.size_bytes:,} bytes"
    )
    if manifest.skipped:
        err.print(
            f"Not copied, as they could not be read: {len(manifest.skipped)} (see skipped in the manifest)."
        )
    if manifest.database is None:
        err.print("The database is not in the backup. Take its dump just before each backup:")
        err.print(f"  pg_dump --format=custom --file=outlast.dump {_without_password(settings)}")
    if manifest.missing_blobs:
        err.print(
            f"{len(manifest.missing_blobs)} stored files that the database names are missing or damaged.",
            style="red",
        )
        raise typer.Exit(Exit.FAILED)


def restore(
    folder: Annotated[Path, typer.Argument(help="The folder of a backup.", exists=True, file_okay=False)],
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
) -> None:
    """Bring a backup back into a data directory that is empty or does not exist, and check it."""
    from outlast.kernel.backups.restore import restore_backup

    settings = read_settings(config, data_dir)
    place = _place(settings)
    manifest = restore_backup(folder.absolute(), place)
    out.print(
        f"{place.data_dir}: restored as of {manifest.taken_at}, {len(manifest.blobs)} stored files checked"
    )
    if manifest.database is None:
        err.print("The database is not in the backup. Restore the dump that was taken just before it:")
        err.print(f"  pg_restore --clean --if-exists --dbname={_without_password(settings)} outlast.dump")
        err.print("Then run 'outlast verify'.")


def verify(
    folder: Annotated[
        Path | None, typer.Argument(help="A backup, or a data directory (default: the configured one).")
    ] = None,
    adopt: Annotated[
        bool, typer.Option("--adopt", help="Folders without an id belong to this database.")
    ] = False,
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
) -> None:
    """Read everything in a backup or a data directory, and say what is missing or damaged. A restored database is
    trusted afterwards: stored files that nobody names may be collected again."""
    import anyio

    from outlast.base.errors import BackupIncomplete
    from outlast.kernel.backups.places import MANIFEST
    from outlast.kernel.backups.verification import verify_backup, verify_server
    from outlast.kernel.cli.admin import opened

    async def run(settings: "Settings") -> "Verified":
        async with opened(settings, adopt=adopt) as database:
            return await verify_server(_place(settings), database, adopt=adopt)

    if folder is not None and (folder / MANIFEST).exists():
        found = verify_backup(folder.absolute())
    elif folder is not None and (folder / "files").is_dir():
        raise BackupIncomplete(f"{folder} is not a complete backup: it has no {MANIFEST}.")
    else:
        found = anyio.run(run, read_settings(config, data_dir if folder is None else str(folder)))
    for problem in found.problems[:MOST_PROBLEMS]:
        out.print(problem)
    if found.problems:
        out.print(f"{len(found.problems)} problems", style="red")
        raise typer.Exit(Exit.FAILED)
    out.print(f"All is there: {found.blobs} stored files read.")


def _place(settings: "Settings") -> "Place":
    from outlast.kernel.backups.places import Place

    data_dir = Path(settings.server.data_dir).expanduser().absolute()
    return Place(data_dir, data_dir / settings.blobs.url.reveal(), settings.database.url.reveal())


def _without_password(settings: "Settings") -> str:
    parts = urlsplit(settings.database.url.reveal())
    name = f"{parts.username}@" if parts.username else ""
    port = f":{parts.port}" if parts.port else ""
    return urlunsplit(("postgresql", f"{name}{parts.hostname or ''}{port}", parts.path, parts.query, ""))
