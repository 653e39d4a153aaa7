"""Reading a workspace's folder from outside, even if hostile code has written it or changes it meanwhile.

Links are recorded, never followed; sockets, pipes and devices are left out; depth, number and size are bounded. A file
that changes while it is read is read again; after the last try, the bytes read are used.
"""

import errno
import hashlib
import os
import stat
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from outlast_sandbox.checkpoints.safe_open import open_beneath, open_folder
from outlast_sandbox.checkpoints.tree import EntryKind, kind_of
from outlast_sandbox.errors import InputTooLarge

MAX_DEPTH: Final = 100
MAX_ENTRIES: Final = 200_000
PERMISSIONS: Final = 0o777
READ_BYTES: Final = 1024 * 1024
UNSETTLED_NS: Final = 25_000_000  # the coarsest resolution of file-system timestamps
TRIES: Final = 3


class Seen(NamedTuple):
    """Identifies a file's state: if any of the four differ, the file has changed and is read again."""

    size: int
    mtime_ns: int
    inode: int
    ctime_ns: int


class Found(NamedTuple):
    """One entry of a folder."""

    path: str
    kind: EntryKind
    mode: int
    seen: Seen
    target: str = ""


@dataclass(slots=True)
class Walk:
    """The result of a walk, except `without` some paths; `unreadable`: paths that could not be opened, so that their
    contents are unknown. `began_ns` is its start, by the file system's clock."""

    began_ns: int
    without: frozenset[str]
    found: list[Found] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)


class Content(NamedTuple):
    """A file's content as it was read: `data` is None if it was too long to hold (its hash and size identify it)."""

    sha256: str
    size: int
    data: bytes | None


def walk_folder(root: Path, max_bytes: int, without: Collection[str] = ()) -> Walk:
    """Everything below the folder, in no order, except the paths `without` and their contents. Raises `InputTooLarge`
    beyond 200,000 entries or `max_bytes` of files, `OSError` if the folder itself cannot be read. Blocks."""
    walk = Walk(time.time_ns(), frozenset(without))
    top = open_folder(root)
    try:
        _look(top, "", 1, walk)
    finally:
        os.close(top)
    size = sum(one.seen.size for one in walk.found if one.kind == "file")
    if size > max_bytes:
        raise InputTooLarge(
            f"The workspace's files take {size} bytes; a checkpoint holds at most {max_bytes}.",
            hint="Remove files that you do not need, or raise sandbox.disk_mb.",
            limit_bytes=max_bytes,
        )
    return walk


def settled(seen: Seen, began_ns: int) -> bool:
    """True if a later change is certain to be detected: the file was last modified well before it was read."""
    return seen.ctime_ns < began_ns - UNSETTLED_NS


def read_content(root: int, path: str, hold_bytes: int) -> Content | None:
    """A file's content, held if it has at most `hold_bytes`; None if it is gone or no longer a regular file. Raises
    `PermissionError` if it cannot be read. Blocks."""
    for left in reversed(range(TRIES)):
        try:
            descriptor = open_beneath(root, path, os.O_RDONLY)
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.ELOOP, errno.ENOTDIR, errno.ENXIO):
                return None
            raise
        try:
            before = os.fstat(descriptor)
            if not stat.S_ISREG(before.st_mode):
                return None
            content = _read(descriptor, hold_bytes if before.st_size <= hold_bytes else -1)
            if not left or seen_of(os.fstat(descriptor)) == seen_of(before):
                return content
        finally:
            os.close(descriptor)
    raise AssertionError("unreachable")


def read_pieces(root: int, path: str, max_bytes: int) -> Iterator[bytes]:
    """A long file's content piece by piece, at most `max_bytes` of it. Raises `OSError`."""
    descriptor = open_beneath(root, path, os.O_RDONLY)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", path)
        left = max_bytes
        while left > 0 and (piece := os.read(descriptor, min(READ_BYTES, left))):
            left -= len(piece)
            yield piece
    finally:
        os.close(descriptor)


def seen_of(facts: os.stat_result) -> Seen:
    return Seen(facts.st_size, facts.st_mtime_ns, facts.st_ino, facts.st_ctime_ns)


def _look(folder: int, prefix: str, depth: int, walk: Walk) -> None:
    with os.scandir(folder) as entries:
        for entry in entries:
            try:
                facts = entry.stat(follow_symlinks=False)
                kind = kind_of(facts.st_mode)
                target = os.readlink(entry.name, dir_fd=folder) if kind == "symlink" else ""
            except OSError:
                continue  # it was removed during the walk
            if kind is None:
                continue
            path = prefix + entry.name
            if path in walk.without:
                continue
            walk.found.append(Found(path, kind, facts.st_mode & PERMISSIONS, seen_of(facts), target))
            if len(walk.found) > MAX_ENTRIES:
                raise InputTooLarge(
                    f"The workspace has more than {MAX_ENTRIES:,} files and folders; a checkpoint holds no more.",
                    hint="Remove files that you do not need, such as caches.",
                    limit=MAX_ENTRIES,
                )
            if kind == "directory":
                _enter(folder, entry.name, path, depth, walk)


def _enter(folder: int, name: str, path: str, depth: int, walk: Walk) -> None:
    if depth >= MAX_DEPTH:
        walk.unreadable.append(path)
        return
    try:
        below = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    except PermissionError:
        walk.unreadable.append(path)
        return
    except OSError:
        return
    try:
        _look(below, f"{path}/", depth + 1, walk)
    finally:
        os.close(below)


def _read(descriptor: int, hold_bytes: int) -> Content:
    """Read to the end of the file; its data is held if it has at most `hold_bytes` (-1 never holds it)."""
    if hold_bytes >= 0:
        data = os.read(descriptor, hold_bytes + 1)  # fewer bytes mean the end of the file
        if len(data) <= hold_bytes:
            return Content(hashlib.sha256(data).hexdigest(), len(data), data)
        os.lseek(descriptor, 0, os.SEEK_SET)  # it grew meanwhile: read it as a long one
    digest, size = hashlib.sha256(), 0
    while piece := os.read(descriptor, READ_BYTES):
        digest.update(piece)
        size += len(piece)
    return Content(digest.hexdigest(), size, None)
