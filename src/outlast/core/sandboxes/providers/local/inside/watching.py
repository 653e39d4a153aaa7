"""Changes below a folder, by inotify.

Told as `create`, `write`, `remove`, `chmod` and `rename` (of the old name; the new one is a `create`) with the path
below the folder, and `overflow` when there were too many to tell. A file that the server writes beside its place and
renames is told as if it had been written there.
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct
from collections import deque

from .effects import Refused
from .facts import readable, refused
from .files import TEMPORARY_NEW, TEMPORARY_OLD
from .loop import READ, Loop
from .sessions import Session

TYPE_CHECKING = False  # importing `typing` would cost every sandbox 3 ms of its start
if TYPE_CHECKING:
    from typing import Any, Optional

    from .loop import Timer
    from .main import Connection

MODIFY, ATTRIB, MOVED_FROM, MOVED_TO, CREATE, DELETE = 0x2, 0x4, 0x40, 0x80, 0x100, 0x200
DELETE_SELF, MOVE_SELF, UNMOUNT, Q_OVERFLOW, IGNORED = 0x400, 0x800, 0x2000, 0x4000, 0x8000
ONLYDIR, DONT_FOLLOW, EXCL_UNLINK, ISDIR = 0x1000000, 0x2000000, 0x4000000, 0x40000000
WANTED = MODIFY | ATTRIB | MOVED_FROM | MOVED_TO | CREATE | DELETE | DELETE_SELF | MOVE_SELF
ROOT_FLAGS, FOLDER_FLAGS = ONLYDIR | EXCL_UNLINK, ONLYDIR | EXCL_UNLINK | DONT_FOLLOW
EVENT = struct.Struct("iIII")
READ_SIZE = 65536
MAX_WAITING = 8192
PAGE = 250  # fits into a frame, however long the paths
MAX_FOLDERS = 20_000
FOLDERS_AT_ONCE = 200
LOST_AFTER_S = 0.1
IN_CLOEXEC, IN_NONBLOCK = os.O_CLOEXEC, os.O_NONBLOCK


class Watching(Session):
    """One watched folder. Raises `Refused`, OSError."""

    def __init__(self, loop: Loop, connection: Connection, path: str, recursive: bool) -> None:
        if not stat.S_ISDIR(os.stat(path).st_mode):
            raise Refused("path_refused", f"{readable(path)!r} is no folder", hint="")
        self._loop = loop
        self._connection = connection
        self._top = path
        self._recursive = recursive
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._paths: dict[int, str] = {}
        self._numbers: dict[str, int] = {}
        self._to_scan: deque[tuple[str, bool]] = deque()
        self._scanner: Optional[Timer] = None
        self._moved: dict[int, tuple[str, bool]] = {}
        self._waiting: deque[tuple[str, str]] = deque()
        self._asked = self._started = self._ended = False
        self._fd = self._libc.inotify_init1(IN_CLOEXEC | IN_NONBLOCK)
        if self._fd < 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))

    def start(self) -> None:
        """Answered when everything is watched. Raises OSError."""
        try:
            self._add("", ROOT_FLAGS)
        except OSError:
            self.close()
            raise
        self._loop.add(self._fd, READ, self._ready)
        if self._recursive:
            self._to_scan.append(("", False))
        self._scan()

    def proceed(self, _request: dict[str, Any], _payload: bytes) -> None:
        self._asked = True
        self._tell()

    def close(self) -> None:
        if self._scanner is not None:
            self._scanner.cancel()
        fd, self._fd = self._fd, -1
        if fd >= 0:
            self._loop.remove(fd)
            os.close(fd)

    def _tell(self) -> None:
        if not self._asked or not (self._waiting or self._ended):
            return
        self._asked = False
        page = [self._waiting.popleft() for _ in range(min(PAGE, len(self._waiting)))]
        if self._ended and not self._waiting:
            self.close()
            self._connection.finish(changes=page)
        else:
            self._connection.reply(end=False, changes=page)

    def _note(self, kind: str, path: str) -> None:
        change = (kind, readable(path))
        if self._waiting and self._waiting[-1] == change:
            return
        if len(self._waiting) >= MAX_WAITING:
            self._waiting.clear()
            change = ("overflow", "")
        self._waiting.append(change)

    # Which folders are watched.

    def _add(self, path: str, flags: int = FOLDER_FLAGS) -> None:
        """Watch one folder. Raises OSError."""
        full = os.path.join(self._top, path) if path else self._top
        number = self._libc.inotify_add_watch(self._fd, os.fsencode(full), ctypes.c_uint32(WANTED | flags))
        if number < 0:
            error = ctypes.get_errno()
            raise OSError(error, os.strerror(error))
        self._numbers.pop(self._paths.get(number, ""), None)
        self._paths[number] = path
        self._numbers[path] = number

    def _scan(self) -> None:
        """Watch the folders found so far and look into them, some at a time; then answer, if that is still due."""
        self._scanner = None
        try:
            for _ in range(min(FOLDERS_AT_ONCE, len(self._to_scan))):
                self._scan_one(*self._to_scan.popleft())
        except (OSError, Refused) as error:
            self._fail(error)
            return
        if self._to_scan:
            self._scanner = self._loop.after(0, self._scan)
        elif not self._started:
            self._started = True
            self._connection.reply(end=False)
        self._tell()

    def _scan_one(self, path: str, tell: bool) -> None:
        """`tell`: it has come since the watch began, so what is in it has too."""
        full = os.path.join(self._top, path) if path else self._top
        try:
            if path:
                self._add(path)
            with os.scandir(full) as scan:
                entries = sorted(scan, key=lambda entry: entry.name)
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            return
        if len(self._paths) > MAX_FOLDERS:
            raise Refused("arguments_invalid", f"more than {MAX_FOLDERS} folders lie there; watch fewer")
        for entry in entries:
            below = os.path.join(path, entry.name)
            if tell and not entry.name.startswith((TEMPORARY_NEW, TEMPORARY_OLD)):
                self._note("create", below)
                if _holds_something(entry):
                    self._note("write", below)
            if entry.is_dir(follow_symlinks=False):
                self._to_scan.append((below, tell))

    def _fail(self, error: Exception) -> None:
        """The watch cannot be kept up. Before the answer it is refused; after that it ends with an overflow."""
        if not self._started:
            self._connection.refuse(error if isinstance(error, Refused) else _no_watch(error, self._top))
        else:
            self._note("overflow", "")
            self._ended = True
            self._tell()

    def _appeared(self, path: str) -> None:
        """A folder is new: what is in it may have come before it was watched."""
        if self._recursive:
            self._to_scan.append((path, True))
            if self._scanner is None and self._started:
                self._scanner = self._loop.after(0, self._scan)

    def _relabel(self, old: str, new: str) -> None:
        """A watched folder has a new name, and so has all below it."""
        for path in [path for path in self._numbers if path == old or path.startswith(old + "/")]:
            number = self._numbers.pop(path)
            self._paths[number] = new + path[len(old) :]
            self._numbers[self._paths[number]] = number
        for _ in range(len(self._to_scan)):
            path, tell = self._to_scan.popleft()
            inside = path == old or path.startswith(old + "/")
            self._to_scan.append((new + path[len(old) :] if inside else path, tell))

    def _forget(self, old: str) -> None:
        """A watched folder was moved away, with all below it."""
        for path in [path for path in self._numbers if path == old or path.startswith(old + "/")]:
            number = self._numbers.pop(path)
            self._paths.pop(number, None)
            self._libc.inotify_rm_watch(self._fd, number)

    # What the kernel tells.

    def _ready(self, _events: int) -> None:
        try:
            data = os.read(self._fd, READ_SIZE)
        except OSError:
            return
        start = 0
        while start < len(data) and not self._ended:
            number, mask, cookie, size = EVENT.unpack_from(data, start)
            start += EVENT.size + size
            name = os.fsdecode(data[start - size : start].rstrip(b"\0"))
            self._event(number, mask, cookie, name)
        if self._moved:
            moved = list(self._moved)
            self._loop.after(LOST_AFTER_S, lambda: self._moved_away(moved))
        self._tell()

    def _event(self, number: int, mask: int, cookie: int, name: str) -> None:
        if mask & Q_OVERFLOW:
            self._overflowed()
            return
        folder = self._paths.get(number)
        if folder is None:
            return
        if mask & (DELETE_SELF | MOVE_SELF | UNMOUNT | IGNORED):
            self._folder_gone(number, folder, mask)
        elif name:
            self._entry(os.path.join(folder, name), name, mask, cookie)

    def _folder_gone(self, number: int, folder: str, mask: int) -> None:
        if folder == "":
            self._note("rename" if mask & MOVE_SELF else "remove", "")
            self._ended = True
        elif not mask & MOVE_SELF:  # its parent tells of a move
            self._paths.pop(number, None)
            if self._numbers.get(folder) == number:
                del self._numbers[folder]

    def _entry(self, path: str, name: str, mask: int, cookie: int) -> None:
        is_dir = bool(mask & ISDIR)
        hidden = name.startswith((TEMPORARY_NEW, TEMPORARY_OLD))
        if mask & MOVED_FROM:
            self._moved[cookie] = (path, is_dir)
        if mask & MOVED_TO:
            self._arrived(path, cookie, is_dir)
        elif hidden:
            return
        elif mask & MOVED_FROM:
            self._note("rename", path)
        elif mask & CREATE:
            self._note("create", path)
            if is_dir:
                self._appeared(path)
        elif mask & DELETE:
            self._note("remove", path)
        elif mask & MODIFY:
            self._note("write", path)
        elif mask & ATTRIB:
            self._note("chmod", path)

    def _arrived(self, path: str, cookie: int, is_dir: bool) -> None:
        """Something was moved to `path`: from below the folder, from beside it by the server, or from elsewhere."""
        old, was_dir = self._moved.pop(cookie, ("", False))
        name = os.path.basename(old)
        if not name.startswith(TEMPORARY_OLD):
            self._note("create", path)
        if name.startswith((TEMPORARY_NEW, TEMPORARY_OLD)):
            self._note("write", path)
        elif was_dir:
            self._relabel(old, path)
        elif is_dir:
            self._appeared(path)

    def _moved_away(self, cookies: list[int]) -> None:
        for cookie in cookies:
            path, is_dir = self._moved.pop(cookie, ("", False))
            if is_dir and self._fd >= 0:
                self._forget(path)

    def _overflowed(self) -> None:
        """Some events are lost for good: say so, and watch the folders that are new."""
        self._waiting.clear()
        self._note("overflow", "")
        if self._recursive:
            self._to_scan.append(("", False))
            if self._scanner is None and self._started:
                self._scanner = self._loop.after(0, self._scan)


def _holds_something(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file(follow_symlinks=False) and entry.stat(follow_symlinks=False).st_size > 0
    except OSError:
        return False


def _no_watch(error: Exception, path: str) -> Refused:
    if isinstance(error, OSError):
        return refused(error, path)
    return Refused("sandbox_unavailable", str(error))
