"""Where the tracker's data lie: a folder of the data directory, readable by its user alone."""

import logging
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread
import orjson

from outlast.base.clock import Clock
from outlast_demo.tracker.issues import Book, Issue, read, seeded, written
from outlast_sandbox.egress.authorities import write_private
from outlast_sandbox.egress.secrets import SecretValue

ISSUES: Final = "issues.json"
SECRET: Final = "secret"
PREFIX: Final = "trk_"
log = logging.getLogger("outlast.demo")


class Kept:
    """The book, written down before a change is answered. One change at a time."""

    def __init__(self, path: Path, book: Book) -> None:
        self._path, self._book, self._writing = path, book, anyio.Lock()

    @property
    def book(self) -> Book:
        return self._book

    async def change(self, step: Callable[[Book], tuple[Book, Issue]]) -> Issue:
        """Carry out one change of the book as it is now, and give the issue that changed. Cancelled: the change is
        made whole or not at all."""
        async with self._writing:
            book, issue = step(self._book)
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(write_private, self._path, orjson.dumps(written(book)))
                self._book = book
        return issue


def open_book(folder: Path, clock: Clock, *, anew: bool) -> Kept:
    """What an earlier start left, else (or `anew`) the seed. A file that cannot be read is put aside."""
    path = folder / ISSUES
    if not anew and path.exists():
        try:
            return Kept(path, read(orjson.loads(path.read_bytes())))
        except (OSError, ValueError, KeyError, TypeError) as error:
            log.warning("the demo's issues cannot be read; it begins anew", extra={"reason": type(error).__name__})
            path.replace(path.with_suffix(".unreadable"))
    book = seeded(clock.now())
    write_private(path, orjson.dumps(written(book)))
    return Kept(path, book)


def open_secret(folder: Path) -> SecretValue:
    """The tracker's token: made at the first start, in a file that only this user reads."""
    path = folder / SECRET
    if not path.exists():
        write_private(path, (PREFIX + secrets.token_urlsafe(24)).encode())
    return SecretValue(path.read_bytes().strip())
