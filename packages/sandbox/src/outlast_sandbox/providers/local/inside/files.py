"""Files of /workspace, reached only by relative paths that stay inside it.

The agent has no more permissions than the code around it, so a symlink swapped at the wrong moment can only show files
that this code may read anyway; the host's files are in another file system.
"""

from __future__ import annotations

import errno
import os
import stat

from .commands import WORKSPACE
from .effects import Refused

TYPE_CHECKING = False  # importing `typing` would cost every sandbox 3 ms of its start
if TYPE_CHECKING:
    from typing import Any

READ_SIZE = 1024 * 1024
TEMPORARY_NEW = ".outlast-new-"
TEMPORARY_OLD = ".outlast-replacing-"


def resolve(path: str, *, parents: bool = False) -> str:
    """The real path of a relative path. Raises `Refused` for absolute paths, '..', and symlinks that lead outside."""
    if not path or path.startswith("/") or "\0" in path or ".." in path.split("/"):
        raise Refused("path_refused", f"the path {path!r} is not relative to the workspace, or contains '..'")
    full = os.path.join(WORKSPACE, path)
    real = os.path.realpath(os.path.dirname(full) if parents else full)
    if real != WORKSPACE and not real.startswith(WORKSPACE + "/"):
        raise Refused("path_refused", f"the path {path!r} leads outside the workspace")
    return os.path.join(real, os.path.basename(full)) if parents else real


def write(files: list[tuple[str, bytes]]) -> None:
    """Write each file as a temporary file and rename it; parent folders are created. All paths are checked before the
    first write."""
    targets = [(resolve(path, parents=True), path, data) for path, data in files]
    for target, path, data in targets:
        try:
            _write_one(target, data)
        except OSError as error:
            raise _refused(error, path) from error


def _write_one(target: str, data: bytes) -> None:
    if os.path.islink(target):
        target = resolve(os.path.relpath(target, WORKSPACE))
    parent = os.path.dirname(target)
    make_folders(parent)
    exists = os.path.exists(target)
    mode = stat.S_IMODE(os.stat(target).st_mode) if exists else 0o644
    beside = temporary(target, exists)
    fd = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view) :]
        os.close(fd)
        os.rename(beside, target)
    except OSError:
        os.unlink(beside)
        raise


def make_folders(path: str) -> None:
    """Create a folder and its parents, at any depth that a path can name; an existing one is ignored. Raises
    `OSError`."""
    missing = []
    while not os.path.isdir(path):
        missing.append(path)
        path = os.path.dirname(path)
    for folder in reversed(missing):
        try:
            os.mkdir(folder)
        except FileExistsError:
            if not os.path.isdir(folder):
                raise


def temporary(target: str, exists: bool) -> str:
    """The path of the temporary file for `target`. A watcher knows its name and reports the rename as a write."""
    kind = TEMPORARY_OLD if exists else TEMPORARY_NEW
    return os.path.join(os.path.dirname(target), f"{kind}{os.urandom(6).hex()}")


def read(path: str, max_bytes: int) -> tuple[bytes, int]:
    """(the first `max_bytes` of the file, its whole size)."""
    target = resolve(path)
    try:
        fd = os.open(target, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    except OSError as error:
        raise _refused(error, path) from error
    try:
        facts = os.fstat(fd)
        if not stat.S_ISREG(facts.st_mode):
            raise Refused("path_refused", f"{path!r} is not a regular file")
        parts, missing = [], max_bytes
        while missing > 0:
            data = os.read(fd, min(missing, READ_SIZE))
            if not data:
                break
            parts.append(data)
            missing -= len(data)
        return b"".join(parts), facts.st_size
    finally:
        os.close(fd)


def entries(prefix: str, limit: int, hidden: frozenset[str] = frozenset()) -> list[dict[str, Any]]:
    """Everything below `prefix` ("" for all), folders before their contents, sorted by name, at most `limit`. The
    folders `hidden` and their contents are included only if `prefix` leads there."""
    top = resolve(prefix) if prefix not in ("", ".", "./") else WORKSPACE
    found: list[dict[str, Any]] = []
    try:
        levels = [iter(_children(top))]
    except OSError as error:
        raise _refused(error, prefix) from error
    while levels and len(found) < limit:
        entry = next(levels[-1], None)
        if entry is None:
            levels.pop()
            continue
        path = os.path.relpath(entry.path, WORKSPACE)
        try:
            facts = entry.stat(follow_symlinks=False)
            if path in hidden:
                continue
            is_dir = stat.S_ISDIR(facts.st_mode)
            size = 0 if is_dir else facts.st_size
            found.append({"path": path, "size": size, "is_dir": is_dir, "mtime": facts.st_mtime})
            if is_dir:
                levels.append(iter(_children(entry.path)))
        except OSError:  # it vanished, is unreadable, or is deeper than the longest path
            continue
    return found


def _children(folder: str) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as scan:
        return sorted(scan, key=lambda entry: entry.name)


def _refused(error: OSError, path: str) -> Refused:
    if error.errno == errno.ENOENT:
        return Refused("not_found", f"there is no file {path!r}")
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return Refused("disk_full", f"{path!r} does not fit: {error.strerror}")
    return Refused("path_refused", f"{path!r}: {error.strerror}")
