"""Copies of blobs on this machine's disk: the latest used ones, up to a size.

A copy is `ab/cdef…`, as in a folder of blobs. It is written under another name and renamed, so a killed server leaves
none that is cut off; one that an earlier server left is compared with its hash before its first use, because a machine
that lost power may have kept the name and not the content.
"""

import hashlib
import logging
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final
from uuid import uuid4

from outlast.base.errors import DiskFull, StoredFileMissing
from outlast.db.blobs.port import LentFile

PIECE: Final = 1024 * 1024
LARGEST: Final = 4  # a blob larger than the cache divided by this is not kept
LENT_S: Final = 3600.0  # a lent file that was not given back is removed after this time
_LENT: Final = "lent"
_NEW: Final = ".new"
log = logging.getLogger("outlast.blobs")


class Cache:
    """A folder that one process owns; its calls block and may run concurrently. `max_bytes` is exceeded only by files
    that are lent, or being written."""

    def __init__(self, folder: Path, max_bytes: int) -> None:
        self.folder, self.largest = folder, max_bytes // LARGEST
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._sizes: OrderedDict[str, int] | None = None  # by name, the latest used last
        self._total = 0
        self._unchecked: set[str] = set()
        self._fetched: dict[str, tuple[threading.Lock, list[None]]] = {}

    def open(self, name: str) -> BinaryIO | None:
        """The copy, open to be read, or None. It can be read to its end even if it is removed meanwhile."""
        with self._lock:
            if name not in self._known():
                return None
            self._known().move_to_end(name)
            is_checked = name not in self._unchecked
        try:
            file = open(self._path(name), "rb", buffering=0)  # noqa: SIM115  # the caller closes it
            os.utime(file.fileno())  # the order after a restart
        except FileNotFoundError:
            self._forget(name)
            return None
        if is_checked or _hash_of(file) == name:
            self._unchecked.discard(name)
            file.seek(0)
            return file
        log.warning("a cached copy of a stored file was damaged", extra={"blob": name})
        file.close()
        self._forget(name)
        return None

    def fetch(self, name: str, read: Callable[[], Iterable[bytes]]) -> BinaryIO:
        """The copy, open to be read; if there is none, `read` gets the content, once for all callers that wait. Raises
        `DiskFull`, `StoredFileMissing` if the content is another one, and what `read` raises."""
        with self._alone(name):
            found = self.open(name)
            if found is not None:
                return found
            with self.spool() as (path, file):
                digest = hashlib.sha256()
                for piece in read():
                    digest.update(piece)
                    write(file, piece)
                if digest.hexdigest() != name:
                    raise StoredFileMissing("The stored file is damaged.", blob=name)
                self.adopt(name, path)
                again = os.fdopen(os.dup(file.fileno()), "rb", buffering=0)
                again.seek(0)
                return again

    @contextmanager
    def spool(self) -> Iterator[tuple[Path, BinaryIO]]:
        """A new file to write; removed at the end unless it was adopted. Raises `DiskFull`."""
        path = self.folder / f"{uuid4().hex}{_NEW}"
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            file = open(path, "x+b", buffering=0)  # noqa: SIM115  # closed below
        except OSError as error:
            raise DiskFull(
                f"The file could not be kept on this machine: {error.strerror}.", retry_after_s=10
            ) from error
        try:
            yield path, file
        finally:
            file.close()
            with suppress(OSError):
                path.unlink(missing_ok=True)

    def adopt(self, name: str, path: Path) -> None:
        """Make a complete file, of this folder, the copy of that blob. Too large ones are left."""
        size = path.stat().st_size
        if size > self.largest:
            return
        target = self._path(name)
        with suppress(OSError):  # a copy less
            target.parent.mkdir(exist_ok=True)
            path.replace(target)
            with self._lock:
                known = self._known()
                self._total += size - known.pop(name, 0)
                known[name] = size
                self._unchecked.discard(name)
            self._make_room()

    def keep(self, name: str, content: bytes) -> None:
        """Keep a copy of what was just stored; without one if the disk is full."""
        if len(content) <= self.largest:
            with suppress(DiskFull), self.spool() as (path, file):
                write(file, content)
                self.adopt(name, path)

    def lend(self, name: str, read: Callable[[], Iterable[bytes]]) -> LentFile:
        """A file with the content that stays until it is given back. Raises as `fetch`."""
        lent = self.folder / _LENT / uuid4().hex
        with self._alone(f"lent {name}"), self.fetch(name, read) as file:
            try:
                lent.parent.mkdir(exist_ok=True)
                try:
                    os.link(self._path(name), lent)
                except FileNotFoundError:  # too large to be kept, or gone in this moment
                    _copy(file, lent)
            except OSError as error:
                raise DiskFull(f"The file could not be kept on this machine: {error.strerror}.") from error
        return LentFile(lent, lambda: lent.unlink(missing_ok=True))

    def remove_left(self) -> None:
        """Remove lent files that were not given back."""
        for path in self.folder.glob(f"{_LENT}/*"):
            with suppress(FileNotFoundError):
                if path.stat().st_ctime < time.time() - LENT_S:
                    path.unlink()

    def forget(self, name: str) -> None:
        """Remove the copy, if there is one."""
        self._forget(name)

    @contextmanager
    def _alone(self, name: str) -> Iterator[None]:
        """Only one thread at a time is in here for a name."""
        with self._lock:
            lock, users = self._fetched.setdefault(name, (threading.Lock(), []))
            users.append(None)
        try:
            with lock:
                yield
        finally:
            with self._lock:
                users.pop()
                if not users:
                    del self._fetched[name]

    def _known(self) -> "OrderedDict[str, int]":
        """The copies, found on the disk at the first call. The caller holds the lock."""
        if self._sizes is None:
            for path in [*self.folder.glob(f"*{_NEW}"), *self.folder.glob(f"{_LENT}/*")]:
                path.unlink(missing_ok=True)  # of a server that was killed
            found = [(path.stat(), path) for path in self.folder.glob("??/*")]
            found.sort(key=lambda one: one[0].st_mtime)
            self._sizes = OrderedDict((path.parent.name + path.name, facts.st_size) for facts, path in found)
            self._total, self._unchecked = sum(self._sizes.values()), set(self._sizes)
        return self._sizes

    def _make_room(self) -> None:
        with self._lock:
            known, gone = self._known(), list[str]()
            while self._total > self._max_bytes and known:
                name, size = known.popitem(last=False)
                self._total -= size
                gone.append(name)
        for name in gone:
            self._path(name).unlink(missing_ok=True)

    def _forget(self, name: str) -> None:
        with self._lock:
            self._total -= self._known().pop(name, 0)
            self._unchecked.discard(name)
        self._path(name).unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        return self.folder / name[:2] / name[2:]


def write(file: BinaryIO, content: bytes) -> None:
    """Write all of it. Raises `DiskFull`."""
    try:
        view = memoryview(content)
        while view:
            view = view[file.write(view) :]
    except OSError as error:
        raise DiskFull(f"The file could not be kept on this machine: {error.strerror}.", retry_after_s=10) from error


def _hash_of(file: BinaryIO) -> str:
    return hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]  # it reads into a buffer


def _copy(file: BinaryIO, target: Path) -> None:
    with open(target, "xb") as copy:
        while piece := file.read(PIECE):
            copy.write(piece)
