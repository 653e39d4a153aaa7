"""Disk usage of a workspace, measured from outside, so that a sleeping sandbox is not woken."""

import os
import stat
from collections.abc import Collection
from functools import partial
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread

from outlast_sandbox.clock import Clock

FRESH_S: Final = 10.0
MAX_ENTRIES: Final = 200_000
AT_A_TIME: Final = 2


class DiskUsage:
    """Recent measurements in memory, by folder."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._found: dict[Path, tuple[float, int | None]] = {}
        self._limiter = anyio.CapacityLimiter(AT_A_TIME)

    async def of(self, folder: Path, without: Collection[str] = ()) -> int | None:
        """Bytes on disk of the folder except the folders `without`, measured within the last ten seconds, or None if it
        is missing. Only the first 200,000 files count."""
        now = self._clock.monotonic()
        measured = self._found.get(folder)
        if measured is not None and now - measured[0] <= FRESH_S:
            return measured[1]
        measure = partial(disk_bytes, folder, without=without)
        used = await anyio.to_thread.run_sync(measure, limiter=self._limiter)
        fresh = {one: known for one, known in self._found.items() if now - known[0] <= FRESH_S}
        self._found = {**fresh, folder: (now, used)}  # drops old entries, so that it does not grow forever
        return used


def disk_bytes(folder: Path, most_entries: int = MAX_ENTRIES, *, without: Collection[str] = ()) -> int | None:
    """`without` are relative paths of folders that do not count. Blocks. Symbolic links are counted, never followed;
    unreadable files and folders count as zero."""
    if not folder.is_dir():
        return None
    total, seen, waiting = 0, 0, [os.fspath(folder)]
    left_out = {os.path.join(folder, path) for path in without}
    while waiting and seen < most_entries:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    facts = entry.stat(follow_symlinks=False)
                    total += facts.st_blocks * 512
                    seen += 1
                    if stat.S_ISDIR(facts.st_mode) and entry.path not in left_out:
                        waiting.append(entry.path)
        except OSError:
            continue
    return total
