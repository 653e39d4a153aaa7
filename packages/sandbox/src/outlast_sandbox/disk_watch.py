"""Detects a sandbox that uses more of this machine's disk than allowed, from outside, also while no command runs.

Checks are cheap: while a file system has lost less space than a sandbox may still use, that sandbox cannot be over its
limit, and no walk is needed.
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

LONGEST_UNSEEN_S: Final = 20.0  # other programs may free space while a sandbox takes it
BUSY_UNSEEN_S: Final = 2.0  # if the file system does not report free inodes
MIN_PAUSE_S: Final = 0.2
PAUSE_PER_WALK: Final = 10  # after each walk, pause this many times its duration
MEBIBYTE: Final = 1024 * 1024
MIN_MARGIN: Final = 16 * MEBIBYTE
MAX_FILES: Final = 200_000  # as many as a checkpoint holds
FEW_FILES: Final = 1000


@dataclass(frozen=True, slots=True)
class Room:
    """The free space of a file system: bytes, and files (None if it does not report them)."""

    bytes: int
    files: int | None


def rooms(folders: Sequence[Path]) -> list[Room | None]:
    """The free space of each folder's file system, or None if the folder does not exist. Blocks for microseconds."""
    free: list[Room | None] = []
    for folder in folders:
        try:
            facts = os.statvfs(folder)
        except OSError:
            free.append(None)
            continue
        files = facts.f_ffree if facts.f_files else None
        free.append(Room(facts.f_bfree * facts.f_frsize, files))
    return free


def most_on_disk(disk_bytes: int, began: DiskUse) -> DiskUse:
    """A sandbox that uses more is over its limit, given its limit and its usage when it woke: a sixteenth more than the
    limit, as its commands are ended at the limit itself. One that starts above the limit may stay there, so that files
    can be removed, but may not grow."""
    most = disk_bytes + max(disk_bytes // 16, MIN_MARGIN)
    return DiskUse(max(most, began.bytes + MEBIBYTE), max(MAX_FILES, began.entries + FEW_FILES))


@dataclass(slots=True)
class DiskWatch:
    """An awake sandbox, which may use `disk_bytes` in its `folders`. `most`: with more it is over its limit (None
    before the first walk); `used` and `room` are from the last walk, at `walked_at` (monotonic)."""

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
        """True if the last walk found a usage over the limit."""
        return self.most is not None and self.used.exceeds(self.most)

    def is_due(self, room: Room) -> bool:
        """True if a walk is due, given the free space."""
        now = time.monotonic()
        if now < self.not_before:
            return False
        if self.room is None or self.may_exceed(room):
            return True
        unseen_s = BUSY_UNSEEN_S if room.files is None else LONGEST_UNSEEN_S
        return now - self.walked_at > unseen_s

    def may_exceed(self, room: Room) -> bool:
        """True if the sandbox is over its limit in case it took all space lost since the last walk."""
        if self.most is None or self.room is None:
            return False
        taken = max(0, self.room.bytes - room.bytes)
        made = 0 if self.room.files is None or room.files is None else max(0, self.room.files - room.files)
        return DiskUse(self.used.bytes + taken, self.used.entries + made).exceeds(self.most)

    async def walk(self, room: Room, limiter: anyio.CapacityLimiter) -> None:
        """Measure it again, in a worker thread. The first walk sets the limit."""
        began, ceiling = time.monotonic(), self.most or DiskUse(self.disk_bytes * 4, 1_000_000)
        processes = self.sandbox.process_ids() if self.most is not None else []
        walk = partial(measure, self.folders, ceiling, processes)
        self.used = await anyio.to_thread.run_sync(walk, limiter=limiter)
        self.most = self.most or most_on_disk(self.disk_bytes, self.used)
        self.room, self.walked_at = room, time.monotonic()
        self.rest((self.walked_at - began) * PAUSE_PER_WALK)

    def rest(self, seconds: float) -> None:
        """Make it not due again for at least this many seconds."""
        self.not_before = time.monotonic() + max(MIN_PAUSE_S, seconds)
