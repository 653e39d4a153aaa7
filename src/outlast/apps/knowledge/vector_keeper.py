"""Computes the vector of every searchable text, in the background: passages, modules, memories.

Vectors are stored in the table `vectors`, by model and by hash of the text, so that no text is ever sent twice. After
each request, a query finds the texts without a vector; a request that arrives meanwhile is not lost. A text that the
embedder refuses stays without a vector, and the others still get theirs. Everything works without it: search uses words
until vectors exist.
"""

import logging
import math
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Final

import anyio
import sqlalchemy as sa

from outlast.apps.knowledge import source_store, store
from outlast.apps.knowledge.passages import searched_text
from outlast.apps.knowledge.rows import KnowledgePassageRow
from outlast.apps.knowledge.search import QueryEmbedder
from outlast.apps.knowledge.source_keeper import Followed
from outlast.apps.knowledge.store import BELL, TEXTS, VECTORS
from outlast.apps.knowledge.tables import knowledge_passages, memories, modules, vectors
from outlast.base.clock import Clock, wait_at_most
from outlast.base.errors import OutlastError, TryLater
from outlast.base.supervision.supervisor import Supervisor
from outlast.db.database import Database, R, Tx
from outlast.db.prepared import insert_missing_into
from outlast.kernel.library.memories import Memory
from outlast.kernel.library.modules import Module

AT_ONCE: Final = 256  # texts that are read together
BATCH: Final = 64  # texts between two writes, unless the embedder takes another number in one request
TELL_EVERY_S: Final = 3.0  # the progress of a source
PROBE: Final = "text"  # a working embedder never refuses this
PAUSES_S: Final = (5.0, 30.0, 120.0, 600.0)  # after failures in a row
COLLECT_EVERY: Final = timedelta(hours=12)
UNUSED_FOR: Final = timedelta(days=1)  # an unused vector is kept: its text may come back after a change
log = logging.getLogger("outlast.knowledge")
Missing = Callable[[Tx, str, int], list[tuple[str, str]]]


def _without_vector(table: sa.Table, shape: type[R], text_of: Callable[[R], tuple[str, str]]) -> Missing:
    """A query for the (hash, text) of at most `limit` rows of this table that have no vector of a model yet."""
    rows = sa.select(*(table.c[name] for name in shape._fields)).order_by(table.c.id)

    def missing(tx: Tx, model: str, limit: int) -> list[tuple[str, str]]:
        known = sa.exists().where(vectors.c.model == model, vectors.c.hash == table.c.hash)
        return [text_of(row) for row in tx.rows(shape, rows.where(~known).limit(limit))]

    return missing


memories_without_vector: Final = _without_vector(memories, Memory, lambda one: (one.hash, one.summary))
modules_without_vector: Final = _without_vector(modules, Module, lambda one: (one.hash, one.text))
passages_without_vector: Final = _without_vector(
    knowledge_passages, KnowledgePassageRow, lambda one: (one.hash, searched_text(one.heading, one.body))
)
MISSING: Final = (memories_without_vector, modules_without_vector, passages_without_vector)  # the shortest first


