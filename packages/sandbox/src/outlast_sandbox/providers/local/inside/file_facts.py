"""Facts about files for the server, and the short texts stored with them as extended attributes."""

from __future__ import annotations

import errno
import os
import stat

from .commands import WORKSPACE
from .effects import Refused

TYPE_CHECKING = False  # importing `typing` would cost every sandbox 3 ms of its start
if TYPE_CHECKING:
    from typing import Any

SPACE = "user."
MAX_REMEMBERED = 10_000
MAX_TOLD_BYTES = 65_536
IN_MEMORY = ("/tmp", os.environ.get("HOME") or "/home/user")
NO_ATTRIBUTES = (errno.ENOTSUP, errno.EPERM, errno.EACCES)


class Facts:
    """Reads and stores facts about files.

    Before Linux 6.6 a `tmpfs` has no extended attributes. For files there, they are kept in memory until the sandbox
    ends.
    """

    def __init__(self) -> None:
        self._remembered: dict[tuple[int, int], dict[str, str]] = {}
        self._names: dict[tuple[str, int], str] = {}

    def of(self, path: str, shown: str = "") -> dict[str, Any]:
        """All facts about one file; a symlink is not followed. `shown`: the path to report. Raises OSError."""
        status = os.lstat(path)
        link = stat.S_ISLNK(status.st_mode)
        return {
            "path": readable(shown or path),
            "kind": _kind(status.st_mode),
            "size": status.st_size,
            "mode": stat.S_IMODE(status.st_mode),
            "mtime": status.st_mtime,
            "owner": self._name("user", status.st_uid),
            "group": self._name("group", status.st_gid),
            "symlink_target": readable(os.path.realpath(path)) if link else None,
            "metadata": {} if link else self._metadata(path, status),
        }

    def keep(self, path: str, metadata: dict[str, str]) -> None:
        """Store `metadata` with a file that has none yet. Raises `Refused`."""
        for name, value in metadata.items():
            try:
                os.setxattr(path, SPACE + name, value.encode())
            except OSError as error:
                if error.errno not in NO_ATTRIBUTES:
                    raise Refused(
                        "arguments_invalid", f"the metadata {name[:60]!r} is too large: {error.strerror}"
                    ) from error
                self._remember(path, metadata)
                return

    def _remember(self, path: str, metadata: dict[str, str]) -> None:
        if not os.path.realpath(path).startswith(tuple(folder + "/" for folder in IN_MEMORY)):
            raise Refused("path_refused", "the file system does not support metadata")
        status = os.lstat(path)
        while len(self._remembered) >= MAX_REMEMBERED:
            del self._remembered[next(iter(self._remembered))]
        self._remembered[status.st_dev, status.st_ino] = dict(metadata)

    def _metadata(self, path: str, found: os.stat_result) -> dict[str, str]:
        metadata = dict(self._remembered.get((found.st_dev, found.st_ino), {}))
        size = 0
        try:
            for name in os.listxattr(path, follow_symlinks=False):
                value = os.getxattr(path, name, follow_symlinks=False) if name.startswith(SPACE) else b""
                size += len(name) + len(value)
                if name.startswith(SPACE) and size <= MAX_TOLD_BYTES:
                    metadata[readable(name[len(SPACE) :])] = value.decode("utf-8", "replace")
        except OSError:  # no attributes here, or the file is gone
            return metadata
        return metadata

    def _name(self, kind: str, number: int) -> str:
        if (kind, number) not in self._names:
            self._names[kind, number] = _look_up(kind, number)
        return self._names[kind, number]


def readable(text: str) -> str:
    """A file's name without bytes that are not UTF-8."""
    return os.fsencode(text).decode("utf-8", "replace")


def resolve(path: str) -> str:
    """The absolute path; a relative one is in the workspace. Raises `Refused`."""
    if "\0" in path:
        raise Refused("path_refused", "a path cannot contain a NUL character")
    return os.path.normpath(os.path.join(WORKSPACE, path))


def refused(error: OSError, path: str) -> Refused:
    """The refusal for an error of the file system."""
    shown = readable(path)
    if error.errno == errno.ENOENT:
        return Refused("not_found", f"{shown!r} does not exist")
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return Refused("disk_full", f"{shown!r} does not fit: {error.strerror}")
    if error.errno in (errno.EEXIST, errno.ENOTEMPTY, errno.EISDIR):
        return Refused("conflict", f"{shown!r} exists already: {error.strerror}")
    if error.errno in (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN):
        return Refused("sandbox_unavailable", f"{shown!r} is not accessible now: {error.strerror}")
    return Refused("path_refused", f"{shown!r}: {error.strerror}", hint="")


def _kind(mode: int) -> str:
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "directory"
    return "symlink" if stat.S_ISLNK(mode) else "other"


def _look_up(kind: str, number: int) -> str:
    try:
        if kind == "user":
            import pwd

            return pwd.getpwuid(number).pw_name
        import grp

        return grp.getgrgid(number).gr_name
    except (KeyError, ImportError):
        return str(number)
