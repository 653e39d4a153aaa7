"""Takes a backup while the server runs."""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from datetime import timedelta
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Final, TypeVar

import anyio
import anyio.to_thread

from outlast.base.clock import Clock, iso
from outlast.base.errors import BackupRefused, DiskFull, InternalError, NotFound
from outlast.db.blobs.folder import FolderBlobs, blob_path
from outlast.db.blobs.port import Blobs
from outlast.db.connect import open_database, revisions
from outlast.db.database import Database
from outlast.kernel.backups.manifest import DatabaseFacts, Manifest, write_manifest
from outlast.kernel.backups.places import BLOBS, DATABASE, FILES, Place
from outlast.kernel.deployment import hold_collection, join, release_collection, standing_of
from outlast.kernel.sandboxes.checkpoints.garbage import blobs_of_manifests, named_blobs
from outlast_sandbox.folder_copies import copy_file, copy_out, hash_of

T = TypeVar("T")
HOLD: Final = timedelta(hours=1)
HOLD_AGAIN_S: Final = 60.0
AT_ONCE: Final = 100  # blobs or entries copied before the hold may be renewed
PAGES: Final = 512  # of the database at a time
PAUSE_S: Final = 0.002


async def take_backup(place: Place, database: Database, clock: Clock, folder: Path) -> Manifest:
    """Copy everything that is not derived into `folder`, which must be empty or not exist: the database first, as it is
    at one moment, then every blob that this copy names, then the rest. On PostgreSQL the database is left out, and so
    are blobs in a bucket.

    Meanwhile collection of blobs is suspended, for an hour from the last step. A cancelled or killed call leaves a
    folder without a manifest. Raises `BackupRefused`, `DiskFull`, `DeploymentMismatch`.
    """
    _require_empty(folder)
    await join(database, place)
    await database.write(hold_collection, HOLD)
    try:
        await anyio.to_thread.run_sync(_make_private, folder)
        return await _Backup(place, database, clock, folder).take()
    except OSError as error:
        raise DiskFull(f"The backup could not be written: {error}.", hint="Free some space and retry.") from error
    finally:
        with anyio.CancelScope(shield=True):
            await database.write(release_collection)


class _Backup:
    def __init__(self, place: Place, database: Database, clock: Clock, folder: Path) -> None:
        self._place, self._database, self._clock, self._folder = place, database, clock, folder
        self._held_at = clock.monotonic()

    async def take(self) -> Manifest:
        taken_at = iso(self._clock.now())
        facts, named = await self._copy_database()
        standing = await self._database.read(standing_of)
        assert standing.id is not None  # joined above
        blobs, missing = await self._copy(copy_blobs(self._place.blob_dir, self._folder / BLOBS, sorted(named)))
        files, skipped = await self._copy(copy_out(self._place.data_dir, self._folder / FILES, self._place.is_left_out))
        manifest = Manifest(
            outlast=version("outlast"),
            deployment=standing.id,
            taken_at=taken_at,
            database=facts,
            blobs=blobs,
            files=files,
            missing_blobs=tuple(missing),
            skipped=tuple(skipped),
            bucket="" if self._place.bucket is None else self._place.bucket.shown,
        )
        await anyio.to_thread.run_sync(write_manifest, self._folder, manifest)
        return manifest

    async def _copy_database(self) -> tuple[DatabaseFacts | None, set[str]]:
        """(facts about the copy, the blobs that it names: none of them if they lie in a bucket)."""
        file = self._place.database_file
        if file is None:
            return None, await self._named_in(self._database)
        copy = self._folder / DATABASE
        await anyio.to_thread.run_sync(copy_sqlite, file, copy)
        database = open_database(f"sqlite:///{copy}", copy.parent, self._clock)
        try:
            named = await self._named_in(database)
            await database.write(release_collection)
        finally:
            await database.aclose()
        found = await anyio.to_thread.run_sync(hash_of, copy)
        if found is None:
            raise BackupRefused(f"The copy of the database at {copy} cannot be read again.")
        return DatabaseFacts(*found, revision=revisions()[-1]), named

    async def _named_in(self, database: Database) -> set[str]:
        if self._place.bucket is not None:
            return set()
        return await named_in(database, FolderBlobs(self._place.blob_dir))

    async def _copy(self, steps: Iterator[tuple[str, T | None]]) -> tuple[dict[str, T], list[str]]:
        """Run the steps in a thread, and renew the hold between them. Returns the copied items by name, and the names
        of the others."""
        copied: dict[str, T] = {}
        skipped: list[str] = []

        def take_some() -> bool:
            taken = list(islice(steps, AT_ONCE))
            copied.update((name, facts) for name, facts in taken if facts is not None)
            skipped.extend(name for name, facts in taken if facts is None)
            return bool(taken)

        while await anyio.to_thread.run_sync(take_some):
            if self._clock.monotonic() - self._held_at > HOLD_AGAIN_S:
                await self._database.write(hold_collection, HOLD)
                self._held_at = self._clock.monotonic()
        return copied, skipped


def copy_blobs(source: Path, target: Path, names: Iterable[str]) -> Iterator[tuple[str, int | None]]:
    """Copy blobs from one folder to another, yielding the name and size of each, or None if it is missing or damaged.
    Blocks between steps."""
    for name in names:
        copy = blob_path(target, name)
        copy.parent.mkdir(parents=True, exist_ok=True)
        try:
            sha256, size = copy_file(blob_path(source, name), copy)
        except FileNotFoundError:
            yield name, None
            continue
        if sha256 != name:
            copy.unlink()
        yield name, size if sha256 == name else None


def copy_sqlite(source: Path, target: Path) -> None:
    """Copy a database that others write to, as it is at one moment, in small steps; its writer never waits. Raises
    `BackupRefused`. Blocks."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        with (
            closing(sqlite3.connect(source, isolation_level=None)) as read,
            closing(sqlite3.connect(target)) as written,
        ):
            # The open read keeps the snapshot: without it, each write of the server would restart the copy.
            read.execute("BEGIN")
            read.execute("SELECT count(*) FROM sqlite_master").fetchone()
            read.backup(written, pages=PAGES, sleep=PAUSE_S)
            read.execute("COMMIT")
    except sqlite3.Error as error:
        raise BackupRefused(
            f"The database {source} could not be copied: {error}.", hint="Run 'outlast verify', and check free space."
        ) from error


async def named_in(database: Database, blobs: Blobs) -> set[str]:
    """Every blob that a database names, itself or in a manifest. The blobs of a missing manifest are unknown."""
    named, manifests = await database.read(named_blobs)
    return named | await anyio.to_thread.run_sync(_needed_by, blobs, manifests)


def _needed_by(blobs: Blobs, manifests: list[str]) -> set[str]:
    """The blobs that the readable manifests need. Blocks."""
    with suppress(NotFound, InternalError):
        return blobs_of_manifests(blobs, manifests)
    needed: set[str] = set()
    for name in manifests:
        with suppress(NotFound, InternalError):
            needed |= blobs_of_manifests(blobs, [name])
    return needed


def _make_private(folder: Path) -> None:
    """Make the folder private, since it contains keys and users' texts."""
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)


def _require_empty(folder: Path) -> None:
    try:
        empty = not folder.exists() or (folder.is_dir() and next(folder.iterdir(), None) is None)
    except OSError as error:
        raise BackupRefused(f"The folder {folder} cannot be read: {error.strerror}.") from None
    if not empty:
        raise BackupRefused(
            f"The folder {folder} is not empty.", hint="Use a new folder for each backup.", folder=str(folder)
        )
