"""Whether a sandbox holds more of this machine's disk than it may, seen from outside, also while no command runs.

It is cheap: as long as a file system has not lost as much room as a sandbox still may take, that sandbox cannot be over
its limit, and nothing is walked.
"""

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread

from outlast_sandbox.disk_walk import DiskUse, measure
from outlast_sandbox.interface import Sandbox

LONGEST_UNSEEN_S: Final = 20.0  # others may free the room that a sandbox takes
BUSY_UNSEEN_S: Final = 2.0  # where the file system does not tell how many files it has room for
MIN_PAUSE_S: Final = 0.2
PAUSE_PER_WALK: Final = 10  # walking takes at most this share of the time
MEBIBYTE: Final = 1024 * 1024
MIN_MARGIN: Final = 16 * MEBIBYTE
MAX_FILES: Final = 200_000  # as many as a checkpoint holds
FEW_FILES: Final = 1000


@dataclass(frozen=True, slots=True)
class Room:
    """What a file system has left: bytes, and files (None: it does not say)."""

    bytes: int
    files: int | None


def rooms(folders: Sequence[Path]) -> list[Room | None]:
    """For each folder the room on its file system; None: the folder does not exist. Blocks for microseconds."""
    found: list[Room | None] = []
    for folder in folders:
        try:
            facts = os.statvfs(folder)
        except OSError:
            found.append(None)
            continue
        files = facts.f_ffree if facts.f_files else None
        found.append(Room(facts.f_bfree * facts.f_frsize, files))
    return found


def most_on_disk(disk_bytes: int, began: DiskUse) -> DiskUse:
    """With more than this a sandbox is over its limit, given what it may hold and what it held when it woke: a
    sixteenth more, as its commands are ended at the limit itself. One that begins above may stay there, so that what is
    too much can be removed, and may not grow."""
    most = disk_bytes + max(disk_bytes // 16, MIN_MARGIN)
    return DiskUse(max(most, began.bytes + MEBIBYTE), max(MAX_FILES, began.entries + FEW_FILES))


@dataclass(slots=True)
class DiskWatch:
    """An awake sandbox, which may hold `disk_bytes` in its `folders`. `most`: with more it is over its limit (None: it
    was not walked yet); `used` and `room` are from the last walk, at `walked_at` (monotonic)."""

    sandbox: Sandbox
    folders: Sequence[Path]
    disk_bytes: int
    most: DiskUse | None = None
    used: DiskUse = field(default_factory=DiskUse)
    room: Room | None = None
    walked_at: float = float("-inf")
    not_before: float = float("-inf")

    @property
    def is_over(self) -> bool:
        """Whether the last walk found too much."""
        return self.most is not None and self.used.exceeds(self.most)

    def is_due(self, room: Room) -> bool:
        """Whether to walk now, given the room that is left."""
        now = time.monotonic()
        if now < self.not_before:
            return False
        if self.room is None or self.may_exceed(room):
            return True
        unseen_s = BUSY_UNSEEN_S if room.files is None else LONGEST_UNSEEN_S
        return now - self.walked_at > unseen_s

    def may_exceed(self, room: Room) -> bool:
        """Whether it is over its limit if all room that is gone since the last walk was taken by it."""
        if self.most is None or self.room is None:
            return False
        taken = max(0, self.room.bytes - room.bytes)
        made = 0 if self.room.files is None or room.files is None else max(0, self.room.files - room.files)
        return DiskUse(self.used.bytes + taken, self.used.entries + made).exceeds(self.most)

    async def walk(self, room: Room, limiter: anyio.CapacityLimiter) -> None:
        """Measure it anew, in a worker thread. The first walk decides what is too much."""
        began, ceiling = time.monotonic(), self.most or DiskUse(self.disk_bytes * 4, 1_000_000)
        processes = self.sandbox.process_ids() if self.most is not None else []
        walk = partial(measure, self.folders, ceiling, processes)
        self.used = await anyio.to_thread.run_sync(walk, limiter=limiter)
        self.most = self.most or most_on_disk(self.disk_bytes, self.used)
        self.room, self.walked_at = room, time.monotonic()
        self.rest((self.walked_at - began) * PAUSE_PER_WALK)

    def rest(self, seconds: float) -> None:
        """It is not due again for so long, at least."""
        self.not_before = time.monotonic() + max(MIN_PAUSE_S, seconds)
