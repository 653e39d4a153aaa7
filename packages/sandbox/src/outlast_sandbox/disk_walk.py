"""Disk usage of a folder, measured from outside, even if hostile code has written it."""

import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from outlast_sandbox.folders import each_folder

MAX_DESCRIPTORS: Final = 50_000
BLOCK: Final = 512
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class DiskUse:
    """Bytes on disk, and files and folders."""

    bytes: int = 0
    entries: int = 0

    def exceeds(self, most: "DiskUse") -> bool:
        return self.bytes > most.bytes or self.entries > most.entries


def measure(folders: Iterable[Path], most: DiskUse, processes: Iterable[int] = ()) -> DiskUse:
    """The usage of the folders, and of files that `processes` have deleted but hold open. Blocks; stops soon after
    `most` is exceeded. Links are not followed, a file with several names counts once, and folders may be nested to any
    depth. Unreadable files and folders do not count, nor do the contents of folders that are moved meanwhile."""
    walk = _Walk(most)
    for folder in folders:
        with suppress(OSError):
            top = os.open(folder, _FOLDER)
            try:
                walk.below(top)
            finally:
                os.close(top)
    for pid in processes:
        walk.deleted_files(pid)
    return DiskUse(walk.bytes, walk.entries)


class _Walk:
    def __init__(self, most: DiskUse) -> None:
        self._most = most
        self._seen: set[tuple[int, int]] = set()
        self._devices: set[int] = set()
        self._descriptors = 0
        self.bytes = self.entries = 0

    def below(self, top: int) -> None:
        self._devices.add(os.fstat(top).st_dev)
        for folder in each_folder(top):
            with suppress(OSError), os.scandir(folder) as entries:
                for entry in entries:
                    with suppress(OSError):
                        self._count(entry.stat(follow_symlinks=False))
                    if self._enough():
                        return

    def deleted_files(self, pid: int) -> None:
        """The usage of files without a name."""
        with suppress(OSError):
            for name in os.listdir(f"/proc/{pid}/fd"):
                self._descriptors += 1
                if self._descriptors > MAX_DESCRIPTORS or self._enough():
                    return
                with suppress(OSError):
                    facts = os.stat(f"/proc/{pid}/fd/{name}")
                    if stat.S_ISREG(facts.st_mode) and not facts.st_nlink and facts.st_dev in self._devices:
                        self._count(facts)

    def _enough(self) -> bool:
        return self.bytes > self._most.bytes or self.entries > self._most.entries

    def _count(self, facts: os.stat_result) -> None:
        if facts.st_nlink != 1 and not stat.S_ISDIR(facts.st_mode):
            identity = (facts.st_dev, facts.st_ino)
            if identity in self._seen:
                self.entries += facts.st_nlink > 0  # one more name
                return
            self._seen.add(identity)
        self.bytes += facts.st_blocks * BLOCK
        self.entries += 1
