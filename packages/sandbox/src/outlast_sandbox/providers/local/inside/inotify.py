"""The subset of inotify that the agent needs."""

from __future__ import annotations

import os
import struct

TYPE_CHECKING = False  # importing `typing` would cost every sandbox 3 ms of its start
if TYPE_CHECKING:
    from typing import Iterator

MODIFY, ATTRIB, MOVED_FROM, MOVED_TO, CREATE, DELETE = 0x2, 0x4, 0x40, 0x80, 0x100, 0x200
DELETE_SELF, MOVE_SELF, UNMOUNT, Q_OVERFLOW, IGNORED = 0x400, 0x800, 0x2000, 0x4000, 0x8000
ONLYDIR, DONT_FOLLOW, EXCL_UNLINK, ISDIR = 0x1000000, 0x2000000, 0x4000000, 0x40000000
WANTED = MODIFY | ATTRIB | MOVED_FROM | MOVED_TO | CREATE | DELETE | DELETE_SELF | MOVE_SELF
EVENT = struct.Struct("iIII")
READ_SIZE = 65536


class Inotify:
    """One queue of events. Its calls and constructor raise OSError."""

    def __init__(self) -> None:
        import ctypes  # only here: it would cost every sandbox some ms of its start

        self._libc, self._errno = ctypes.CDLL(None, use_errno=True), ctypes.get_errno
        self._libc.inotify_add_watch.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_uint32)
        self.fd = self._checked(self._libc.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK))

    def add(self, path: str, follow: bool = False) -> int:
        """Watch a folder and return its number in events; a watched folder keeps its number."""
        mask = WANTED | ONLYDIR | EXCL_UNLINK | (0 if follow else DONT_FOLLOW)
        return self._checked(self._libc.inotify_add_watch(self.fd, os.fsencode(path), mask))

    def remove(self, number: int) -> None:
        """Stop watching; a folder that is no longer watched is ignored."""
        self._libc.inotify_rm_watch(self.fd, number)

    def read(self) -> Iterator[tuple[int, int, int, str]]:
        """(number of the folder, mask, cookie, name in it) of each waiting event; empty if there are none."""
        try:
            data = os.read(self.fd, READ_SIZE)
        except BlockingIOError:
            return
        start = 0
        while start < len(data):
            number, mask, cookie, size = EVENT.unpack_from(data, start)
            start += EVENT.size + size
            yield number, mask, cookie, os.fsdecode(data[start - size : start].rstrip(b"\0"))

    def close(self) -> None:
        os.close(self.fd)

    def _checked(self, result: int) -> int:
        if result < 0:
            number = self._errno()
            raise OSError(number, os.strerror(number))
        return result
