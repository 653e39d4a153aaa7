"""What finds the texts of files, which an app implements."""

from collections.abc import Sequence
from typing import Final, Protocol

from outlast.db.database import Tx
from outlast.kernel.apps.ports import Port
from outlast.kernel.files.rows import ArtifactRow

PACKAGE: Final = "project files"  # what the texts are filed under


class FileIndex(Protocol):
    """Keeps the texts of files for `Searcher`."""

    def plan(self, name: str, media_type: str, texts: Sequence[str], passage_chars: int) -> object | None:
        """What `add` writes for a file with these texts (of a PDF one for each page, else one): worked out beside the
        database. None: there is nothing to be found in them. Blocking for long texts."""
        return name if any(text.strip() for text in texts) else None

    def add(self, tx: Tx, file: ArtifactRow, planned: object) -> str | None:
        """Keep what was planned; the id of its source (None: it is not kept)."""
        return None

    def remove(self, tx: Tx, source_id: str) -> None:
        """Forget what was kept of a file that is deleted."""
        return


class NoFileIndex(FileIndex):
    """Keeps none: files can be read, but not found by their text."""


FILE_INDEX: Final[Port[FileIndex]] = Port("index of files", NoFileIndex())
