"""Ensures that a database, data directory and blob folder belong together, and decides when blobs may be collected.  A
deployment has a random id: in the database (`meta`), and in a file `deployment` of the data directory and of the blob
folder (an object of that name in a bucket). A server with different ids does not start: with the wrong database, needed
files look unused. Folders and databases of versions without ids get one at the first start.  The *mark* is a number
that grows with each start and each collection, first in the database, then in the blob folder. If a folder's mark is
ahead of the database's, the database was restored from an earlier state. Then nothing is collected until `outlast
verify` has found every blob that the database names, which ends with `trust_database`. A backup suspends collection for
a while (`hold_collection`), so that the blobs of its database copy stay.
"""

import json
import os
from contextlib import suppress
from dataclasses import field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

import anyio.to_thread
import sqlalchemy as sa

from outlast.base.data_directory import sync_file
from outlast.base.errors import DeploymentMismatch, StartRefused, StoredFileMissing
from outlast.base.ids import new_id
from outlast.base.records import dataclass
from outlast.db.blobs.bucket import Bucket
from outlast.db.blobs.folder import FolderBlobs
from outlast.db.blobs.port import Blobs
from outlast.db.blobs.s3 import S3Blobs
from outlast.db.database import Database, Tx
from outlast.db.tables import meta, put_fact
from outlast.kernel.accounts.tables import users

FILE: Final = "deployment"
_ID: Final = "deployment.id"
_ADOPTING: Final = "deployment.adopting"  # the id is chosen, but not yet in both folders
_MARK: Final = "collection.mark"
_RESTORED: Final = "collection.restored"
_HELD_UNTIL: Final = "collection.held_until"


@dataclass(frozen=True, slots=True)
class FolderMark:
    """The content of a folder's file: the deployment that it belongs to, and (in a blob folder) its mark."""

    id: str
    mark: int = 0

    def encode(self) -> bytes:
        """The content of the file."""
        return (json.dumps({"id": self.id} | ({"mark": self.mark} if self.mark else {})) + "\n").encode()


@dataclass(frozen=True, slots=True)
class Standing:
    """The deployment of a database. `id` is None before the first start; `is_used` is true once it has a user."""

    id: str | None
    is_used: bool
    is_adopting: bool
    mark: int
    is_restored: bool
    held_until: datetime | None


@dataclass(frozen=True, slots=True)
class Deployment:
    """The two folders of a server; `bucket` replaces the blob folder. Calls block. Those that reach a bucket raise
    `StorageUnavailable` too."""

    data_dir: Path
    blob_dir: Path
    bucket: Bucket | None = field(default=None, kw_only=True)

    @property
    def blob_place(self) -> str:
        """The blob folder or the bucket, for people."""
        return str(self.blob_dir) if self.bucket is None else self.bucket.shown

    def read(self) -> tuple[FolderMark | None, FolderMark | None]:
        """The files of the data directory and the blob folder. Raises `StartRefused` for an unreadable file."""
        return read_file(self.data_dir), self.blob_mark()

    def blob_mark(self) -> FolderMark | None:
        """The file of the blob folder. Raises `StartRefused` if it is unreadable."""
        if self.bucket is None:
            return read_file(self.blob_dir)
        try:
            return parse_mark(b"".join(self.bucket.get(FILE)), f"{self.bucket.shown}/{FILE}")
        except StoredFileMissing:
            return None

    def used(self) -> list[str]:
        """Those of the two that contain users' files (workspaces, or blobs) and have no id."""
        in_data_dir, with_blobs = self.read()
        found = []
        if in_data_dir is None and next((self.data_dir / "workspaces").glob("*"), None) is not None:
            found.append(str(self.data_dir))
        if with_blobs is None and self._holds_blobs():
            found.append(self.blob_place)
        return found

    def write(self, deployment_id: str, mark: int) -> None:
        """Write the id into both folders; a mark never decreases. Raises `StartRefused`, `DeploymentMismatch`."""
        write_file(self.data_dir, FolderMark(deployment_id))
        self.mark_blobs(FolderMark(deployment_id, mark))

    def mark_blobs(self, mark: FolderMark) -> None:
        """As `write`, into the blob folder alone."""
        known = self.blob_mark()
        if known is not None and known.id == mark.id and known.mark >= mark.mark:
            return
        if self.bucket is None:
            write_file(self.blob_dir, mark)
        elif known is not None:
            self.bucket.put(FILE, mark.encode())
        elif not self.bucket.put_first(FILE, mark.encode()):  # another server was quicker
            first = self.blob_mark()
            if first is not None and first.id != mark.id:
                raise DeploymentMismatch(f"{self.blob_place} belongs to deployment {first.id}, not to {mark.id}.")

    def _holds_blobs(self) -> bool:
        if self.bucket is None:
            return next(self.blob_dir.glob("??/*"), None) is not None
        return any("/" in key for page in self.bucket.listed() for key in page)


