"""Blobs in a bucket, with their rows in the database and copies on this machine's disk.

An object's key is the blob's name and a *place* that is never used twice: `ab/cdef….<when storing began>-<random>`. The
row says which place counts. docs/concepts/stored-files.md has the table of states, and why no message that arrives late
can make a row without its object.
"""

import hashlib
import logging
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime
from typing import BinaryIO, Final, TypeVar
from uuid import uuid4

from outlast.base.errors import DiskFull, OutlastError, StoredFileMissing
from outlast.db.blobs import index
from outlast.db.blobs.bucket import Bucket
from outlast.db.blobs.cache import Cache, write
from outlast.db.blobs.index import BlobPlace, Index
from outlast.db.blobs.port import LentFile, StoredBlob

T = TypeVar("T")
AT_ONCE: Final = 8  # objects stored concurrently
LEFT_S: Final = 12 * 3600.0  # an object without a row is at least this old when it is removed
PLACE: Final = "place"  # an object that names the bucket and prefix, whatever its address
END_OF_TIME: Final = 1e12
log = logging.getLogger("outlast.blobs")


class S3Blobs:
    """See `port.Blobs`; on the event loop of a server, call it only through worker threads."""

    is_near = False

    def __init__(self, bucket: Bucket, rows: Index, cache: Cache) -> None:
        self.bucket, self._rows, self._cache = bucket, rows, cache

    # --- storing --------------------------------------------------------------------------------------------------

    def put(self, content: bytes) -> str:
        return self.put_all((content,))[0]

    def put_all(self, contents: Sequence[bytes]) -> list[str]:
        names = [hashlib.sha256(content).hexdigest() for content in contents]
        by_name = dict(zip(names, contents, strict=True))
        found, since = self._rows.write(index.touch, list(by_name))
        missing = [name for name in by_name if name not in found]
        if missing:
            placed = [BlobPlace(name, _new_place(since), len(by_name[name])) for name in missing]
            _each(placed, lambda one: self.bucket.put(_key(one), by_name[one.name]))
            self._record(placed, since)
        for name in missing:
            self._cache.keep(name, by_name[name])
        return names

    def put_pieces(self, pieces: Iterable[bytes]) -> tuple[str, int]:
        digest, size = hashlib.sha256(), 0
        with self._cache.spool() as (path, file):
            for piece in pieces:
                digest.update(piece)
                size += len(piece)
                write(file, piece)
            name = digest.hexdigest()
            found, since = self._rows.write(index.touch, (name,))
            if not found:
                placed = BlobPlace(name, _new_place(since), size)
                self.bucket.put(_key(placed), path)
                self._record([placed], since)
            self._cache.adopt(name, path)
        return name, size

    def keep(self, name: str) -> bool:
        return bool(self._rows.write(index.touch, (name,))[0])

    def _record(self, placed: Sequence[BlobPlace], since: datetime) -> None:
        """Add the rows. An object that another writer's made superfluous is removed: no row ever named it."""
        places = self._rows.write(index.record, placed, since)
        doubled = [_key(one) for one in placed if places[one.name] != one.place]
        if doubled:
            with suppress(OutlastError):  # the next list finds them
                self.bucket.delete(doubled)

    # --- reading --------------------------------------------------------------------------------------------------

    def get(self, name: str) -> bytes:
        return self.read(name, 0, None)

    def read(self, name: str, offset: int, size: int | None) -> bytes:
        copy = self._cache.open(name)
        if copy is None:
            place = self._place(name)
            if place.size_bytes > self._cache.largest:
                return self._read_range(name, offset, size)
            try:
                copy = self._cache.fetch(name, lambda: self._pieces(name))
            except DiskFull as error:
                log.warning("a stored file could not be cached", extra={"blob": name, "reason": str(error)})
                return self._read_range(name, offset, size)
        with copy:
            return _read_from(copy, offset, size)

    def lend(self, name: str) -> LentFile:
        return self._cache.lend(name, lambda: self._pieces(name))

    def _read_range(self, name: str, offset: int, size: int | None) -> bytes:
        def read(place: BlobPlace) -> bytes:
            length = place.size_bytes - offset if size is None else min(size, place.size_bytes - offset)
            return self.bucket.get_range(_key(place), offset, length) if length > 0 else b""

        return self._at_its_place(name, read)

    def _pieces(self, name: str) -> Iterator[bytes]:
        def begin(place: BlobPlace) -> tuple[list[bytes], Iterator[bytes]]:
            rest = self.bucket.get(_key(place))
            return [piece for piece in (next(rest, None),) if piece is not None], rest

        first, rest = self._at_its_place(name, begin)
        yield from first
        yield from rest

    def _at_its_place(self, name: str, read: Callable[[BlobPlace], T]) -> T:
        """`read` the blob where it lies. It is looked for once more if it was removed and stored again meanwhile."""
        place = self._place(name)
        try:
            return read(place)
        except StoredFileMissing:
            again = self._place(name)
            if again.place == place.place:
                raise StoredFileMissing(
                    f"The stored file is missing from {self.bucket.shown}.",
                    hint="Restore the older version of the object, or the whole bucket.",
                    blob=name,
                ) from None
            return read(again)

    def _place(self, name: str) -> BlobPlace:
        place = self._rows.read(index.place_of, name)
        if place is None:
            raise StoredFileMissing(f"The stored file is missing from {self.bucket.shown}.", blob=name)
        return place

    # --- collection -----------------------------------------------------------------------------------------------

    def now(self) -> float:
        return self._rows.read(lambda tx: tx.now).timestamp()

    def stored(self) -> Iterator[StoredBlob]:
        return self.unused_since(END_OF_TIME)

    def unused_since(self, before: float) -> Iterator[StoredBlob]:
        for one in index.all_old(self._rows, index.moment_of(before)):
            yield StoredBlob(one.name, one.size_bytes, one.used_at.timestamp())

    def remove_unused(self, name: str, before: float) -> bool:
        place = self._rows.write(index.release, name, index.moment_of(before))
        if place is None:
            return False
        self._cache.forget(name)
        # After a kill here an object without a row is left, which the next list finds.
        self.bucket.delete([_key(BlobPlace(name, place, 0))])
        return True

    def remove_unfinished(self, before: float) -> None:
        """Once a day, remove objects without a row."""
        self._cache.remove_left()
        if not self._rows.write(index.begin_list):
            return
        latest = min(before, self.now() - LEFT_S)
        for keys in self.bucket.listed():
            found = {key: blob for key in keys if (blob := _parsed(key)) and _began(blob.place) < latest}
            known = self._rows.read(index.places_of, [blob.name for blob in found.values()]) if found else {}
            left = [key for key, blob in found.items() if known.get(blob.name) != blob.place]
            if left:
                self.bucket.delete(left)
                log.info("objects without a row were removed", extra={"objects": len(left)})

    # --- the bucket as a whole ------------------------------------------------------------------------------------

    def identity(self) -> str:
        self.bucket.put_first(PLACE, f"bucket-{uuid4().hex}".encode())
        return b"".join(self.bucket.get(PLACE)).decode().strip()

    def close(self) -> None:
        self._rows.close()


def _each(items: Sequence[BlobPlace], call: Callable[[BlobPlace], None]) -> None:
    if len(items) == 1:
        call(items[0])
        return
    with ThreadPoolExecutor(min(len(items), AT_ONCE)) as threads:
        list(threads.map(call, items))


def _new_place(since: datetime) -> str:
    return f"{int(since.timestamp() * 1000):x}-{os.urandom(8).hex()}"


def _began(place: str) -> float:
    """When storing began, in seconds since 1970, by the database's clock."""
    return int(place.partition("-")[0], 16) / 1000


def _key(place: BlobPlace) -> str:
    return f"{place.name[:2]}/{place.name[2:]}.{place.place}"


def _parsed(key: str) -> BlobPlace | None:
    """The blob and place of an object's key; None for another object."""
    folder, _, rest = key.partition("/")
    name, _, place = rest.partition(".")
    if len(folder) + len(name) != 64 or not place:
        return None
    try:
        _began(place)
    except ValueError:
        return None
    return BlobPlace(folder + name, place, 0)


def _read_from(file: BinaryIO, offset: int, size: int | None) -> bytes:
    if offset:
        file.seek(offset)
    return file.read() if size is None else file.read(size)
