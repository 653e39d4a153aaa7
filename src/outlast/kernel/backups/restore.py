"""Restores a backup into a data directory that does not exist yet."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from outlast.base.data_directory import sync_file
from outlast.base.errors import BackupRefused, DiskFull
from outlast.db.blobs.folder import blob_path
from outlast.kernel.backups.manifest import Manifest, read_manifest
from outlast.kernel.backups.places import BLOBS, DATABASE, FILES, Place
from outlast.kernel.backups.verification import backup_problems, blob_problems, sqlite_problems
from outlast.kernel.deployment import FolderMark, read_file
from outlast_sandbox.folder_copies import copy_back, copy_file, differing, hash_of, sync_folder
from outlast_sandbox.folders import discard_folder, remove_folder


def restore_backup(folder: Path, place: Place) -> Manifest:
    """Check a backup, restore it next to its target, check it there, and rename it into place. The data directory must
    be empty or not exist; a blob folder outside of it must be empty or of the same deployment. A killed call leaves no
    data directory, and can be repeated. On PostgreSQL the database must be restored separately.

    Raises `BackupIncomplete`, `BackupRefused`, `DiskFull`, with a bucket `StorageUnavailable`. Blocks.
    """
    manifest = read_manifest(folder)
    _require_kind(manifest, place)
    _require_store(manifest, place)
    _require_free(manifest, place)
    _require_none(backup_problems(folder, manifest), f"The backup {folder} is damaged")
    try:
        with _sibling(place.data_dir) as fresh:
            _fill(folder, manifest, place, fresh)
            return manifest
    except OSError as error:
        raise DiskFull(f"The backup could not be restored: {error}.", hint="Free some space and retry.") from error


def _fill(folder: Path, manifest: Manifest, place: Place, fresh: Path) -> None:
    there = _moved(place, fresh)
    wrong = list(copy_back(folder / FILES, fresh, manifest.files))
    _copy_blobs(folder, manifest, there.blob_dir)
    file = there.database_file
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file = file if file.is_relative_to(fresh) else file.with_name(f"{file.name}.restoring")
        file.unlink(missing_ok=True)
        copy_file(folder / DATABASE, file)
        sync_file(file)
        wrong += sqlite_problems(file)
    if there.blob_mark() is None:
        there.mark_blobs(FolderMark(manifest.deployment))
    wrong += differing(fresh, manifest.files, links=True)
    wrong += blob_problems(there.blob_dir, manifest.blobs)
    _require_none(wrong, "The restored data differs from the backup")
    sync_folder(fresh)
    if there.bucket is None:
        sync_folder(there.blob_dir)
    fresh.rename(place.data_dir)  # replaces an empty folder
    sync_file(place.data_dir.parent, os.O_DIRECTORY)
    if file is not None and place.database_file is not None and not file.is_relative_to(fresh):
        # Last: a server refuses to start on a data directory without its database, but not on a database without one.
        file.replace(place.database_file)
        sync_file(place.database_file.parent, os.O_DIRECTORY)


def _copy_blobs(folder: Path, manifest: Manifest, blob_dir: Path) -> None:
    for name, size in manifest.blobs.items():
        target = blob_path(blob_dir, name)
        if hash_of(target) == (name, size):
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        new = target.with_name(f"{target.name}.new")
        new.unlink(missing_ok=True)
        copy_file(blob_path(folder / BLOBS, name), new)
        new.replace(target)


@contextmanager
def _sibling(data_dir: Path) -> Iterator[Path]:
    """A new folder next to the data directory, on its file system. Remains of a killed restore are deleted first."""
    fresh = data_dir.with_name(f".{data_dir.name}.restoring")
    data_dir.parent.mkdir(parents=True, exist_ok=True)
    lock = os.open(f"{fresh}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BackupRefused(f"Another restore into {data_dir} is running.") from None
        if fresh.exists():
            remove_folder(fresh)
        fresh.mkdir(mode=0o700)
        try:
            yield fresh
        finally:
            discard_folder(fresh)
        os.unlink(f"{fresh}.lock")
    finally:
        os.close(lock)


def _moved(place: Place, data_dir: Path) -> Place:
    """The same place with another data directory."""
    blob_dir = place.blob_dir
    if blob_dir.is_relative_to(place.data_dir):
        blob_dir = data_dir / blob_dir.relative_to(place.data_dir)
    file, url = place.database_file, place.database_url
    if file is not None and file.is_relative_to(place.data_dir):
        url = f"sqlite:///{data_dir / file.relative_to(place.data_dir)}"
    return replace(place, data_dir=data_dir, blob_dir=blob_dir, database_url=url)


def _require_kind(manifest: Manifest, place: Place) -> None:
    if (manifest.database is None) != (place.database_file is None):
        had = "PostgreSQL" if manifest.database is None else "SQLite"
        raise BackupRefused(
            f"The backup is from a server on {had}, but database.url names another kind of database.",
            hint="Correct database.url, or restore with the configuration that the backup was taken with.",
        )


def _require_store(manifest: Manifest, place: Place) -> None:
    shown = "" if place.bucket is None else place.bucket.shown
    if bool(manifest.bucket) != bool(shown):
        had = f"in {manifest.bucket}" if manifest.bucket else "in a folder"
        raise BackupRefused(
            f"The backup is from a server whose stored files lie {had}, but blobs.url names another kind of store.",
            hint="Correct blobs.url, or restore with the configuration that the backup was taken with.",
        )
    known = place.blob_mark() if shown else None
    if known is not None and known.id != manifest.deployment:
        raise BackupRefused(f"{shown} holds files of another deployment.", hint="Correct blobs.url.")


def _require_free(manifest: Manifest, place: Place) -> None:
    if place.data_dir.exists() and (not place.data_dir.is_dir() or any(place.data_dir.iterdir())):
        raise BackupRefused(
            f"The data directory {place.data_dir} is not empty.",
            hint="Restore into a new folder (--data-dir), or move this one away first.",
            data_dir=str(place.data_dir),
        )
    file, blob_dir = place.database_file, place.blob_dir
    if file is not None and file.exists():
        raise BackupRefused(f"There is already a database at {file}.", hint="Move it away first.")
    if place.bucket is None and blob_dir.is_dir() and any(blob_dir.iterdir()):
        known = read_file(blob_dir)
        if known is None or known.id != manifest.deployment:
            raise BackupRefused(
                f"The blob folder {blob_dir} holds files of another deployment.",
                hint="Set blobs.url to an empty folder.",
            )


def _require_none(problems: list[str], what: str) -> None:
    if problems:
        shown = "; ".join(problems[:5]) + ("; …" if len(problems) > 5 else "")
        raise BackupRefused(f"{what}: {shown}.", hint="Use another backup.")
