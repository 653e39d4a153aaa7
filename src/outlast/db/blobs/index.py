"""The rows of blobs in a bucket, for threads that wait.

A row is there only while its object is: it is written after the object, and deleted before it. An object's key is never
used twice, so a delete that arrives late cannot hit what was stored meanwhile. See docs/concepts/stored-files.md.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from typing import Any, Concatenate, Final, NamedTuple

import sqlalchemy as sa
from anyio.from_thread import BlockingPortal, start_blocking_portal

from outlast.base.errors import StorageUnavailable
from outlast.db.blobs.tables import blobs
from outlast.db.database import Database, P, T, Tx
from outlast.db.tables import meta, put_fact

STALE: Final = timedelta(hours=1)  # an object that has no row by then never gets one
LISTED_EVERY: Final = timedelta(days=1)
TRIES: Final = 5
PAGE: Final = 500
_LISTED: Final = "blobs.listed"  # a key in `meta`: when the bucket was last listed


class BlobPlace(NamedTuple):
    """Where a blob lies, and its size."""

    name: str
    place: str
    size_bytes: int


class OldBlob(NamedTuple):
    """A blob, and when it was last used."""

    name: str
    size_bytes: int
    used_at: datetime


class Index:
    """Runs transactions for callers without an event loop. It has a thread and a connection of its own, so that a
    caller inside a transaction waits for neither. Opens at its first use."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._opened: tuple[ExitStack, BlockingPortal, Database] | None = None

    def write(self, fn: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The result of one transaction. Raises as `Database.write`. Blocks."""
        portal, database = self._open()
        return portal.call(lambda: database.write(fn, *args, **kwargs))

    def read(self, fn: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """As `write`, read-only."""
        portal, database = self._open()
        return portal.call(lambda: database.read(fn, *args, **kwargs))

    def close(self) -> None:
        """Close the connection. Repeatable."""
        with self._lock:
            opened, self._opened = self._opened, None
        if opened is not None:
            opened[0].close()

    def _open(self) -> tuple[BlockingPortal, Database]:
        with self._lock:
            if self._opened is None:
                with ExitStack() as stack:
                    portal = stack.enter_context(start_blocking_portal(name="blobs"))
                    database = stack.enter_context(portal.wrap_async_context_manager(self._database.in_thread()))
                    self._opened = stack.pop_all(), portal, database
            return self._opened[1:]


def place_of(tx: Tx, name: str) -> BlobPlace | None:
    """Where the blob lies; None if it is not stored."""
    return tx.find(BlobPlace, blobs, {"name": name})


def touch(tx: Tx, names: Sequence[str]) -> tuple[set[str], datetime]:
    """(those of the blobs that are stored, and from now on count as used just now; the time)."""
    found = {name for name in sorted(set(names)) if _touch(tx, name)}
    return found, tx.now


def record(tx: Tx, placed: Sequence[BlobPlace], since: datetime) -> dict[str, str]:
    """Add the rows of objects that were stored, and return the place of each blob by its name: another one if someone
    else stored it first. `since`: when storing them began. Raises `StorageUnavailable` if that was long ago, because
    an object without a row may by now be collected."""
    if tx.now - since > STALE:
        raise StorageUnavailable("Storing the file has taken too long.", hint="Try again.", retry_after_s=1)
    return {one.name: _record(tx, one) for one in sorted(placed)}


def release(tx: Tx, name: str, before: datetime) -> str | None:
    """Delete the row of a blob that was last used before that time, and return its place: from then on nothing reads
    or keeps the object there. None if it was used meanwhile, or is gone."""
    condition = (blobs.c.name == name) & (blobs.c.used_at < before)
    place: str | None = tx.execute(sa.delete(blobs).where(condition).returning(blobs.c.place)).scalar()
    return place


def old(tx: Tx, before: datetime, after: str) -> list[OldBlob]:
    """The first blobs by name, after that one, that were last used before that time."""
    columns = blobs.c.name, blobs.c.size_bytes, blobs.c.used_at
    found = sa.select(*columns).where(blobs.c.used_at < before, blobs.c.name > after)
    return tx.rows(OldBlob, found.order_by(blobs.c.name).limit(PAGE))


def places_of(tx: Tx, names: Sequence[str]) -> dict[str, str]:
    """The places of these blobs, by name."""
    found = sa.select(blobs.c.name, blobs.c.place).where(blobs.c.name.in_(names))
    return {row.name: row.place for row in tx.execute(found)}


def begin_list(tx: Tx) -> bool:
    """True if the bucket was not listed for a day; then it counts as listed now."""
    last = tx.value(meta.c.value, {"key": _LISTED})
    if last is not None and tx.now - datetime.fromisoformat(last) < LISTED_EVERY:
        return False
    put_fact(tx, _LISTED, tx.now.isoformat())
    return True


def all_old(index: Index, before: datetime) -> Iterator[OldBlob]:
    """Every blob that was last used before that time, by name."""
    after = ""
    while page := index.read(old, before, after):
        yield from page
        after = page[-1].name


def moment_of(seconds: float) -> datetime:
    """The time of this many seconds since 1970."""
    return datetime.fromtimestamp(seconds, UTC) if seconds < 1e11 else datetime.max.replace(tzinfo=UTC)


def _touch(tx: Tx, name: str) -> bool:
    return tx.update(blobs, {"name": name}, used_at=tx.now) == 1


def _record(tx: Tx, one: BlobPlace) -> str:
    row: dict[str, Any] = {**one._asdict(), "used_at": tx.now}
    for _ in range(TRIES):
        if tx.insert_missing(blobs, **row):
            return one.place
        if _touch(tx, one.name):
            there: str = tx.value(blobs.c.place, {"name": one.name})
            return there
    raise StorageUnavailable("The file is being stored and removed at once.", hint="Try again.", retry_after_s=1)
