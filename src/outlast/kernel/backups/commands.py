"""`outlast backup`, `restore`, `verify`."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated
from urllib.parse import urlsplit, urlunsplit

import anyio
import typer

from outlast.base.clock import SystemClock
from outlast.base.errors import BackupIncomplete
from outlast.db.blobs.address import is_bucket, parse_address
from outlast.db.blobs.bucket import Bucket
from outlast.db.blobs.port import Blobs
from outlast.db.blobs.stores import open_bucket
from outlast.db.database import Database
from outlast.kernel.backups.backup import take_backup
from outlast.kernel.backups.manifest import Manifest
from outlast.kernel.backups.places import BLOBS, FILES, MANIFEST, Place
from outlast.kernel.backups.restore import restore_backup
from outlast.kernel.backups.verification import Verified, verify_backup, verify_server
from outlast.kernel.cli.admin import opened
from outlast.kernel.cli.commands import Commands
from outlast.kernel.cli.exits import Exit
from outlast.kernel.cli.options import ON_DATA
from outlast.kernel.cli.session import read_settings
from outlast.kernel.cli.terminal import err, print_result
from outlast.kernel.cli.units import count
from outlast.kernel.settings import Settings

MAX_PROBLEMS = 20
app = Commands(ON_DATA)


@app.verb("backup", "outlast backup /backups/2026-11-23")
def backup(folder: Annotated[Path, typer.Argument(help="A new folder for the backup.")]) -> None:
    """Back up the database, stored files, workspaces and keys.

    The server can keep running meanwhile."""
    settings = read_settings()

    async def run() -> Manifest:
        async with opened(settings) as database:
            return await take_backup(_place(settings), database, SystemClock(), folder.absolute())

    manifest = anyio.run(run)
    print_result(
        {
            "folder": str(folder),
            "blobs": len(manifest.blobs),
            "files": len(manifest.files),
            "size_bytes": manifest.size_bytes,
            "skipped": len(manifest.skipped),
            "missing_blobs": len(manifest.missing_blobs),
        },
        f"{folder}: {count(len(manifest.blobs), 'stored file')}, {len(manifest.files):,} other files and folders, "
        f"{manifest.size_bytes:,} bytes",
    )
    if manifest.skipped:
        err.print(f"{count(len(manifest.skipped), 'file')} could not be read. The manifest lists them as skipped.")
    if manifest.database is None:
        err.print("The database is not in the backup. Dump it right before each backup:")
        err.print(f"  pg_dump --format=custom --file=outlast.dump {_without_password(settings)}")
    if manifest.bucket:
        err.print(f"Stored files are not in the backup: they stay in {manifest.bucket}. Let that bucket keep older")
        err.print("versions of objects for as long as you keep backups.")
    if manifest.missing_blobs:
        err.print(f"{len(manifest.missing_blobs)} stored files of the database are missing or damaged.", style="red")
        raise typer.Exit(Exit.FAILED)


@app.verb("restore", "outlast restore /backups/2026-11-23 --data-dir /var/lib/outlast")
def restore(folder: Annotated[Path, typer.Argument(help="Folder of a backup.")]) -> None:
    """Restore a backup into an empty or new data directory, and verify it."""
    settings = read_settings()
    place = _place(settings)
    manifest = restore_backup(folder.absolute(), place)
    print_result(
        {"data_dir": str(place.data_dir), "taken_at": manifest.taken_at, "blobs": len(manifest.blobs)},
        f"{place.data_dir}: restored the backup of {manifest.taken_at}, "
        f"{count(len(manifest.blobs), 'stored file')} verified",
    )
    if manifest.database is None:
        err.print("The database is not in the backup. Restore the dump that was made right before it:")
        err.print(f"  pg_restore --clean --if-exists --dbname={_without_password(settings)} outlast.dump")
        err.print("Then run 'outlast verify'.")
    elif manifest.bucket:
        err.print(f"The stored files lie in {manifest.bucket}. Run 'outlast verify', which reads them all.")


@app.verb("verify", "outlast verify /backups/2026-11-23")
def verify(
    folder: Annotated[
        Path | None, typer.Argument(help="A backup or a data directory. Default: the configured one.")
    ] = None,
    adopt: Annotated[bool, typer.Option("--adopt", help="Accept folders that have no id.")] = False,
) -> None:
    """Read every file of a backup or data directory, and report what is missing or damaged.

    If a restored database has no problems, the server deletes unreferenced stored files again."""

    async def run(settings: Settings) -> Verified:
        async with opened(settings, adopt=adopt) as database:
            with _in_bucket(settings, database) as blobs:
                return await verify_server(_place(settings), database, adopt=adopt, blobs=blobs)

    if folder is not None and (folder / MANIFEST).exists():
        found = verify_backup(folder.absolute())
    elif folder is not None and (folder / FILES).is_dir():
        raise BackupIncomplete(f"{folder} is not a complete backup: it has no {MANIFEST}.")
    else:
        found = anyio.run(run, read_settings(**({} if folder is None else {"data_dir": str(folder)})))
    shown = "".join(f"{problem}\n" for problem in found.problems[:MAX_PROBLEMS])
    nothing = f"No problems: {count(found.blobs, 'stored file')} read."
    words = count(len(found.problems), "problem") if found.problems else nothing
    print_result({"blobs": found.blobs, "problems": found.problems}, shown + words)
    if found.problems:
        raise typer.Exit(Exit.FAILED)


def _place(settings: Settings) -> Place:
    data_dir = Path(settings.server.data_dir).expanduser().absolute()
    url, database = settings.blobs.url.reveal(), settings.database.url.reveal()
    if is_bucket(url):
        return Place(data_dir, data_dir / BLOBS, database, bucket=Bucket(parse_address(url)))
    return Place(data_dir, data_dir / url, database)


@contextmanager
def _in_bucket(settings: Settings, database: Database) -> Iterator[Blobs | None]:
    """The stored files if they lie in a bucket. The copies of a running server are not touched."""
    url = settings.blobs.url.reveal()
    if not is_bucket(url):
        yield None
        return
    with TemporaryDirectory() as folder, closing(open_bucket(url, Path(folder), database, 0)) as blobs:
        yield blobs


def _without_password(settings: Settings) -> str:
    parts = urlsplit(settings.database.url.reveal())
    name = f"{parts.username}@" if parts.username else ""
    port = f":{parts.port}" if parts.port else ""
    return urlunsplit(("postgresql", f"{name}{parts.hostname or ''}{port}", parts.path, parts.query, ""))
