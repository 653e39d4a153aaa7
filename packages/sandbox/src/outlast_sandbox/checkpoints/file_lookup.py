"""Checks which of some paths are files of a workspace now, without waking its sandbox."""

import os
import stat
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path

from outlast_sandbox.checkpoints.safe_open import open_beneath, open_folder
from outlast_sandbox.checkpoints.tree import Tree


def files_in_folder(folder: Path, paths: Iterable[str]) -> frozenset[str]:
    """Those of the paths that are regular files below the folder; links are not followed. Blocks."""
    try:
        root = open_folder(folder)
    except OSError:
        return frozenset()
    try:
        return frozenset(path for path in paths if _is_file(root, path))
    finally:
        os.close(root)


def files_in_tree(tree: Tree, paths: Collection[str]) -> frozenset[str]:
    """Those of the paths that are regular files of the checkpoint."""
    known = tree.by_path
    return frozenset(path for path in paths if path in known and known[path].kind == "file")


def _is_file(root: int, path: str) -> bool:
    with suppress(OSError, ValueError):
        descriptor = open_beneath(root, path, os.O_RDONLY)
        try:
            return stat.S_ISREG(os.fstat(descriptor).st_mode)
        finally:
            os.close(descriptor)
    return False
