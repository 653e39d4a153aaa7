"""Blobs in a folder of this machine, or one that several machines mount. The time of a file is its last use."""

import hashlib
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final
from uuid import uuid4

from outlast.base.data_directory import sync_file
from outlast.base.errors import DiskFull, StoredFileMissing
from outlast.db.blobs.port import LentFile, StoredBlob

AT_ONCE: Final = 4  # files synced concurrently: the disk writes them together
_GONE: Final = ".gone"  # a blob that is being removed; renamed back if it was kept meanwhile
_PLACE: Final = "place"  # a file that names the folder, wherever it is mounted
_NEW: Final = ".new"  # being written, or left by a process that died doing so


class FolderBlobs:
    """Blobs in a folder: `ab/cdef…` for SHA-256 `abcdef…`. Calls block; run large ones in a worker thread. They may run
    concurrently, also in several processes."""

    is_near = True

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, content: bytes) -> str:
        """Store `content` (durably: synced, then renamed into place) and return its SHA-256 as 64 hex digits. Repeating
        is harmless. Raises `DiskFull`; then nothing is left behind."""
        name = hashlib.sha256(content).hexdigest()
        if not self.keep(name):
            self.put_pieces((content,))
        return name

    def put_all(self, contents: Sequence[bytes]) -> list[str]:
        """As `put` for each, waiting for the disk once for all of them; returns their names, in order. If it raises,
        some of them may be stored."""
        if len(contents) < 2:
            return [self.put(content) for content in contents]
        with ThreadPoolExecutor(min(len(contents), AT_ONCE)) as threads:
            return list(threads.map(self.put, contents))

    def put_pieces(self, pieces: Iterable[bytes]) -> tuple[str, int]:
        """Store the concatenated pieces, holding one at a time in memory; returns the name and the size in bytes. As
        `put`; errors of reading a piece are passed on (an `OSError` too), and then nothing is left behind."""
        digest, size = hashlib.sha256(), 0
        temporary = blob_path(self.folder, f"{uuid4().hex[:2]}{uuid4().hex}{_NEW}")
        try:
            with open(_created(temporary), "wb", buffering=0) as file:
                for piece in pieces:
                    digest.update(piece)
                    size += len(piece)
                    _write_all(file.fileno(), piece)
                with _full_disk():
                    os.fsync(file.fileno())
            self._into_place(temporary, digest.hexdigest())
        except BaseException:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise
        return digest.hexdigest(), size

    def keep(self, name: str) -> bool:
        """True if the blob is stored; it then counts as used just now, and no running collection removes it."""
        try:
            os.utime(blob_path(self.folder, name))
        except (FileNotFoundError, NotADirectoryError):
            return False
        return True

    def get(self, name: str) -> bytes:
        """The content stored under `name`. Raises `StoredFileMissing`."""
        return self.read(name, 0, None)

    def read(self, name: str, offset: int, size: int | None) -> bytes:
        """`size` bytes of the content from `offset` (None reads to its end); fewer if it ends before. Raises
        `StoredFileMissing`."""
        try:
            descriptor = os.open(f"{self.folder}/{name[:2]}/{name[2:]}", os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            raise StoredFileMissing("The stored file is missing from the blob folder.", blob=name) from None
        with open(descriptor, "rb", buffering=0) as file:
            if offset:
                file.seek(offset)
            return file.read() if size is None else file.read(size)

    def lend(self, name: str) -> LentFile:
        """The blob's own file. Raises `StoredFileMissing`."""
        path = blob_path(self.folder, name)
        if not path.exists():
            raise StoredFileMissing("The stored file is missing from the blob folder.", blob=name)
        return LentFile(path)

    def now(self) -> float:
        """The clock of the times in `used_at`: seconds since 1970."""
        return time.time()

    def unused_since(self, before: float) -> Iterator[StoredBlob]:
        """Every blob that was last put or kept before that time."""
        return (blob for blob in self.stored() if blob.used_at < before)

    def stored(self) -> Iterator[StoredBlob]:
        """Every blob, in no particular order; includes blobs that are being removed."""
        for path in self.folder.glob("??/*"):
            if not path.name.endswith(_NEW):
                with suppress(FileNotFoundError):
                    facts = path.stat()
                    name = path.parent.name + path.name.removesuffix(_GONE)
                    yield StoredBlob(name, facts.st_size, facts.st_mtime)

    def remove_unused(self, name: str, before: float) -> bool:
        """Remove a blob that was last put or kept before that time; False if it was kept meanwhile, and stays."""
        path = blob_path(self.folder, name)
        gone = path.with_name(path.name + _GONE)
        with suppress(FileNotFoundError):
            path.rename(gone)  # a writer that looks for it now does not find it, and writes it again
        try:
            if gone.stat().st_mtime >= before:
                gone.rename(path)
                return False
            gone.unlink()
        except FileNotFoundError:
            return False
        return True

    def remove_unfinished(self, before: float) -> None:
        """Remove unfinished files that dead processes began to write before that time."""
        for path in self.folder.glob(f"??/*{_NEW}"):
            with suppress(FileNotFoundError):
                if path.stat().st_mtime < before:
                    path.unlink()

    def identity(self) -> str:
        """A random name of the folder, the same on every machine that mounts it; given at the first call. Raises
        `DiskFull`."""
        file = self.folder / _PLACE
        with _full_disk():
            if not file.exists():
                self.folder.mkdir(parents=True, exist_ok=True)
                fresh = file.with_name(f"{_PLACE}.{uuid4().hex}{_NEW}")
                fresh.write_text(f"folder-{uuid4().hex}")
                sync_file(fresh)
                with suppress(FileExistsError):
                    os.link(fresh, file)  # the first of two servers that start together names it
                fresh.unlink()
                sync_file(self.folder, os.O_DIRECTORY)
            return file.read_text().strip()

    def close(self) -> None:
        """Nothing is open between calls."""

    def _into_place(self, temporary: Path, name: str) -> None:
        target = blob_path(self.folder, name)
        with _full_disk():
            target.parent.mkdir(parents=True, exist_ok=True)
            temporary.replace(target)
            sync_file(target.parent, os.O_DIRECTORY)


def blob_path(folder: Path, name: str) -> Path:
    """The path of the blob in the folder."""
    return folder / name[:2] / name[2:]


def _created(path: Path) -> int:
    with _full_disk():
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)


def _write_all(descriptor: int, content: bytes) -> None:
    with _full_disk():
        view = memoryview(content)
        while view:
            view = view[os.write(descriptor, view) :]


@contextmanager
def _full_disk() -> Iterator[None]:
    """Raises `DiskFull` for an error of the file system."""
    try:
        yield
    except OSError as error:
        raise DiskFull(f"The file could not be stored: {error.strerror}.", retry_after_s=10) from error
