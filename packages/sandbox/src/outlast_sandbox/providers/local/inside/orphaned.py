"""Detects that a container has no server left: the agent, its first process, then ends, and the container with it.

A server holds a lock, which the kernel releases when the server's process ends. The agent received a descriptor of the
locked file that can test the lock; the file is not visible in the container.
"""

from __future__ import annotations

import os
import struct
import time

from .loop import Loop

MIN_LOOK_S = 0.05
LOOK_S = 30.0


class ServerWatch:
    """Stops the loop `end_after_s` after the last server was seen. Time while the container slept counts: a server that
    wakes it is running."""

    def __init__(self, loop: Loop, fd: int, end_after_s: float) -> None:
        self._loop = loop
        self._fd = fd
        self._end_after_s = end_after_s
        self._gone_at = -1.0
        self._look_later(min(LOOK_S, end_after_s))

    def _look_later(self, seconds: float) -> None:
        self._loop.after(max(seconds, MIN_LOOK_S), self._look)

    def _look(self) -> None:
        now = time.monotonic()
        if is_locked(self._fd):
            self._gone_at = -1.0
            self._look_later(min(LOOK_S, self._end_after_s))
            return
        if self._gone_at < 0:
            self._gone_at = now
        left_s = self._gone_at + self._end_after_s - now
        if left_s > 0:
            self._look_later(min(LOOK_S, left_s))
            return
        os.write(2, b"no server returned\n")
        self._loop.stop()


def is_locked(fd: int) -> bool:
    """True if a process holds the lock on that file, or if that is unknown."""
    import fcntl  # only here: it loads a shared library

    try:
        query = struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0)
        answer = fcntl.fcntl(fd, fcntl.F_OFD_GETLK, query)  # type: ignore[attr-defined, unused-ignore]
        lock_type: int = struct.unpack("hhqqi4x", answer)[0]
        return lock_type != fcntl.F_UNLCK
    except OSError:
        return True
