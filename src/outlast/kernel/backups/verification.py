"""Verifies a backup or a data directory: all named files exist and are unchanged."""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import anyio.to_thread

from outlast.base.errors import StoredFileMissing
from outlast.base.records import dataclass
from outlast.db.blobs.folder import FolderBlobs, blob_path
from outlast.db.blobs.port import Blobs
from outlast.db.database import Database
from outlast.db.sqlite import find_damage
from outlast.kernel.backups.backup import named_in
from outlast.kernel.backups.manifest import Manifest, read_manifest
from outlast.kernel.backups.places import BLOBS, DATABASE, FILES, Place
from outlast.kernel.deployment import join, trust_database
from outlast_sandbox.folder_copies import differing, hash_of

PIECE: Final = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Verified:
    """The result: the number of blobs read, and everything that is missing or damaged."""

    blobs: int
    problems: tuple[str, ...]


def verify_backup(folder: Path) -> Verified:
    """Read everything in a backup. Raises `BackupIncomplete`. Blocks."""
    manifest = read_manifest(folder)
    return Verified(len(manifest.blobs), tuple(backup_problems(folder, manifest)))


async def verify_server(
    place: Place, database: Database, *, adopt: bool = False, blobs: Blobs | None = None
) -> Verified:
    """Read every blob that the database names, and the database. Without problems a restored database is trusted again,
    and unreferenced blobs may be collected. Safe while a server runs. `blobs`: those of a bucket, if the place has one.
    Raises `DeploymentMismatch`, `StorageUnavailable`."""
    await join(database, place, adopt=adopt)
    file = place.database_file
    problems = [] if file is None else await anyio.to_thread.run_sync(sqlite_problems, file)
    names = sorted(await named_in(database, blobs or FolderBlobs(place.blob_dir)))
    if blobs is None:
        problems += await anyio.to_thread.run_sync(blob_problems, place.blob_dir, names)
    else:
        problems += await anyio.to_thread.run_sync(_problems_of, blobs, names)
    if not problems:
        known = await anyio.to_thread.run_sync(place.blob_mark)
        standing = await database.write(trust_database, 0 if known is None else known.mark)
        assert standing.id is not None  # joined above
        await anyio.to_thread.run_sync(place.write, standing.id, standing.mark)
    return Verified(len(names), tuple(problems))


def backup_problems(folder: Path, manifest: Manifest) -> list[str]:
    """Differences between a backup and its manifest. Blocks."""
    problems = [
        f"files/{path} is missing or changed" for path in differing(folder / FILES, manifest.files, links=False)
    ]
    problems += blob_problems(folder / BLOBS, manifest.blobs)
    if manifest.database is not None:
        copy = folder / DATABASE
        if hash_of(copy) != (manifest.database.sha256, manifest.database.size_bytes):
            problems.append(f"{DATABASE} is missing or changed")
        else:
            problems += sqlite_problems(copy, unchanging=True)
    return problems


def sqlite_problems(file: Path, *, unchanging: bool = False) -> list[str]:
    """Problems that SQLite's own check finds in a file. Blocks."""
    found = find_damage(file, thorough=True, unchanging=unchanging)
    return [f"database {file.name}: {one}" for one in found]


def blob_problems(folder: Path, names: Iterable[str]) -> list[str]:
    """The blobs that are missing from the folder, or damaged. Blocks."""
    found = ((name, hash_of(blob_path(folder, name))) for name in names)
    return [
        f"blob {name} is {'missing' if facts is None else 'damaged'}"
        for name, facts in found
        if facts is None or facts[0] != name
    ]


def _problems_of(blobs: Blobs, names: Iterable[str]) -> list[str]:
    """As `blob_problems`, for any store. Raises `StorageUnavailable`."""
    found = ((name, _hash_in(blobs, name)) for name in names)
    return [f"blob {name} is {'missing' if sha256 is None else 'damaged'}" for name, sha256 in found if sha256 != name]


def _hash_in(blobs: Blobs, name: str) -> str | None:
    digest, offset = hashlib.sha256(), 0
    try:
        while piece := blobs.read(name, offset, PIECE):
            digest.update(piece)
            offset += len(piece)
    except StoredFileMissing:
        return None
    return digest.hexdigest()
