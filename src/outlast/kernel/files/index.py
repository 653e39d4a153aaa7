"""The search index of files' texts, which an app implements."""

from collections.abc import Sequence
from typing import Final, Protocol

from outlast.db.database import Tx
from outlast.kernel.apps.ports import Port
from outlast.kernel.files.rows import ArtifactRow

PACKAGE: Final = "project files"  # the package name of the texts


class FileIndex(Protocol):
    """Indexes the texts of files for `Searcher`."""

    def plan(self, name: str, media_type: str, texts: Sequence[str], passage_chars: int) -> object | None:
        """Prepare `add` for a file with these texts (one per page of a PDF, else one), without the database. Returns
        None if they contain nothing to find. Blocks for long texts."""
        return name if any(text.strip() for text in texts) else None

    def add(self, tx: Tx, file: ArtifactRow, planned: object) -> str | None:
        """Store the planned entries. Returns the id of their source, or None if they are not stored."""
        return None

    def remove(self, tx: Tx, source_id: str) -> None:
        """Remove the entries of a deleted file."""
        return


class NoFileIndex(FileIndex):
    """Indexes nothing: files can be read, but not found by their text."""


FILE_INDEX: Final[Port[FileIndex]] = Port("index of files", NoFileIndex())
