"""Copies and checks folders, even if hostile code has written them or changes them meanwhile.

No link is followed: links are recorded, files and folders are opened beneath the root. Left out are sockets, pipes and
devices; files of more than `MAX_BYTES`, which are sparse; paths of more than `MAX_PATH_BYTES`, which may be too long in
another data directory (Linux allows 4,096 bytes); and unreadable entries.
"""

import ctypes
import hashlib
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from outlast_sandbox.checkpoints.safe_open import open_beneath, open_folder

PIECE_BYTES: Final = 1024 * 1024
MAX_BYTES: Final = 16 * 1024**3
MAX_PATH_BYTES: Final = 3_000
_libc: Final = ctypes.CDLL(None)


@dataclass(frozen=True, slots=True)
class EntryFacts:
    """One entry of a folder. `mode`: permission bits; `target`: of a link."""

    kind: Literal["file", "directory", "symlink"]
    mode: int
    mtime_ns: int
    uid: int
    gid: int
    size: int = 0
    sha256: str = ""
    target: str = ""


Copied = Iterator[tuple[str, EntryFacts | None]]


def copy_out(source: Path, target: Path, is_left_out: Callable[[str], bool]) -> Copied:
    """Copy the contents of files to `target`, yielding each entry's path and facts, folders first; None if it was not
    copied. A file that changes meanwhile is copied as it is read. Blocks between steps."""
    root = open_folder(source)
    try:
        target.mkdir(parents=True, exist_ok=True)
        waiting = [""]
        while waiting:
            folder = waiting.pop()
            for name in _names(root, folder):
                path = f"{folder}/{name}" if folder else name
                if is_left_out(path):
                    continue
                is_too_long = len(os.fsencode(path)) > MAX_PATH_BYTES
                facts = None if is_too_long else _copied(root, path, target / path)
                yield path, facts
                if facts is not None and facts.kind == "directory":
                    waiting.append(path)
    finally:
        os.close(root)


def copy_back(source: Path, target: Path, entries: Mapping[str, EntryFacts]) -> Iterator[str]:
    """Make `target` hold the entries, with their contents from `source`; yields the path of each entry whose content
    differs from its facts. Blocks between steps. Raises `OSError`."""
    for path in sorted(entries, key=_depth):
        facts, place = entries[path], target / path
        if facts.kind == "directory":
            place.mkdir(parents=True, exist_ok=True)
        elif facts.kind == "symlink":
            place.symlink_to(facts.target)
        elif copy_file(source / path, place) != (facts.sha256, facts.size):
            yield path
    for path in sorted(entries, key=_depth, reverse=True):  # a folder's own time and mode are set last
        _dress(target / path, entries[path])


def differing(folder: Path, entries: Mapping[str, EntryFacts], *, links: bool) -> Iterator[str]:
    """Yields the paths of entries whose state in the folder differs from their facts. `links`: True if links are stored
    as links. Blocks between steps."""
    for path, facts in entries.items():
        place = folder / path
        if facts.kind == "file":
            if hash_of(place) != (facts.sha256, facts.size):
                yield path
        elif facts.kind == "directory":
            if not place.is_dir() or place.is_symlink():
                yield path
        elif links and (not place.is_symlink() or os.readlink(place) != facts.target):
            yield path


def copy_file(source: Path, target: Path) -> tuple[str, int]:
    """Copy one of the server's own files; returns the content's SHA-256 and size. Raises `OSError`."""
    with source.open("rb", buffering=0) as file:
        return _copy(file.fileno(), target)


def hash_of(file: Path) -> tuple[str, int] | None:
    """A file's SHA-256 and size, or None if it is missing or cannot be read."""
    try:
        with open(os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb", buffering=0) as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest(), opened.tell()
    except OSError:
        return None


def sync_folder(folder: Path) -> None:
    """Sync everything below a folder to disk. Raises `OSError`."""
    descriptor = open_folder(folder)
    try:
        if _libc.syncfs(descriptor):
            os.sync()
    finally:
        os.close(descriptor)


def _names(root: int, folder: str) -> list[str]:
    try:
        descriptor = _open_folder(root, folder)
    except OSError:
        return []
    try:
        return sorted(os.listdir(descriptor))
    except OSError:
        return []
    finally:
        os.close(descriptor)


def _open_folder(root: int, folder: str) -> int:
    return open_beneath(root, folder, os.O_RDONLY | os.O_DIRECTORY) if folder else os.dup(root)


def _copied(root: int, path: str, target: Path) -> EntryFacts | None:
    try:
        parent, name = os.path.split(path)
        above = _open_folder(root, parent)
        try:
            status = os.stat(name, dir_fd=above, follow_symlinks=False)
            own = stat.S_IMODE(status.st_mode), status.st_mtime_ns, status.st_uid, status.st_gid
            if stat.S_ISDIR(status.st_mode):
                target.mkdir(exist_ok=True)
                return EntryFacts("directory", *own)
            if stat.S_ISLNK(status.st_mode):
                return EntryFacts("symlink", *own, target=os.readlink(name, dir_fd=above))
        finally:
            os.close(above)
        if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_BYTES:
            return None
        descriptor = open_beneath(root, path, os.O_RDONLY)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return None
            sha256, size = _copy(descriptor, target)
        finally:
            os.close(descriptor)
        return EntryFacts("file", *own, size=size, sha256=sha256)
    except (FileNotFoundError, ValueError):  # gone meanwhile
        return None
    except OSError as error:
        if error.errno in (28, 122):  # no space or over quota: other files would fail too
            raise
        return None


def _copy(descriptor: int, target: Path) -> tuple[str, int]:
    digest, size = hashlib.sha256(), 0
    made = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        while size <= MAX_BYTES and (piece := os.read(descriptor, PIECE_BYTES)):
            digest.update(piece)
            size += len(piece)
            view = memoryview(piece)
            while view:
                view = view[os.write(made, view) :]
    finally:
        os.close(made)
    return digest.hexdigest(), size


def _dress(place: Path, facts: EntryFacts) -> None:
    if os.geteuid() == 0:
        os.chown(place, facts.uid, facts.gid, follow_symlinks=False)
    if facts.kind != "symlink":
        os.chmod(place, facts.mode)
    with suppress(OSError):
        os.utime(place, ns=(facts.mtime_ns, facts.mtime_ns), follow_symlinks=False)


def _depth(path: str) -> tuple[int, str]:
    return path.count("/"), path
