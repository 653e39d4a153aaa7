"""Storage of the tracker: a folder of the data directory, readable only by the server's user."""

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
from outlast_sandbox.egress.authority_store import write_private
from outlast_sandbox.egress.secrets import SecretValue

ISSUES: Final = "issues.json"
SECRET: Final = "secret"
PREFIX: Final = "trk_"
log = logging.getLogger("outlast.demo")


class Kept:
    """The book, saved before a change is answered. One change at a time."""

    def __init__(self, path: Path, book: Book) -> None:
        self._path, self._book, self._writing = path, book, anyio.Lock()

    @property
    def book(self) -> Book:
        return self._book

    async def change(self, step: Callable[[Book], tuple[Book, Issue]]) -> Issue:
        """Applies one change to the current book and returns the changed issue. If cancelled, the change is saved whole
        or not at all."""
        async with self._writing:
            book, issue = step(self._book)
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(write_private, self._path, orjson.dumps(written(book)))
                self._book = book
        return issue


def open_book(folder: Path, clock: Clock, *, reset: bool) -> Kept:
    """The saved issues, or the seed if there are none or `reset` is set. An unreadable file is renamed."""
    path = folder / ISSUES
    if not reset and path.exists():
        try:
            return Kept(path, read(orjson.loads(path.read_bytes())))
        except (OSError, ValueError, KeyError, TypeError) as error:
            log.warning(
                "the demo's issues are unreadable; starting from the seed", extra={"reason": type(error).__name__}
            )
            path.replace(path.with_suffix(".unreadable"))
    book = seeded(clock.now())
    write_private(path, orjson.dumps(written(book)))
    return Kept(path, book)


def open_secret(folder: Path) -> SecretValue:
    """The tracker's token, created at the first start in a file readable only by the server's user."""
    path = folder / SECRET
    if not path.exists():
        write_private(path, (PREFIX + secrets.token_urlsafe(24)).encode())
    return SecretValue(path.read_bytes().strip())
