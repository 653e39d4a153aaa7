"""The contents of a checkpoint for people: its files, their content, and the differences between two."""

import time
from datetime import UTC, datetime
from typing import Final

from outlast.base.clock import iso
from outlast.db.blobs.port import Blobs
from outlast.kernel.sandboxes.checkpoints.shapes import FileDifferenceAnswer, KeptFileAnswer
from outlast.kernel.sandboxes.translation import translated
from outlast_sandbox.checkpoints import contents
from outlast_sandbox.checkpoints.tree import Entry, Tree
from outlast_sandbox.checkpoints.tree_diff import TEXT_BYTES, Change, changes, text_difference

MAX_FILE_BYTES: Final = 5_000_000
MAX_FILES: Final = 5_000
MAX_WRITTEN_OUT: Final = 100  # differences shown line by line, of one comparison
WRITING_OUT_S: Final = 3.0  # no more diffs are written after this time


@translated()
def content_of(blobs: Blobs, entry: Entry) -> bytes:
    """A file's whole content. Raises `StoredFileDamaged` if it differs from the saved content, `StoredFileMissing`.
    Blocks."""
    return contents.content_of(blobs, entry)


@translated()
def beginning_of(blobs: Blobs, entry: Entry, max_bytes: int) -> bytes:
    """The first `max_bytes` of a file; a longer one is not checked. Errors as `content_of`. Blocks."""
    return contents.beginning_of(blobs, entry, max_bytes)


def differences(blobs: Blobs, before: Tree, after: Tree) -> list[FileDifferenceAnswer]:
    """Every path that differs, the first ones with a diff. Blocks."""
    until = time.monotonic() + WRITING_OUT_S
    return [
        FileDifferenceAnswer(
            path=shown_name(change.path),
            change=change.kind,
            before_bytes=None if change.before is None else change.before.size,
            after_bytes=None if change.after is None else change.after.size,
            diff=_difference(blobs, change) if number < MAX_WRITTEN_OUT and time.monotonic() < until else None,
        )
        for number, change in enumerate(changes(before, after))
    ]


def _difference(blobs: Blobs, change: Change) -> str | None:
    sides = (change.before, change.after)
    if any(side is not None and (side.kind != "file" or side.size > TEXT_BYTES) for side in sides):
        return None
    old, new = (None if side is None else content_of(blobs, side) for side in sides)
    return text_difference(shown_name(change.path), old, new)


def kept_file(entry: Entry) -> KeptFileAnswer:
    return KeptFileAnswer(
        path=shown_name(entry.path),
        kind=entry.kind,
        size_bytes=entry.size,
        mode=f"{entry.mode:03o}",
        modified_at=iso(datetime.fromtimestamp(entry.mtime_ms / 1000, UTC)),
        target=shown_name(entry.target) if entry.kind == "symlink" else None,
    )


def shown_name(name: str) -> str:
    """A name that may not be UTF-8, in readable form."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