def deployment_of(data_dir: Path, blobs: Blobs) -> Deployment:
    """The deployment of a data directory and a store of blobs."""
    if isinstance(blobs, FolderBlobs):
        return Deployment(data_dir, blobs.folder)
    assert isinstance(blobs, S3Blobs)
    return Deployment(data_dir, data_dir / "blobs", bucket=blobs.bucket)


async def join(database: Database, deployment: Deployment, *, adopt: bool = False) -> bool:
    """Require that the database and the folders belong together, and give new ones the id; returns True if blobs may be
    collected. `adopt`: treat used folders without an id as the database's own. Raises `DeploymentMismatch`,
    `StartRefused`. Safe to repeat, and while other servers start; the next call completes a killed one."""
    folder_id = await check(database, deployment, adopt=adopt)
    in_blob_dir = await anyio.to_thread.run_sync(deployment.blob_mark)
    standing = await database.write(_name, folder_id, 0 if in_blob_dir is None else in_blob_dir.mark)
    assert standing.id is not None
    await anyio.to_thread.run_sync(deployment.write, standing.id, 0 if standing.is_restored else standing.mark)
    if standing.is_adopting:
        await database.write(_forget, _ADOPTING)
    return not standing.is_restored


async def check(database: Database, deployment: Deployment, *, adopt: bool = False) -> str | None:
    """Raise `DeploymentMismatch` unless the database and the folders belong together. Returns the folders' id, if they
    have one. Changes nothing."""
    places = str(deployment.data_dir), deployment.blob_place
    marks = await anyio.to_thread.run_sync(deployment.read)
    known = {place: mark.id for place, mark in zip(places, marks, strict=True) if mark is not None}
    used = [] if adopt else await anyio.to_thread.run_sync(deployment.used)
    require_match(await database.read(standing_of), known, used)
    return next(iter(known.values()), None)


def require_match(standing: Standing, folder_ids: dict[str, str], used: list[str]) -> None:
    """Raise `DeploymentMismatch` unless a database and folders belong together. `folder_ids`: the ids by folder;
    `used`: folders that hold files and have no id."""
    for folder, found in folder_ids.items():
        if standing.id is not None and found != standing.id:
            raise DeploymentMismatch(
                f"The database belongs to deployment {standing.id}, the folder {folder} to {found}.", folder=folder
            )
    if len(set(folder_ids.values())) > 1:
        raise DeploymentMismatch(
            f"The data directory and the blob folder belong to different deployments: {folder_ids}."
        )
    if standing.id is None and not standing.is_used and (folder_ids or used):
        folder = next(iter([*folder_ids, *used]))
        raise DeploymentMismatch(
            f"The database is empty, but the folder {folder} contains files of an earlier one.", folder=folder
        )
    if standing.id is not None and used and not standing.is_adopting:
        raise DeploymentMismatch(
            f"The folder {used[0]} contains files that may not belong to this database.",
            hint="If they do, run: outlast verify --adopt. If not, correct server.data_dir, database.url or blobs.url.",
            folder=used[0],
        )


async def begin_collection(database: Database, deployment: Deployment) -> str:
    """The reason why no blob may be collected now; empty if collection may begin, and both marks record it."""
    in_data_dir, in_blob_dir = await anyio.to_thread.run_sync(deployment.read)
    ids = {None if one is None else one.id for one in (in_data_dir, in_blob_dir)}
    folder_mark = 0 if in_blob_dir is None else in_blob_dir.mark

    def begin(tx: Tx) -> tuple[str, Standing]:
        standing = standing_of(tx)
        if ids != {standing.id} or standing.id is None:
            return "the database, the data directory and the blob folder do not belong together", standing
        if standing.is_restored or folder_mark > standing.mark:
            return "the database was restored: run 'outlast verify'", standing
        if reason := why_held(tx):
            return reason, standing
        put_fact(tx, _MARK, str(standing.mark + 1))
        return "", standing_of(tx)

    reason, standing = await database.write(begin)
    if not reason and standing.id is not None:
        await anyio.to_thread.run_sync(deployment.write, standing.id, standing.mark)
    return reason


