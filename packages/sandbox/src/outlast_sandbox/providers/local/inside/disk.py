"""Watches the disk usage of the workspace while processes run, and ends them if it exceeds the limit. In a workspace
that was full before, only processes that fill it further are ended: those that remove files may take their time.

A file system quota would be exact, but needs privileges and a file system that the host may not have. So `du` runs
every few seconds; in between, a command can overshoot by the amount that it writes in that time, and one file by at
most the same limit (RLIMIT_FSIZE).
"""

from __future__ import annotations

import os
import time

from .commands import WORKSPACE
from .effects import Refused
from .loop import Loop
from .spawner import Child, Spawner

TYPE_CHECKING = False  # importing `typing` would cost every sandbox 3 ms of its start
if TYPE_CHECKING:
    from typing import Callable, Sequence, Union

    from .effects import Effect
    from .processes import Process

    Running = Union[Effect, Process]

FIRST_LOOK_S = 1.0
MIN_PAUSE_S = 2.0
PAUSE_PER_LOOK = 20  # after each run of `du`, pause this many times its duration
DU = "/usr/bin/du"


class DiskWatch:
    """Measures while any effect or interactive process runs, and once more after it ended, so that `used` is about
    right between commands."""

    def __init__(
        self,
        loop: Loop,
        spawner: Spawner,
        running: Callable[[], Sequence[Running]],
        limit: int,
        also: Sequence[str] = (),
    ) -> None:
        self._loop = loop
        self._spawner = spawner
        self._running = running
        self._limit = limit
        self._folders = [WORKSPACE, *also]
        self._scheduled = False
        self._used = 0
        self._is_start_known = False  # `used` was measured since the last process was started or ended

    def wake(self) -> None:
        """Start measuring: a process starts to run."""
        if not self._scheduled:
            self._scheduled, self._is_start_known = True, False
            self._loop.after(0.0 if self._used > self._limit else FIRST_LOOK_S, self._look)

    def check_room(self, size: int) -> None:
        """Raise `Refused` if `size` more bytes do not fit. Measures again before it refuses: files may have been
        removed."""
        if self._used + size > self._limit:
            read_end, child = self._start()
            self._take(read_end)
            os.waitpid(child.pid, 0)
        if self._used + size > self._limit:
            raise Refused("disk_full", f"the workspace uses {self._used >> 20} MiB of {self._limit >> 20} MiB")
        self._used += size

    def _look(self) -> None:
        started = time.monotonic()
        try:
            read_end, child = self._start()
        except OSError:  # no process could be started: measured again later
            self._pause(started)
            return
        self._loop.on_exit(child.pid, lambda _code: self._measured(read_end, started))

    def _start(self) -> tuple[int, Child]:
        read_end, write_end = os.pipe()
        null = os.open("/dev/null", os.O_RDWR)
        try:
            return read_end, self._spawner.spawn([DU, "-sxB1", *self._folders], {}, "/", (null, write_end, null))
        except OSError:
            os.close(read_end)
            raise
        finally:
            os.close(write_end)
            os.close(null)

    def _take(self, read_end: int) -> None:
        sizes = [line.split()[0] for line in os.read(read_end, 4096).splitlines()]
        os.close(read_end)
        if sizes and all(size.isdigit() for size in sizes):
            self._used = sum(int(size) for size in sizes)

    def _measured(self, read_end: int, started: float) -> None:
        before, is_start_known = self._used, self._is_start_known
        self._take(read_end)
        is_filled = before <= self._limit or (is_start_known and self._used > before)
        self._is_start_known = True
        if self._used > self._limit and is_filled:
            for running in self._running():
                running.stop("disk")
            self._is_start_known = False  # they may still write until they end
        self._pause(started)

    def _pause(self, started: float) -> None:
        if self._running():
            spent = time.monotonic() - started
            self._loop.after(max(MIN_PAUSE_S, PAUSE_PER_LOOK * spent), self._look)
        else:
            self._scheduled = False