class VectorKeeper:
    """One per server with an embedder. In memory: the pending request to look, and the texts that the embedder
    refused."""

    def __init__(
        self,
        db: Database,
        clock: Clock,
        embedder: QueryEmbedder,
        followed: Followed = lambda: (),
        batch: int = BATCH,
        supervisor: Supervisor | None = None,
    ) -> None:
        """`batch`: texts that the embedder takes in one request; this many are saved together."""
        self._db, self._clock, self._embedder, self._followed = db, clock, embedder, followed
        self._batch = batch
        self._guard = (supervisor or Supervisor(clock)).guard
        self._refused: set[str] = set()  # hashes
        self._untold: set[str] = set()  # sources
        self._told_at: dict[str, float] = {}
        self._wish = anyio.Event()  # there may be texts without a vector
        self._urgent = anyio.Event()  # requested, also during a pause
        self._collected_at = clock.now() - COLLECT_EVERY
        db.on_notice(self._hear)

    async def run(self) -> None:
        """Until cancelled: embed texts without a vector, then wait for a request. The pauses after failures grow,
        unless a request asks to look."""
        failures = 0
        while True:
            self._wish, self._urgent = anyio.Event(), anyio.Event()
            refused: list[str] = []
            done = await self._guard.once("embedder", self._embedder.model, self._embed, refused)
            failures = 0 if done and not refused else failures + 1
            if failures:  # regardless of requests in the meantime
                await wait_at_most(self._clock, self._urgent, PAUSES_S[min(failures, len(PAUSES_S)) - 1])
            else:
                await self._wish.wait()

    async def _embed(self, refused: list[str]) -> None:
        try:
            if self._clock.now() - self._collected_at >= COLLECT_EVERY:
                await self._db.write(remove_unused_vectors)
                self._collected_at = self._clock.now()
            await self.embed_missing()
        except OutlastError as error:
            log.warning("not embedded", extra={"code": error.code, "reason": error.message})
            refused.append(error.message)

    async def embed_missing(self) -> int:
        """Embed all texts without a vector; returns their number. A text that the embedder refuses is left out.
        Raises the embedder's errors if it fails itself; finished work stays."""
        count = 0
        self._told_at.clear()
        try:
            for missing in MISSING:
                while texts := await self._without_vector(missing):
                    for some in store.slices(list(texts), self._batch):
                        count += await self._embed_or_leave({one: texts[one] for one in some})
        except OutlastError:
            await self._tell(0.0)
            raise
        await self._tell(0.0)
        return count

    async def _without_vector(self, missing: Missing) -> dict[str, str]:
        """Some texts by hash, without refused ones; empty if there are no more."""
        limit = AT_ONCE + len(self._refused)
        while True:
            found = await self._db.read(missing, self._embedder.model, limit)
            texts = {one: text for one, text in found if one not in self._refused}
            if texts or len(found) < limit:
                return texts
            limit *= 2  # many passages may have one text

    async def _embed_or_leave(self, texts: dict[str, str]) -> int:
        """Embed and save; a refused batch is halved, down to the texts that cause it."""
        hashes = list(texts)
        try:
            made = await self._embedder.embed(list(texts.values()))
        except TryLater:
            raise
        except OutlastError as error:
            if len(hashes) > 1:
                half = len(hashes) // 2
                parts = ({one: texts[one] for one in some} for some in (hashes[:half], hashes[half:]))
                return sum([await self._embed_or_leave(part) for part in parts])
            await self._embedder.embed([PROBE])  # raises if the text is not the cause
            self._refused.update(hashes)
            reason = {"hash": hashes[0], "code": error.code, "reason": error.message}
            log.warning("the embedder refuses a text; search finds it by words only", extra=reason)
            return 0
        await self._db.write(save_vectors, self._embedder.model, dict(zip(hashes, made, strict=True)))
        self._untold.update(await self._db.read(_sources_of, hashes))
        await self._tell(TELL_EVERY_S)
        return len(texts)

    async def _tell(self, every_s: float) -> None:
        """Announce the progress of sources that were last announced this long ago; counted outside the database's
        writer."""
        now, model = self._clock.monotonic(), self._embedder.model
        for one in sorted(self._untold):
            if now - self._told_at.get(one, -math.inf) >= every_s:
                embedded = await self._db.read(store.count_vectors, model, one)
                await self._db.write(source_store.announce, one, model, self._followed(), embedded)
                self._told_at[one] = now
                self._untold.discard(one)

    def _hear(self, stream_id: str) -> None:
        if stream_id in (BELL, TEXTS, "*"):
            self._wish.set()
        if stream_id == TEXTS:  # of work that has just ended: look now, even if the last try has just failed
            self._urgent.set()


def save_vectors(tx: Tx, model: str, made: dict[str, bytes]) -> None:
    """Store vectors by the hash of their text; existing ones stay. Rings `VECTORS`."""
    rows = [{"model": model, "hash": one, "vector": vector, "created_at": tx.now} for one, vector in made.items()]
    # Another server may have embedded the same text in the meantime.
    tx.execute(insert_missing_into(vectors, tx.conn.dialect.name), rows)
    tx.ring(VECTORS)


def remove_unused_vectors(tx: Tx) -> int:
    """Remove the vectors of texts that are no longer used. Returns their number."""
    used = [sa.exists().where(table.c.hash == vectors.c.hash) for table in (knowledge_passages, modules, memories)]
    old = vectors.c.created_at < tx.now - UNUSED_FOR
    return tx.execute(sa.delete(vectors).where(old, *(~one for one in used))).rowcount


def _sources_of(tx: Tx, hashes: Sequence[str]) -> list[str]:
    some = knowledge_passages.c.hash.in_(hashes)
    return sorted(tx.execute(sa.select(knowledge_passages.c.source_id).where(some).distinct()).scalars())
