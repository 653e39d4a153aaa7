"""Trees of folders that an agent has filled, walked and removed: names of any bytes, folders nested to any depth."""

import errno
import os
import stat
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Final

OPEN_MODE: Final = 0o700
_READ: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER: Final = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def remove_folder(folder: Path) -> None:
    """Remove it with all its contents; a missing folder is ignored. Symbolic links are removed, never followed; folders
    without permissions are opened first. Blocks; idempotent.

    Takes a few system calls per entry, three descriptors, and memory for the names of one folder and of the folders
    that are not done yet, at any depth. Raises the first `OSError` if something cannot be removed, after everything
    else is removed."""
    remove_tree(os.fspath(folder))


def remove_tree(name: str, *, dir_fd: int | None = None) -> None:
    """As `remove_folder`; a relative `name` is looked up in the folder open at `dir_fd`."""
    try:
        facts = os.stat(name, dir_fd=dir_fd, follow_symlinks=False)
        if not stat.S_ISDIR(facts.st_mode):
            os.unlink(name, dir_fd=dir_fd)
            return
        top = _open(name, dir_fd)
    except FileNotFoundError:
        return
    try:
        failure = _Emptier(top).failure
    finally:
        os.close(top)
    if failure is not None:
        raise failure
    os.rmdir(name, dir_fd=dir_fd)


def discard_folder(folder: Path) -> None:
    """As `remove_folder`, but errors are ignored and the rest is left behind. For folders that are not needed."""
    try:
        remove_folder(folder)
    except OSError:
        return


def each_folder(top: int) -> Iterator[int]:
    """A descriptor of the folder open at `top`, then of each one below it, before its subfolders; valid until the next
    step. Links are not followed; folders that cannot be opened are left out. Holds one descriptor, and the names of the
    sibling folders on the way down. Blocks. Raises `OSError` if folders are moved meanwhile."""
    current = os.open(".", _READ, dir_fd=top)
    try:
        yield current
        levels = [(_identity(current), iter(_folders_in(current)))]
        while levels:
            name = next(levels[-1][1], None)
            if name is not None:
                try:
                    below = os.open(name, _READ, dir_fd=current)
                except OSError:
                    continue
                os.close(current)
                current = below
                yield current
                levels.append((_identity(current), iter(_folders_in(current))))
                continue
            levels.pop()
            if levels:
                above = os.open("..", _READ, dir_fd=current)
                os.close(current)
                current = above
                if _identity(current) != levels[-1][0]:
                    raise OSError(errno.ESTALE, "a folder was moved meanwhile")
    finally:
        os.close(current)


def _identity(folder: int) -> tuple[int, int]:
    facts = os.fstat(folder)
    return facts.st_dev, facts.st_ino


def _folders_in(folder: int) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []


class _Emptier:
    """Empties the folder open at `top`. Subfolders of each folder are moved up, right below the top, before it is
    removed, so that no deep walk is needed. `failure`: the first error."""

    def __init__(self, top: int) -> None:
        self._top = top
        self.failure: OSError | None = None
        self._new_names: Iterator[str] = (f".removed-{number}" for number in count())
        self._waiting = self._clear_files(top)
        while self._waiting:
            self._remove(self._waiting.pop())

    def _remove(self, name: str) -> None:
        try:
            folder = _open(name, self._top)
        except OSError as error:
            self._note(error)
            return
        try:
            for inner in self._clear_files(folder):
                self._move_up(inner, folder)
        finally:
            os.close(folder)
        try:
            os.rmdir(name, dir_fd=self._top)
        except OSError as error:
            self._note(error)

    def _clear_files(self, folder: int) -> list[str]:
        """Unlink everything except folders; return the names of the folders."""
        inner = []
        try:
            with os.scandir(folder) as entries:
                names = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
        except OSError as error:
            self._note(error)
            return []
        for name, is_folder in names:
            if is_folder:
                inner.append(name)
                continue
            try:
                os.unlink(name, dir_fd=folder)
            except OSError as error:
                self._note(error)
        return inner

    def _move_up(self, name: str, folder: int) -> None:
        try:
            os.close(_open(name, folder))  # moving a folder needs write permission on it
            new = self._unused()
            os.rename(name, new, src_dir_fd=folder, dst_dir_fd=self._top)
        except OSError as error:
            self._note(error)
        else:
            self._waiting.append(new)

    def _unused(self) -> str:
        """A name that no entry below the top has, even after an interrupted removal."""
        while True:
            name = next(self._new_names)
            try:
                os.stat(name, dir_fd=self._top, follow_symlinks=False)
            except FileNotFoundError:
                return name

    def _note(self, error: OSError) -> None:
        self.failure = self.failure or error


def _open(name: str, dir_fd: int | None) -> int:
    """A descriptor of a folder after granting its owner all permissions. Raises `OSError`, also for a link."""
    path = os.open(name, _FOLDER, dir_fd=dir_fd)
    try:
        here = f"/proc/self/fd/{path}"
        if stat.S_IMODE(os.fstat(path).st_mode) & OPEN_MODE != OPEN_MODE:
            os.chmod(here, OPEN_MODE)
        return os.open(".", _READ, dir_fd=path)
    finally:
        os.close(path)
