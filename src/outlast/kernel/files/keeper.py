"""Reads the texts of uploaded files: due files one after the other, then sleeps until it is notified."""

import logging
from typing import Final

import anyio
import anyio.to_thread

from outlast.base.clock import Clock, wait_at_most
from outlast.base.errors import OutlastError, TryLater
from outlast.base.records import dataclass
from outlast.base.supervision.causes import is_of_storage
from outlast.base.supervision.supervisor import Supervisor
from outlast.db.blobs.port import Blobs
from outlast.db.database import Database, Tx
from outlast.kernel.apps import registry
from outlast.kernel.files import store
from outlast.kernel.files.index import FILE_INDEX
from outlast.kernel.files.rows import ArtifactRow
from outlast.kernel.files.settings import FileSettings, TextSettings
from outlast.kernel.files.tables import artifacts
from outlast.kernel.files.texts import NO_TEXT, FileText, read_text
from outlast.kernel.set_aside import kinds
from outlast.kernel.settings import Settings

PAUSE_S: Final = 5.0  # after an error of the database
log = logging.getLogger("outlast.knowledge")


@dataclass(slots=True)
class _Text:
    """The text of a file: `planned` for the index, `blob` with its text (None if there is none). `trouble` is an error
    of the storage, which is no reason to give the file up."""

    found: FileText
    planned: object | None = None
    blob: str | None = None
    trouble: OutlastError | None = None


def _failed(why: str) -> FileText:
    return FileText((), trouble=f"Its text could not be read: {why}", failed=True)


class ArtifactKeeper:
    """One per server. In memory: an event that wakes it, and the files that could not be stored in this server's
    life."""

    def __init__(
        self, db: Database, clock: Clock, blobs: Blobs, settings: Settings, supervisor: Supervisor | None = None
    ) -> None:
        self._db, self._clock, self._blobs = db, clock, blobs
        self._passage_chars = settings.of(TextSettings).passage_chars
        self._most_s = settings.of(FileSettings).artifact_read_s
        self._guard = (supervisor or Supervisor(clock)).guard
        self._news = anyio.Event()
        self._given_up: list[str] = []
        db.on_notice(self._hear)

    async def run(self) -> None:
        """Run until cancelled. A file that is being read then is read again by the next server."""
        if self._db.dialect == "sqlite":  # no other server can read files
            await self._db.write(store.take_over)
        while True:
            news = self._news
            try:
                await self.read_due()
                until = await self._db.read(store.next_due, self._given_up)
            except OutlastError as error:
                log.warning("files not read", extra={"code": error.code, "reason": error.message})
                await self._clock.sleep(PAUSE_S)
                continue
            left = None if until is None else (until - self._clock.now()).total_seconds()
            await wait_at_most(self._clock, news, left)

    async def read_due(self) -> int:
        """Read all due files; returns their number."""
        count = 0
        while (row := await self._db.write(store.claim, self._given_up)) is not None:
            await self._read(row)
            count += 1
        return count

    async def _read(self, row: ArtifactRow) -> None:
        text = _Text(_failed("an error of this server; its log has the details."))
        await self._guard.once(kinds.FILE, row.id, self._read_text, row, text)
        if text.trouble is not None:
            raise text.trouble  # the disk: the file is read again once its lease lapses
        try:
            await self._db.write(self._store, row, text.found, text.planned, text.blob)
        except TryLater:  # the database or the disk: the file is read again once its lease lapses
            raise
        except OutlastError:
            self._given_up.append(row.id)  # until the next start, so that the others continue
            raise

    async def _read_text(self, row: ArtifactRow, text: "_Text") -> None:
        try:
            content = await anyio.to_thread.run_sync(self._blobs.get, row.blob)
            found = await read_text(row.media_type, content, self._most_s)
            planned = await anyio.to_thread.run_sync(  # beside the database's writer
                registry.implementation(FILE_INDEX).plan, row.name, row.media_type, found.texts, self._passage_chars
            )
            if planned is not None:
                text.blob = await anyio.to_thread.run_sync(self._blobs.put, found.whole.encode())
            text.found, text.planned = found, planned
        except OutlastError as error:
            if is_of_storage(error):
                text.trouble = error
            text.found = _failed(error.message)

    def _store(self, tx: Tx, row: ArtifactRow, found: FileText, planned: object | None, blob: str | None) -> None:
        if not store.hold_waiting(tx, row.id):
            return
        index = registry.implementation(FILE_INDEX)
        source_id = None if planned is None else index.add(tx, row, planned)
        state = "failed" if found.failed else "no_text" if planned is None else "ready"
        tx.update(
            artifacts,
            {"id": row.id},
            state=state,
            source_id=source_id,
            pages=found.pages,
            characters=found.characters,
            trouble=found.trouble or (NO_TEXT if state == "no_text" else None),
            text_blob=blob,
            due_at=None,
        )
        store.announce(tx, row.id)

    def _hear(self, stream_id: str) -> None:
        if stream_id in (store.BELL, "*"):
            self._news.set()
            self._news = anyio.Event()
