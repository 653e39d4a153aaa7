"""The content of a backup, with the hash of everything in it."""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter

from outlast.base.data_directory import sync_file
from outlast.base.errors import BackupIncomplete
from outlast.base.records import dataclass
from outlast.kernel.backups.places import MANIFEST
from outlast_sandbox.folder_copies import EntryFacts, sync_folder

FORMAT: Final = 1


@dataclass(frozen=True, slots=True)
class DatabaseFacts:
    """A copied SQLite database."""

    sha256: str
    size_bytes: int
    revision: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """`blobs`: size in bytes by name, which is the content's SHA-256. `files`: by path below the data directory.
    `missing_blobs`: blobs that the database names and that were missing or damaged. `skipped`: paths that were not
    copied because they could not be read. `database` is None on PostgreSQL. `bucket` holds the blobs of a server that
    keeps them in one: they are not copied, and `blobs` is empty."""

    outlast: str
    deployment: str
    taken_at: str
    database: DatabaseFacts | None
    blobs: Mapping[str, int]
    files: Mapping[str, EntryFacts]
    missing_blobs: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    bucket: str = ""

    @property
    def size_bytes(self) -> int:
        database = 0 if self.database is None else self.database.size_bytes
        return database + sum(self.blobs.values()) + sum(one.size for one in self.files.values())


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the manifest durably, which completes the backup. Raises `OSError`."""
    counts = {"blobs": len(manifest.blobs), "files": len(manifest.files), "size_bytes": manifest.size_bytes}
    facts = {"format": FORMAT, "counts": counts, **asdict(manifest)}
    new = folder / f"{MANIFEST}.new"
    new.write_text(json.dumps(facts, indent=1))
    sync_file(new)
    sync_folder(folder)  # everything that it names is on the disk first
    new.replace(folder / MANIFEST)
    sync_file(folder, os.O_DIRECTORY)


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a backup. Raises `BackupIncomplete` if it is missing or incomplete."""
    try:
        facts: dict[str, Any] = json.loads((folder / MANIFEST).read_text())
        if facts["format"] != FORMAT:
            raise ValueError(f"format {facts['format']}")
        return TypeAdapter(Manifest).validate_python(facts)
    except FileNotFoundError:
        raise BackupIncomplete(f"{folder} is not a complete backup: it has no {MANIFEST}.") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BackupIncomplete(f"{folder} is not a complete backup: {MANIFEST} cannot be read ({error}).") from None
