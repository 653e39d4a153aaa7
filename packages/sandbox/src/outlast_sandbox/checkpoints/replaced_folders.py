"""Replaced folders of workspaces, which may hold files that no checkpoint has: moved aside, and removed only with their
workspace."""

import os
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Final

KEPT: Final = "kept-workspaces"
"""A folder in the data directory: it has a folder for each workspace, which has one for each replacement."""
MAX_ENTRIES: Final = 200_000  # that are checked in a folder; a larger one counts as newer


def has_newer(folder: Path, time: float) -> bool:
    """True if a file or link in the folder was changed after a moment (seconds since 1970). Links are not followed.
    Checks at most `MAX_ENTRIES` entries. Blocks."""
    waiting, seen = [folder], 0
    while waiting:
        at = waiting.pop()
        try:
            with os.scandir(at) as entries:
                for entry in entries:
                    seen += 1
                    if seen > MAX_ENTRIES:
                        return True
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(Path(entry.path))
                    elif entry.stat(follow_symlinks=False).st_mtime > time:
                        return True
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError:  # not readable, or too deep: counts as newer
            return True
    return False


def move_aside(data_dir: Path, folder: Path, now: datetime) -> Path | None:
    """Move a workspace's folder to the replaced ones and return its new path, or None if it is missing or empty. Raises
    `OSError`. Blocks."""
    with suppress(FileNotFoundError, NotADirectoryError):
        if not os.listdir(folder):
            return None
        place = data_dir / KEPT / folder.name
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        target = place / now.strftime("%Y-%m-%dT%H-%M-%S.%f")
        folder.rename(target)
        return target
    return None
