"""Changes below a folder.

Reported as `create`, `write`, `remove`, `chmod` and `rename` (of the old name; the new one is a `create`) with the path
below the folder, and `overflow` if there were too many to report. A temporary file that the server renames is reported
as a write of its target.
"""

from __future__ import annotations

import os
import stat
from collections import deque

from .effects import Refused
from .file_facts import readable, refused
from .files import TEMPORARY_NEW, TEMPORARY_OLD
from .inotify import (
    ATTRIB,
    CREATE,
    DELETE,
    DELETE_SELF,
    IGNORED,
    ISDIR,
    MODIFY,
    MOVE_SELF,
    MOVED_FROM,
    MOVED_TO,
    Q_OVERFLOW,
    UNMOUNT,
    Inotify,
)
from .loop import READ, Loop
from .sessions import Session

TYPE_CHECKING = False  # importing `typing` would cost every sandbox 3 ms of its start
if TYPE_CHECKING:
    from typing import Any, Optional

    from .loop import Timer
    from .main import Connection

MAX_WAITING = 8192
PAGE = 250  # fits into a frame even with the longest paths
MAX_FOLDERS = 20_000
FOLDERS_AT_ONCE = 200
LOST_AFTER_S = 0.1
HIDDEN = (TEMPORARY_NEW, TEMPORARY_OLD)


class Folder:
    """A folder that is watched, or about to be: `number` is the kernel's, -1 for none. A tree of names instead of a
    table of paths, so that the cost of a rename does not depend on the contents."""

    __slots__ = ("below", "name", "number", "parent")

    def __init__(self, parent: Optional[Folder], name: str) -> None:
        self.parent = parent
        self.name = name
        self.number = -1
        self.below: dict[str, Folder] = {}
        if parent is not None:
            parent.below[name] = self

    def path(self, name: str = "") -> str:
        """The path of the folder, or of an entry in it, relative to the top."""
        names = [name] if name else []
        folder: Optional[Folder] = self
        while folder is not None and folder.parent is not None:
            names.append(folder.name)
            folder = folder.parent
        return "/".join(reversed(names))

    def leave(self) -> None:
        """Remove it from its parent."""
        if self.parent is not None and self.parent.below.get(self.name) is self:
            del self.parent.below[self.name]

    def move(self, parent: Folder, name: str) -> None:
        self.leave()
        self.parent, self.name = parent, name
        parent.below[name] = self


