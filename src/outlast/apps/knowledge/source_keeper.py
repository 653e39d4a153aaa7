"""Keeps sources up to date: reads the sources that are due, and sleeps until the next one is.

Rows have due times; a signal in the database wakes the keeper, also from another process. There is no
polling. A source that cannot be read keeps its content, reports the reason, and is tried again.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Final

import anyio
import anyio.to_thread
import sqlalchemy as sa

from outlast.apps.knowledge import source_store
from outlast.apps.knowledge.passage_changes import Contents, Exchange, exchange
from outlast.apps.knowledge.readers.reader import SourceReader
from outlast.apps.knowledge.readers.web import Known
from outlast.apps.knowledge.refresh_schedule import due_after, retry_at
from outlast.apps.knowledge.rows import KnowledgeSourceRow
from outlast.apps.knowledge.settings import KnowledgeSettings
from outlast.apps.knowledge.source_documents import Reading, cut_documents
from outlast.apps.knowledge.source_store import NewSource
from outlast.apps.knowledge.sources import Configured, cut_name, private_exceptions
from outlast.apps.knowledge.store import BELL
from outlast.base.clock import Clock, wait_at_most
from outlast.base.errors import OutlastError
from outlast.base.supervision.supervisor import Supervisor
from outlast.db.database import Database, Tx
from outlast.kernel.set_aside import kinds
from outlast.kernel.web.http_fetch import NotRead

AT_A_TIME: Final = 3  # sources
LEASE: Final = timedelta(minutes=15)  # another server may read a source whose reading began this long ago
READ_S: Final = 600.0  # to read one source: well below the lease, so that no two servers read it at once
GIVE_BACK_S: Final = 5.0
PAUSE_S: Final = 5.0  # after a database error
Followed = Callable[[], Sequence[str]]
"""The projects that have followers now: they get the events of sources that all projects share."""
log = logging.getLogger("outlast.knowledge")


class SourceKeeper:
    """One per server. In memory: the configured sources, the sources being read, and a bell."""

    def __init__(
        self,
        db: Database,
        clock: Clock,
        settings: KnowledgeSettings,
        reader: SourceReader,
        configured: Iterable[Configured],
        *,
        model: str = "",
        followed: Followed = lambda: (),
        read_s: float = READ_S,
        supervisor: Supervisor | None = None,
    ) -> None:
        """`model` is the embedder's, or empty; `read_s` is the time limit for reading one source."""
        self._db, self._clock, self._settings, self._reader = db, clock, settings, reader
        self._configured = {(one.package, one.location): one for one in configured}
        self._model, self._followed = model, followed
        self._read_s = read_s
        self._guard = (supervisor or Supervisor(clock)).guard
        self._cut = cut_name(settings.passage_chars)
        self._packages_changed = False
        self._reading: set[str] = set()
        self._again: set[str] = set()  # being read while other packages were installed
        self._news = anyio.Event()
        self._room = anyio.Semaphore(AT_A_TIME)
        db.on_notice(self._hear)

    async def run(self) -> None:
        """Bring the configured sources into the database, then read the due ones. Until cancelled; a source that
        was being read then is due at once for the next server. After a database error it pauses and tries again."""
        in_step = False
        async with anyio.create_task_group() as tasks:
            while True:
                news = self._news
                try:
                    if not in_step:
                        await self.synchronise()
                        in_step = True
                    await self._want_packages()
                    row = await self._claim_with_room()
                    others = (*self._reading, *await self._guard.set_aside_ids(kinds.SOURCE))
                    until = None if row else await self._db.read(source_store.next_due, others)
                except OutlastError as error:
                    log.warning("sources not looked at", extra={"code": error.code, "reason": error.message})
                    await self._clock.sleep(PAUSE_S)
                    continue
                if row is not None:
                    tasks.start_soon(self._guard.once, kinds.SOURCE, row.id, self._read, row)
                else:
                    left = None if until is None else (until - self._clock.now()).total_seconds()
                    await wait_at_most(self._clock, news, left)

    async def synchronise(self) -> None:
        """Replace the shared sources by those of the configuration, all due now; sources that a killed server was
        reading are due too, and those cut by other rules."""

        followed = self._followed()

        def run(tx: Tx) -> None:
            source_store.keep_only_configured(tx, self._configured, followed)
            if self._db.dialect == "sqlite":  # no other server can be reading
                source_store.take_over(tx)
            for one in self._configured.values():
                source_store.add(tx, NewSource(one.package, one.kind, one.location), tx.now)
            source_store.cut_anew(tx, self._cut)

        try:
            await self._db.write(run)
        except sa.exc.IntegrityError:  # another server that starts at the same time was faster
            await self._db.write(run)

    def packages_changed(self) -> None:
        """Packages may have other versions now: their documentation is read again. Returns at once."""
        self._packages_changed = True
        self._hear(BELL)

    async def read_due(self) -> int:
        """Read all sources that are due now, one after the other. Returns their number."""
        count = 0
        while (row := await self._claim_with_room()) is not None:
            await self._guard.once(kinds.SOURCE, row.id, self._read, row)
            count += 1
        return count

    async def _claim_with_room(self) -> KnowledgeSourceRow | None:
        """A source to read, and a slot for reading it, which `_read` releases; None if no source is due."""
        await self._room.acquire()
        row = None
        try:
            others = (*self._reading, *await self._guard.set_aside_ids(kinds.SOURCE))
            row = await self._db.write(self._claim, self._followed(), others)
        finally:
            if row is None:
                self._room.release()
        return row

    def _claim(self, tx: Tx, followed: Sequence[str], reading: Sequence[str]) -> KnowledgeSourceRow | None:
        row = source_store.claim(tx, tx.now + LEASE, reading)
        if row is not None:
            source_store.announce(tx, row.id, self._model, followed)
        return row

    async def _want_packages(self) -> None:
        """Make packages due, and sources with the version of one."""
        if self._packages_changed:
            self._packages_changed = False
            ids = [source_store.configured_id(*place) for place, one in self._configured.items() if one.installed]
            self._again |= self._reading.intersection(ids)
            try:
                await self._db.write(source_store.want_now, ids)
            except OutlastError:
                self._packages_changed = True
                raise

    def _hear(self, stream_id: str) -> None:
        if stream_id in (BELL, "*"):
            self._news.set()
            self._news = anyio.Event()

    # --- reading one

    async def _read(self, row: KnowledgeSourceRow) -> None:
        self._reading.add(row.id)
        try:
            if not await self._guard.attempt_now(kinds.SOURCE, row.id, self._read_or_note, row):
                await self._fail(row, "an internal error; see the server's log", None)
            if row.id in self._again:
                await self._db.write(source_store.want_now, [row.id])
                self._again.discard(row.id)
        except anyio.get_cancelled_exc_class():
            with suppress(OutlastError), anyio.CancelScope(shield=True), anyio.move_on_after(GIVE_BACK_S):
                await self._db.write(source_store.give_back, row.id)
            raise
        finally:
            self._reading.discard(row.id)
            self._room.release()
            self._hear(BELL)  # its due time counts again

    async def _read_or_note(self, row: KnowledgeSourceRow) -> None:
        pages = await self._db.read(source_store.known_pages, row.id)
        try:
            reading, contents = await self._in_time(row, pages)
        except NotRead as error:
            await self._fail(row, str(error), error.retry_after_s)
            return
        planned: Exchange | None = None
        if contents is not None:  # computed outside the transaction: large sources would block the writer for seconds
            revision, old = await self._db.read(source_store.now_held, row.id)
            planned = await anyio.to_thread.run_sync(exchange, revision, old, contents)
        followed = self._followed()

        def run(tx: Tx) -> None:
            due_at = due_after(tx.now, self._settings.refresh_hours)
            if contents is None:
                source_store.unchanged(tx, row.id, due_at, reading.version)
            else:
                source_store.fill(tx, row.id, contents, due_at, planned)
            source_store.announce(tx, row.id, self._model, followed)

        await self._db.write(run)

    async def _in_time(self, row: KnowledgeSourceRow, pages: Known) -> tuple[Reading, Contents | None]:
        with anyio.move_on_after(self._read_s):
            reading = await self._read_source(row, pages)
            return reading, None if reading.documents is None else await self._contents(reading, pages)
        raise NotRead(f"reading it took longer than {self._read_s / 60:.3g} minutes, the limit for one source")

    async def _read_source(self, row: KnowledgeSourceRow, pages: Known) -> Reading:
        """A source cut by other rules is read as if for the first time."""
        if row.cut != self._cut:
            row, pages = row._replace(etag=None, modified=None), {}
        known = self._configured.get((row.package, row.location)) if row.project_id is None else None
        if known is not None:
            return await self._reader.read(row, pages, allowed=known.allowed, installed=known.installed)
        return await self._reader.read(row, pages, allowed=private_exceptions(self._settings.allow_private))

    async def _contents(self, reading: Reading, pages: Known) -> Contents:
        documents = reading.documents or ()
        cuts = await anyio.to_thread.run_sync(cut_documents, documents, self._settings.passage_chars)
        if not any(cuts.values()) and not any(one.text is None and one.url in pages for one in documents):
            raise NotRead("the source contains no text")
        return Contents(reading, cuts, self._cut)

    async def _fail(self, row: KnowledgeSourceRow, why: str, retry_after_s: float | None) -> None:
        followed = self._followed()

        def run(tx: Tx) -> None:
            source_store.failed(tx, row.id, why, retry_at(tx.now, row.fetched_at, retry_after_s))
            source_store.announce(tx, row.id, self._model, followed)

        log.warning("source not read", extra={"source": row.id, "location": row.location, "reason": why})
        await self._db.write(run)
