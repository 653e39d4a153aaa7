"""Removing a workspace's folder, whatever an agent has put into it."""

import os
import shutil
from contextlib import suppress
from pathlib import Path


def remove_folder(folder: Path) -> None:
    """Remove it with all in it; fine when it is not there. Symbolic links are removed, never followed; folders that an
    agent closed are opened first. Blocks; may be repeated. Raises `OSError` when something cannot be removed."""
    if not os.path.lexists(folder):
        return
    try:
        shutil.rmtree(folder)
    except PermissionError:
        _open_all(folder)
        shutil.rmtree(folder)


def _open_all(folder: Path) -> None:
    """Without the right to write into a folder nothing in it can be removed, and its owner may take that right."""
    os.chmod(folder, 0o700)
    for root, inner, _ in os.walk(folder):
        for name in inner:
            path = os.path.join(root, name)
            if not os.path.islink(path):
                with suppress(OSError):
                    os.chmod(path, 0o700)
