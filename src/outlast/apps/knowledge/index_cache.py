"""The in-memory data of searches: an index and a matrix of vectors for each source, built when first needed.

Caches only: everything here can be rebuilt from the database. An index is valid for one revision of its source. A
matrix lacks the vectors that did not exist when it was read, and is completed when more arrive.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import field
from functools import partial
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread

from outlast.apps.knowledge import postings, store
from outlast.apps.knowledge import saved_indexes as saved
from outlast.apps.knowledge import tokenizer as words
from outlast.apps.knowledge.arrays import Floats, np
from outlast.apps.knowledge.passages import searched_text
from outlast.apps.knowledge.rows import KnowledgePassageRow, KnowledgeSourceRow
from outlast.apps.knowledge.saved_indexes import Segment
from outlast.base.records import dataclass
from outlast.db.database import Database

MAX_BYTES: Final = 1_000_000_000  # of memory for indexes and vectors
SLICE: Final = 500  # passages that are tokenized before the thread yields
READ_AT_ONCE: Final = 5_000  # vectors


@dataclass(slots=True, eq=False)
class Matrix:
    """The vectors of a source's passages, one per row, length 1; rows of NaN have none yet. `news`: the last signal it
    has read (-1: none was read)."""

    rows: Floats
    missing: list[int]
    news: int


@dataclass(slots=True, eq=False)
class Shelf:
    """The searchable data of one source."""

    segment: Segment
    matrix: Matrix | None = None
    filling: anyio.Lock = field(default_factory=partial(anyio.Lock, fast_acquire=True))

    @property
    def size_bytes(self) -> int:
        return self.segment.size_bytes + (0 if self.matrix is None else self.matrix.rows.nbytes)


class Shelves:
    """The shelves of all sources; the least recently used are evicted beyond `most_bytes`. `folder` stores indexes
    across restarts (or None), `model` is the embedder's (empty without one). One shelf is built at a time; if
    cancelled, it is built again at the next call."""

    def __init__(self, db: Database, folder: Path | None, most_bytes: int, model: str) -> None:
        self._db, self._folder, self._most_bytes, self._model = db, folder, most_bytes, model
        self._shelves: OrderedDict[str, Shelf] = OrderedDict()
        self._making = anyio.Lock()
        self._news = 0

    def hear_of_vectors(self) -> None:
        """Missing vectors may exist now."""
        self._news += 1

    async def open(self, sources: Sequence[KnowledgeSourceRow]) -> list[Shelf]:
        """The current shelves of these sources, in order. Slow for those that are not in memory: about a second
        for 10,000 new passages, a tenth of that for those stored in a file."""
        return [await self.shelf(source) for source in sources if source.passages]

    async def shelf(self, source: KnowledgeSourceRow) -> Shelf:
        """The same for one source, which has passages."""
        shelf = self._known(source)
        if shelf is None:
            async with self._making:
                shelf = self._known(source)
                if shelf is None:
                    shelf = Shelf(await self._segment(source))
                    self._shelves[source.id] = shelf
                    self._make_room(keep=[shelf])
        self._shelves.move_to_end(source.id)
        return shelf

    async def is_kept(self, source: KnowledgeSourceRow) -> bool:
        """True if a file has the source's current index, so that opening it is quick."""
        folder = self._folder
        return folder is not None and await anyio.to_thread.run_sync(saved.is_kept, folder, source.id, source.revision)

    async def fill(self, shelves: Sequence[Shelf], dimensions: int) -> list[Floats] | None:
        """The rows of the shelves' matrices, or None if they would take more memory than there is, so that vectors must
        be read one by one."""
        if not self.can_fill(sum(len(shelf.segment.ids) for shelf in shelves), dimensions):
            return None
        rows = [await self._fill(shelf, dimensions) for shelf in shelves]
        self._make_room(keep=shelves)
        return rows

    def can_fill(self, passages: int, dimensions: int) -> bool:
        """True if the vectors of this many passages fit into memory at once."""
        return passages * dimensions * 4 <= self._most_bytes // 2

    async def fill_early(self, dimensions: int, source: KnowledgeSourceRow) -> None:
        """Fill the matrix of one source before the first search, if that evicts no other."""
        shelf = await self.shelf(source)
        count = len(shelf.segment.ids)
        has_room = self.size_bytes + count * dimensions * 4 <= self._most_bytes * 0.9
        if has_room and self.can_fill(count, dimensions):
            await self._fill(shelf, dimensions)

    def forget(self, source_id: str) -> None:
        """Drop the source's index, which is out of date."""
        self._shelves.pop(source_id, None)
        if self._folder is not None:
            saved.forget(self._folder, source_id)

    def keep_only(self, source_ids: frozenset[str]) -> None:
        """Drop all other sources."""
        for source_id in self._shelves.keys() - source_ids:
            del self._shelves[source_id]
        if self._folder is not None:
            saved.keep_only(self._folder, source_ids)

    @property
    def size_bytes(self) -> int:
        return sum(shelf.size_bytes for shelf in self._shelves.values())

    @property
    def is_full(self) -> bool:
        """True if another shelf may evict one."""
        return self.size_bytes > self._most_bytes * 0.9

    def _known(self, source: KnowledgeSourceRow) -> Shelf | None:
        shelf = self._shelves.get(source.id)
        return shelf if shelf is not None and shelf.segment.revision == source.revision else None

    async def _segment(self, source: KnowledgeSourceRow) -> Segment:
        folder = self._folder
        if folder is not None:
            kept = await anyio.to_thread.run_sync(saved.load, folder, source.id, source.revision)
            if kept is not None and len(kept.ids) == source.passages:
                return kept
        passages = await self._db.read(store.passages_of, source.id)
        terms: list[list[str]] = []
        for some in store.slices(passages, SLICE):
            terms += await anyio.to_thread.run_sync(_terms, some)
        made = Segment(
            source.id,
            source.revision,
            tuple(passage.id for passage in passages),
            tuple(passage.hash for passage in passages),
            await anyio.to_thread.run_sync(postings.build, terms),
        )
        if folder is not None and len(passages) == source.passages:
            await anyio.to_thread.run_sync(saved.save, folder, made)
        return made

    async def _fill(self, shelf: Shelf, dimensions: int) -> Floats:
        async with shelf.filling:
            matrix, news, hashes = shelf.matrix, self._news, shelf.segment.hashes
            if matrix is None or matrix.rows.shape[1] != dimensions:
                rows = await anyio.to_thread.run_sync(_empty, len(hashes), dimensions)
                matrix = Matrix(rows, list(range(len(hashes))), news=-1)
            if matrix.missing and matrix.news != news:
                still: list[int] = []
                for some in store.slices(matrix.missing, READ_AT_ONCE):
                    found = await self._db.read(store.vectors_of, self._model, [hashes[at] for at in some])
                    still += await anyio.to_thread.run_sync(_put, matrix.rows, some, hashes, found)
                matrix.missing, matrix.news = still, news
            shelf.matrix = matrix
            return matrix.rows

    def _make_room(self, keep: Sequence[Shelf]) -> None:
        size, kept = self.size_bytes, {id(shelf) for shelf in keep}
        for source_id, shelf in list(self._shelves.items()):
            if size <= self._most_bytes:
                return
            if id(shelf) not in kept:
                size -= shelf.size_bytes
                del self._shelves[source_id]


def _terms(passages: Sequence[KnowledgePassageRow]) -> list[list[str]]:
    return [words.terms_of(searched_text(passage.heading, passage.body)) for passage in passages]


def _empty(count: int, dimensions: int) -> Floats:
    return np.full((count, dimensions), np.nan, np.float32)


def _put(rows: Floats, wanted: Sequence[int], hashes: Sequence[str], found: dict[str, bytes]) -> list[int]:
    """Write the vectors into their rows; those of another length count as missing. Returns the missing
    ones."""
    length, missing = rows.shape[1], []
    for at in wanted:
        vector = found.get(hashes[at])
        if vector is None or len(vector) != 2 * length:
            missing.append(at)
        else:
            rows[at] = np.frombuffer(vector, "<f2")
    return missing
