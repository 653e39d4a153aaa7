"""Changing files of a workspace without a sandbox: a tree like another, but for some files."""

import hashlib
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Final

from outlast.base.errors import InputTooLarge, PathRefused
from outlast.db.blobs import FolderBlobs
from outlast.kernel.sandboxes.checkpoints.contents import content_of
from outlast_sandbox.checkpoints.tree import Entry, Tree, encode

Edit = Callable[[bytes | None], bytes | None]
"""Given a file's content (None: it is not there), answers the new one (None for one that is not there: it stays so)."""

MAX_BYTES: Final = 10_000_000  # of a file that is edited; room for the pictures that may be attached
FILE_MODE: Final = 0o644
FOLDER_MODE: Final = 0o755


def edited_tree(blobs: FolderBlobs, tree: Tree, edits: Mapping[str, Edit]) -> Tree | None:
    """The tree with what the edits made of its files, by path, stored under its name; None: it is as it was. Raises
    `PathRefused` where no regular file can be, `InputTooLarge` (a file of more than 10 MB), `DiskFull`, `NotFound` and
    `InternalError` (a blob is missing or damaged), and what an edit raises. Blocks."""
    edited = tree
    changed = {path: entry for path, edit in edits.items() if (entry := _edited(blobs, tree, path, edit))}
    if not changed:
        return None
    for path, entry in changed.items():
        others = [one for one in edited.entries if one.path != path]
        edited = Tree.of([*others, *_missing_folders(edited, path, entry.mtime_ms), entry])
    manifest, base = encode(edited, tree.base or (tree if tree.name else None))
    return replace(edited, name=blobs.put(manifest), base=base)


def demand_editable(path: str, size: int) -> None:
    """Raise `InputTooLarge` for a file that is too long to be read whole, changed and written."""
    if size > MAX_BYTES:
        raise InputTooLarge(
            f"{path!r} is longer than the {MAX_BYTES:,} bytes that are edited by hand.",
            hint="Ask the agent to change it, or to split it.",
            path=path,
            limit_bytes=MAX_BYTES,
        )


def _edited(blobs: FolderBlobs, tree: Tree, path: str, edit: Edit) -> Entry | None:
    """The file as it is afterwards; None: it is as it was."""
    old = tree.by_path.get(path)
    if old is not None and old.kind != "file":
        raise PathRefused(f"{path!r} is not a regular file.", path=path)
    demand_editable(path, 0 if old is None else old.size)
    before = None if old is None else content_of(blobs, old)
    after = edit(before)
    if after is None or after == before:
        return None
    mode, blob = FILE_MODE if old is None else old.mode, blobs.put(after) if after else ""
    now_ms = time.time_ns() // 1_000_000
    return Entry(path, "file", mode, len(after), now_ms, hashlib.sha256(after).hexdigest(), blob)


def _missing_folders(tree: Tree, path: str, now_ms: int) -> list[Entry]:
    parents = [parent.as_posix() for parent in PurePosixPath(path).parents][:-1]
    for parent in parents:
        there = tree.by_path.get(parent)
        if there is not None and there.kind != "directory":
            raise PathRefused(f"{parent!r} is not a folder.", path=path)
    return [Entry(parent, "directory", FOLDER_MODE, 0, now_ms) for parent in parents if parent not in tree.by_path]
