"""Checkpoints and their files."""

from typing import Literal

from outlast.base.events import Frozen
from outlast.kernel.http.shapes import Answer


class CheckpointData(Frozen):
    """A workspace's files at one moment."""

    id: str
    workspace_id: str
    project_id: str
    run_id: str | None
    message_id: str | None
    effect_id: str | None
    parent_id: str | None
    reason: Literal["tool", "message", "sleep", "fork", "restore", "person", "template"]
    tree: str
    files: int
    size_bytes: int
    created_at: str


class CheckpointCreated(Frozen):
    """A workspace's files were saved, or restored (`reason` restore)."""

    checkpoint: CheckpointData


class KeptFileAnswer(Answer):
    """A file, folder or symbolic link in a checkpoint."""

    path: str
    kind: Literal["file", "directory", "symlink"]
    size_bytes: int
    mode: str
    modified_at: str
    target: str | None


class CheckpointAnswer(CheckpointData):
    """A checkpoint with its files, at most 5,000 entries."""

    entries: list[KeptFileAnswer]
    truncated: bool


class FileDifferenceAnswer(Answer):
    """A path that differs, with a unified diff if both are texts."""

    path: str
    change: Literal["added", "changed", "removed"]
    before_bytes: int | None
    after_bytes: int | None
    diff: str | None


class ComparisonAnswer(Answer):
    """Files that differ between two checkpoints."""

    before: CheckpointData | None
    after: CheckpointData
    changes: list[FileDifferenceAnswer]
    truncated: bool