def why_held(tx: Tx) -> str:
    """The reason if a backup suspends collection, else empty."""
    until = standing_of(tx).held_until
    return f"a backup is being taken (until {until:%H:%M:%S} UTC)" if until and until > tx.now else ""


def hold_collection(tx: Tx, time: timedelta) -> None:
    """Suspend collection for `time` from now, even if the caller exits. Calling it again extends the hold."""
    put_fact(tx, _HELD_UNTIL, (tx.now + time).isoformat())


def release_collection(tx: Tx) -> None:
    """End the hold."""
    _forget(tx, _HELD_UNTIL)


def trust_database(tx: Tx, folder_mark: int) -> Standing:
    """Allow collection again, after every blob that the database names was found. Write the new mark to the blob
    folder."""
    put_fact(tx, _MARK, str(max(standing_of(tx).mark, folder_mark) + 1))
    _forget(tx, _RESTORED)
    return standing_of(tx)


def standing_of(tx: Tx) -> Standing:
    """The deployment that the database belongs to."""
    keys = (_ID, _ADOPTING, _MARK, _RESTORED, _HELD_UNTIL)
    rows = tx.execute(sa.select(meta.c.key, meta.c.value).where(meta.c.key.in_(keys)))
    said = {row.key: row.value for row in rows}
    return Standing(
        id=said.get(_ID),
        is_used=tx.execute(sa.select(users.c.id).limit(1)).first() is not None,
        is_adopting=_ADOPTING in said,
        mark=int(said.get(_MARK, "0")),
        is_restored=_RESTORED in said,
        held_until=datetime.fromisoformat(said[_HELD_UNTIL]) if _HELD_UNTIL in said else None,
    )


def read_file(folder: Path) -> FolderMark | None:
    """The content of a folder's file, or None if there is none. Raises `StartRefused`."""
    file = folder / FILE
    try:
        return parse_mark(file.read_bytes(), str(file))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unreadable(str(file), error) from None


def parse_mark(content: bytes, file: str) -> FolderMark:
    """The content of a folder's file, which is named in errors. Raises `StartRefused`."""
    try:
        facts = json.loads(content)
        return FolderMark(str(facts["id"]), int(facts.get("mark", 0)))
    except (ValueError, KeyError, TypeError) as error:
        raise _unreadable(file, error) from None


def _unreadable(file: str, error: Exception) -> StartRefused:
    return StartRefused(
        f"The file {file} cannot be read: {error}.",
        hint="It names the deployment that the folder belongs to. Restore it from a backup, or remove it and run "
        "'outlast verify --adopt'.",
    )


def write_file(folder: Path, mark: FolderMark) -> None:
    """Durably write the deployment of a folder, created if missing. Raises `StartRefused` if it is not writable."""
    new = folder / f"{FILE}.{os.getpid()}.new"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        new.write_bytes(mark.encode())
        sync_file(new)
        new.replace(folder / FILE)
        sync_file(folder, os.O_DIRECTORY)
    except OSError as error:
        with suppress(OSError):
            new.unlink(missing_ok=True)
        raise StartRefused(
            f"The folder {folder} is not writable: {error.strerror}.",
            hint="Free some space, or give this user write permission.",
            folder=str(folder),
        ) from None


def _name(tx: Tx, folder_id: str | None, folder_mark: int) -> Standing:
    """Give the database its id (that of its folders, if they have one) and the next mark, unless it was restored."""
    before = standing_of(tx)
    if before.id is None:
        tx.insert_missing(meta, key=_ID, value=folder_id or new_id("deployment"))  # another server may have chosen one
        put_fact(tx, _ADOPTING, "1")
    if before.mark < folder_mark:
        put_fact(tx, _RESTORED, "1")
    elif not before.is_restored:
        put_fact(tx, _MARK, str(before.mark + 1))
    return standing_of(tx)


def _forget(tx: Tx, key: str) -> None:
    tx.execute(sa.delete(meta).where(meta.c.key == key))
