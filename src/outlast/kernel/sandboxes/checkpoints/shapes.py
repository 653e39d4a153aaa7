"""Checkpoints and what is in them."""

from typing import Literal

from outlast.base.events import CheckpointData
from outlast.kernel.http.shapes import Answer


class KeptFileAnswer(Answer):
    """A file, folder or symbolic link in a checkpoint; `path` is relative to the workspace, `mode` as in `chmod`."""

    path: str
    kind: Literal["file", "directory", "symlink"]
    size_bytes: int
    mode: str
    modified_at: str
    target: str | None


class CheckpointAnswer(CheckpointData):
    """A checkpoint with what is in it, at most 5,000 entries; `truncated`: there are more."""

    entries: list[KeptFileAnswer]
    truncated: bool


class FileDifferenceAnswer(Answer):
    """One path that differs; `diff` is the unified difference of two texts (null: no text, or too long)."""

    path: str
    change: Literal["added", "changed", "removed"]
    before_bytes: int | None
    after_bytes: int | None
    diff: str | None


class ComparisonAnswer(Answer):
    """What changed from one checkpoint (null: from no files at all) to another, sorted by path."""

    before: CheckpointData | None
    after: CheckpointData
    changes: list[FileDifferenceAnswer]
    truncated: bool
