"""Folders of workspaces that were replaced and may hold what no checkpoint has: moved aside, never removed before
their workspace is."""

import os
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Final

KEPT: Final = "kept-workspaces"
"""In the data directory: a folder for each workspace, in it one for each time."""
MAX_ENTRIES: Final = 200_000  # of a folder that is looked through; a larger one counts as newer


def has_newer(folder: Path, time: float) -> bool:
    """Whether a file or link in the folder was changed after a moment (seconds since 1970). Links are not followed.
    At most `MAX_ENTRIES` steps. Blocks."""
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
        except OSError:  # closed to us, or too deep to be seen: nobody knows
            return True
    return False


def move_aside(data_dir: Path, folder: Path, now: datetime) -> Path | None:
    """Move a workspace's folder to where replaced ones are kept: its new place; None: there is none, or it is empty.
    Raises `OSError`. Blocks."""
    with suppress(FileNotFoundError, NotADirectoryError):
        if not os.listdir(folder):
            return None
        place = data_dir / KEPT / folder.name
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        target = place / now.strftime("%Y-%m-%dT%H-%M-%S.%f")
        folder.rename(target)
        return target
    return None