class Watching(Session):
    """One watched folder. Raises `Refused`, OSError."""

    def __init__(self, loop: Loop, connection: Connection, path: str, recursive: bool) -> None:
        if not stat.S_ISDIR(os.stat(path).st_mode):
            raise Refused("path_refused", f"{readable(path)!r} is not a folder", hint="")
        self._loop = loop
        self._connection = connection
        self._place = path
        self._recursive = recursive
        self._top = Folder(None, "")
        self._folders: dict[int, Folder] = {}
        self._to_scan: deque[tuple[Folder, bool]] = deque()
        self._scanner: Optional[Timer] = None
        self._moved: dict[int, tuple[Optional[Folder], str]] = {}
        self._waiting: deque[tuple[str, str]] = deque()
        self._asked = self._started = self._ended = False
        self._inotify: Optional[Inotify] = Inotify()

    def start(self) -> None:
        """Answered once all folders are watched. Raises OSError."""
        assert self._inotify is not None
        self._watch(self._top, self._inotify.add(self._place, follow=True))
        self._loop.add(self._inotify.fd, READ, self._ready)
        if self._recursive:
            self._to_scan.append((self._top, False))
        self._scan()

    def proceed(self, _request: dict[str, Any], _payload: bytes) -> None:
        self._asked = True
        self._report()

    def close(self) -> None:
        if self._scanner is not None:
            self._scanner.cancel()
        inotify, self._inotify = self._inotify, None
        if inotify is not None:
            self._loop.remove(inotify.fd)
            inotify.close()

    def _report(self) -> None:
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

    # The set of watched folders.

    def _watch(self, folder: Folder, number: int) -> None:
        known = self._folders.get(number)
        if known is not None:
            known.number = -1
        folder.number = number
        self._folders[number] = folder

    def _scan_later(self, folder: Folder, report: bool) -> None:
        if self._recursive:
            self._to_scan.append((folder, report))
            if self._scanner is None and self._started:
                self._scanner = self._loop.after(0, self._scan)

    def _scan(self) -> None:
        """Watch the folders found so far and list them, some at a time; then send the response, if it is still due."""
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
        self._report()

    def _scan_one(self, folder: Folder, report: bool) -> None:
        """`report`: the folder appeared after the watch began, so its contents are reported too."""
        full = os.path.join(self._place, folder.path())
        assert self._inotify is not None
        try:
            if folder is not self._top:
                self._watch(folder, self._inotify.add(full))
            with os.scandir(full) as scan:
                entries = sorted(scan, key=lambda entry: entry.name)
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            return
        if len(self._folders) > MAX_FOLDERS:
            raise Refused("arguments_invalid", f"the folder has more than {MAX_FOLDERS} folders; watch a smaller one")
        for entry in entries:
            if report and not entry.name.startswith(HIDDEN):
                self._note("create", folder.path(entry.name))
                if _holds_something(entry):
                    self._note("write", folder.path(entry.name))
            if entry.is_dir(follow_symlinks=False) and entry.name not in folder.below:
                self._to_scan.append((Folder(folder, entry.name), report))

    def _fail(self, error: Exception) -> None:
        """The watch has failed. Before the response it is refused; after that it ends with an overflow."""
        if not self._started:
            self._connection.refuse(error if isinstance(error, Refused) else _no_watch(error, self._place))
        else:
            self._note("overflow", "")
            self._ended = True
            self._report()

    def _forget(self, folder: Folder) -> None:
        """Remove a folder that is gone, with all below it."""
        folder.leave()
        gone = [folder]
        while gone:
            one = gone.pop()
            gone += one.below.values()
            if self._folders.get(one.number) is one and self._inotify is not None:
                del self._folders[one.number]
                self._inotify.remove(one.number)

    # Events of the kernel.

    def _ready(self, _events: int) -> None:
        if self._inotify is None:
            return
        moved = len(self._moved)
        for number, mask, cookie, name in self._inotify.read():
            if not self._ended:
                self._event(number, mask, cookie, name)
        if len(self._moved) > moved:
            cookies = list(self._moved)
            self._loop.after(LOST_AFTER_S, lambda: self._moved_away(cookies))
        self._report()

    def _event(self, number: int, mask: int, cookie: int, name: str) -> None:
        if mask & Q_OVERFLOW:
            self._overflowed()
            return
        folder = self._folders.get(number)
        if folder is None:
            return
        if name:
            self._entry(folder, name, mask, cookie)
        elif mask & (DELETE_SELF | MOVE_SELF | UNMOUNT | IGNORED):
            self._folder_gone(folder, mask)

    def _folder_gone(self, folder: Folder, mask: int) -> None:
        if folder is self._top:
            self._note("rename" if mask & MOVE_SELF else "remove", "")
            self._ended = True
        elif mask & (IGNORED | UNMOUNT):  # its parent reports a move or a removal
            del self._folders[folder.number]
            folder.leave()

    def _entry(self, folder: Folder, name: str, mask: int, cookie: int) -> None:
        path = folder.path(name)
        if mask & MOVED_FROM:
            self._moved[cookie] = (folder.below.pop(name, None), name)
        if mask & MOVED_TO:
            self._arrived(folder, name, cookie, bool(mask & ISDIR))
        elif name.startswith(HIDDEN):
            return
        elif mask & MOVED_FROM:
            self._note("rename", path)
        elif mask & CREATE:
            self._note("create", path)
            if mask & ISDIR:
                self._scan_later(Folder(folder, name), True)
        elif mask & DELETE:
            self._note("remove", path)
        elif mask & MODIFY:
            self._note("write", path)
        elif mask & ATTRIB:
            self._note("chmod", path)

    def _arrived(self, folder: Folder, name: str, cookie: int, is_dir: bool) -> None:
        """An entry was moved here: from below the top, from the server's temporary file, or from elsewhere."""
        path = folder.path(name)
        known, old = self._moved.pop(cookie, (None, ""))
        if not old.startswith(TEMPORARY_OLD):
            self._note("create", path)
        if old.startswith(HIDDEN):
            self._note("write", path)
        replaced = folder.below.get(name)
        if replaced is not None:
            self._forget(replaced)
        if known is not None:
            known.move(folder, name)
        elif is_dir:
            self._scan_later(Folder(folder, name), True)

    def _moved_away(self, cookies: list[int]) -> None:
        for cookie in cookies:
            folder, _ = self._moved.pop(cookie, (None, ""))
            if folder is not None:
                self._forget(folder)

    def _overflowed(self) -> None:
        """Some events are lost: report it, and look for folders that are new or renamed."""
        self._waiting.clear()
        self._note("overflow", "")
        self._moved_away(list(self._moved))
        for folder in list(self._top.below.values()):
            self._forget(folder)
        self._scan_later(self._top, False)


def _holds_something(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file(follow_symlinks=False) and entry.stat(follow_symlinks=False).st_size > 0
    except OSError:
        return False


def _no_watch(error: Exception, path: str) -> Refused:
    if isinstance(error, OSError):
        return refused(error, path)
    return Refused("sandbox_unavailable", str(error))
