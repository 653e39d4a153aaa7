"""The paths of a server's parts, and of a backup."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from outlast.base.records import dataclass
from outlast.db.blobs.stores import CACHE
from outlast.db.connect import sqlite_path
from outlast.kernel.deployment import Deployment

MANIFEST: Final = "manifest.json"
DATABASE: Final = "database/outlast.db"
BLOBS: Final = "blobs"
FILES: Final = "files"
DERIVED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "lock": "held by the running server",
        "logs": "the log of the server",
        "search": "search indexes, built again from the database",
        "checkpoints": "the state of files at the last scan",
        "sandboxes": "sandboxes that run on this machine, and their installed packages",
        CACHE: "copies of stored files that lie in a bucket",
        "browsers": "browsers that take screenshots",
    }
)
"""Entries of a data directory that a backup leaves out, with their descriptions. `sandboxes-NAME` are left out too."""


@dataclass(frozen=True, slots=True)
class Place(Deployment):
    """The folders of a server, and its database."""

    database_url: str

    @property
    def database_file(self) -> Path | None:
        """The file of an SQLite database, or None on PostgreSQL."""
        if not self.database_url.startswith("sqlite:///"):
            return None
        return sqlite_path(self.database_url, self.data_dir)

    def is_left_out(self, path: str) -> bool:
        """True if the entry of the data directory at this relative path is not among a backup's `files`."""
        first = path.split("/", 1)[0]
        if first in DERIVED or first.startswith("sandboxes-") or ("/" not in path and path.endswith(".new")):
            return True
        whole = self.data_dir / path
        database = self.database_file
        of_database = () if database is None else tuple(f"{database}{end}" for end in ("", "-wal", "-shm", "-journal"))
        return whole == self.blob_dir or str(whole) in of_database
