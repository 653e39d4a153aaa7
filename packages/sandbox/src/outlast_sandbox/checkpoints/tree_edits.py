"""Files of a workspace without a sandbox: a tree from given files, and an edited copy of a tree."""

import hashlib
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import PurePosixPath
from typing import Final

from outlast_sandbox.checkpoints.blobs import Blobs
from outlast_sandbox.checkpoints.contents import content_of
from outlast_sandbox.checkpoints.folder_walk import Content
from outlast_sandbox.checkpoints.manifests import write_tree
from outlast_sandbox.checkpoints.packs import store_batch
from outlast_sandbox.checkpoints.tree import Entry, Tree
from outlast_sandbox.errors import InputTooLarge, PathRefused

Edit = Callable[[bytes | None], bytes | None]
"""Takes a file's content (None if it is missing) and returns the new one (None for a missing file leaves it
missing)."""

MAX_BYTES: Final = 10_000_000  # of a file that is edited; large enough for attached pictures
FILE_MODE: Final = 0o644
FOLDER_MODE: Final = 0o755
_NO_FOLDER: Final = -1
_ANY_SIZE: Final = 1 << 62


def tree_of_files(blobs: Blobs, files: Mapping[str, bytes], written_ms: int) -> Tree:
    """The tree of these files by path, all with one modification time (ms since 1970), stored with their contents.
    Equal files give equal trees. Blocks. Raises `DiskFull`."""
    contents = {path: Content(hashlib.sha256(data).hexdigest(), len(data), data) for path, data in files.items()}
    stored = store_batch(blobs, _NO_FOLDER, contents, {}, _ANY_SIZE)
    if stored.pack is not None:
        blobs.put(stored.pack)
    entries = [Entry(path, "directory", FOLDER_MODE, 0, written_ms) for path in _folders(contents)]
    for path, content in contents.items():
        blob, offset = stored.places.get(content.sha256, ("", 0))
        entries.append(Entry(path, "file", FILE_MODE, content.size, written_ms, content.sha256, blob, offset))
    return write_tree(blobs, Tree.of(entries))


def edited_tree(blobs: Blobs, tree: Tree, edits: Mapping[str, Edit]) -> Tree | None:
    """The tree after the edits of its files, by path, stored under its name, or None if nothing changed. Raises
    `PathRefused` if a path cannot be a regular file, `InputTooLarge` (a file of more than 10 MB), `DiskFull`,
    `StoredFileDamaged`, the error of the blobs for a missing blob, and errors of an edit. Blocks."""
    edited = tree
    changed = {path: entry for path, edit in edits.items() if (entry := _apply_edit(blobs, tree, path, edit))}
    if not changed:
        return None
    for path, entry in changed.items():
        others = [one for one in edited.entries if one.path != path]
        edited = Tree.of([*others, *_missing_folders(edited, path, entry.mtime_ms), entry])
    return write_tree(blobs, edited, tree)


def demand_editable(path: str, size: int) -> None:
    """Raise `InputTooLarge` for a file that is too large to be edited."""
    if size > MAX_BYTES:
        raise InputTooLarge(
            f"{path!r} is larger than {MAX_BYTES:,} bytes, the limit for edits.",
            hint="Ask the agent to edit the file or to split it.",
            path=path,
            limit_bytes=MAX_BYTES,
        )


def _apply_edit(blobs: Blobs, tree: Tree, path: str, edit: Edit) -> Entry | None:
    """The file after the edit, or None if it is unchanged."""
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


def _folders(paths: Iterable[str]) -> set[str]:
    return {parent.as_posix() for path in paths for parent in PurePosixPath(path).parents} - {"."}
