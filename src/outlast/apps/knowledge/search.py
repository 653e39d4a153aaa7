"""Search documentation and modules: by words and by vectors at once, then combine the results.

The search by words is BM25 over all searched texts; the search by vectors is the cosine of the query with every text;
`scores.py` combines the two; a re-ranker, if configured, sorts the best. Each of these but the first may be missing
or fail; the answer reports that. The same passages give the same order on either database.
"""

import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Sequence
from functools import partial
from pathlib import Path
from typing import Final, Protocol

import anyio
import anyio.to_thread
from anyio import TASK_STATUS_IGNORED
from anyio.abc import TaskStatus

from outlast.apps.knowledge import scores, store
from outlast.apps.knowledge import tokenizer as words
from outlast.apps.knowledge.arrays import Floats, np
from outlast.apps.knowledge.excerpts import known_package, module_hit, package_answer, passage_hit, rescored
from outlast.apps.knowledge.index_cache import MAX_BYTES, Shelf, Shelves
from outlast.apps.knowledge.memories.store import usable
from outlast.apps.knowledge.reranker import Reranker, RerankFailed
from outlast.apps.knowledge.rows import KnowledgeSourceRow
from outlast.apps.knowledge.vector_math import (
    BLOCK,
    SMALL,
    away,
    cosines_of,
    middle_of,
    near,
    ordered,
    words_in,
    words_of,
)
from outlast.base.clock import Clock
from outlast.base.errors import OutlastError
from outlast.base.records import dataclass
from outlast.base.supervision.supervisor import Supervisor
from outlast.db.database import Database
from outlast.kernel.library.memories import Memory
from outlast.kernel.library.modules import Module, UsableModules
from outlast.kernel.library.search import HitAnswer, HitScores, PackageAnswer, SearchMethod, SearchReply
from outlast.kernel.runs.transcript import Run

QUERY_CHARS: Final = 2_000  # of a query are used
EMBED_WAIT_S: Final = 5.0  # for a query's vector; then words alone are used
REST_S: Final = 30.0  # pause after an embedder failed
KEPT_QUERIES: Final = 256
MEND_EVERY_S: Final = 600.0  # a service with changing answers must not have everything embedded each time
QUICKLY_OPENED: Final = 10_000  # passages that are read from files in 0.15 s: the first search can wait for them
BY_WORDS: Final = 400  # texts whose vectors are compared if not all fit into memory
MIN_SHARE: Final = 0.3  # of the best score; memories that score less are not recalled
SPARE: Final = 5  # hits more than asked for, in case some are duplicates or were just removed
log = logging.getLogger("outlast.knowledge")
NO_EMBEDDER: Final = "No embedder is configured ([embeddings]), so this search used words only."
NO_VECTORS: Final = "The searched texts have no vectors of the current embedder, so this search used words only."
NOT_COMPARED: Final = "Vectors could not be compared, so this search used words only."


class QueryEmbedder(Protocol):
    """Turns a query into a vector: float16, little-endian, length 1, like the passages' vectors."""

    @property
    def model(self) -> str:
        """Key of its vectors: name of the model, with dimensions."""

    async def embed(self, texts: Sequence[str]) -> list[bytes]: ...


@dataclass(frozen=True, slots=True, eq=False)
class _Looked:
    """The texts of one search: documentation first, in the order of `starts`, then modules."""

    shelves: Sequence[Shelf]
    modules: Sequence[Module]
    words: Floats
    cosines: Floats | None

    def place(self, at: int) -> tuple[Shelf, int] | Module:
        for shelf in self.shelves:
            if at < len(shelf.segment.ids):
                return shelf, at
            at -= len(shelf.segment.ids)
        return self.modules[at]


class Knowledge:
    """See `Searcher`. Caches indexes, vectors and the vectors of recent queries in memory; all can be rebuilt."""

    def __init__(
        self,
        db: Database,
        clock: Clock,
        *,
        folder: Path | None = None,
        embedder: QueryEmbedder | None = None,
        modules: UsableModules | None = None,
        reranker: Reranker | None = None,
        rerank_candidates: int = 20,
        most_bytes: int = MAX_BYTES,
        vector_share: float = scores.VECTOR_SHARE,
        supervisor: Supervisor | None = None,
        remembers: bool = True,
    ) -> None:
        self._db, self._clock, self._remembers = db, clock, remembers
        self._guard = (supervisor or Supervisor(clock)).guard
        self._embedder, self._modules = embedder, modules
        self._reranker, self._candidates = reranker, rerank_candidates if reranker is not None else 0
        self._vector_share = vector_share
        self._shelves = Shelves(db, folder, most_bytes, self.embedder or "")
        self._queries: OrderedDict[str, Floats] = OrderedDict()
        self._rests_until = 0.0
        self._length = 0  # of the embedder's vectors; 0 before the first answer
        self._mended, self._mends_from = 0, 0.0  # the length, and the earliest time of the next repair
        self._is_used = False
        self._changed = anyio.Event()
        db.on_notice(self._hear)

    @property
    def embedder(self) -> str | None:
        """The model whose vectors are used, or None if none is configured."""
        return None if self._embedder is None else self._embedder.model

    @property
    def reranks(self) -> bool:
        return self._reranker is not None

    async def run(self, *, task_status: TaskStatus[None] = TASK_STATUS_IGNORED) -> None:
        """Build indexes as soon as their sources change, and read vectors, so that no search waits long. Small indexes
        in files are not loaded before the first search. Ends when cancelled, never by an error. Has started
        once that is done for the current sources."""
        await self._guard.once("search indexes", "all", self._prepare)
        task_status.started()
        while True:
            await self._changed.wait()
            await self._guard.once("search indexes", "all", self._prepare)

    async def _prepare(self) -> None:
        """Build the current indexes of all sources, then read their vectors, as far as they fit. A change
        starts it again. An index that cannot be built now is built when it is searched."""
        self._changed = anyio.Event()
        await self._mend()
        sources = await self._db.read(store.all_sources)
        self._shelves.keep_only(frozenset(source.id for source in sources))
        few = sum(source.passages for source in sources) <= QUICKLY_OPENED
        is_lazy = few and self.embedder is None and not self._is_used
        await self._each(sources, self._make if is_lazy else self._shelves.shelf)
        if self._changed.is_set() or self.embedder is None:
            return
        length = self._length or await self._db.read(store.vector_length, self.embedder)
        everybodys = sum(source.passages for source in sources if source.project_id is None)
        if length and self._shelves.can_fill(everybodys, length):
            await self._each(sources, partial(self._shelves.fill_early, length))

    async def _each(
        self, sources: Sequence[KnowledgeSourceRow], make: Callable[[KnowledgeSourceRow], Awaitable[object]]
    ) -> None:
        for source in sources:
            if self._changed.is_set() or self._shelves.is_full:
                return
            if source.passages:
                await self._guard.once("search index", source.id, make, source)

    async def _make(self, source: KnowledgeSourceRow) -> None:
        """Build one index; one in a file is not loaded into memory before the first search."""
        if not await self._shelves.is_kept(source):
            await self._shelves.shelf(source)

    async def _mend(self) -> None:
        """Embed texts again whose vectors have another length than the embedder's current ones."""
        length, model = self._length, self.embedder
        if not length or model is None or not self._mends:
            return
        self._mends_from = self._clock.monotonic() + MEND_EVERY_S
        count = 0
        while removed := await self._db.write(store.remove_stale_vectors, model, length):
            count += removed
        if count:
            facts = {"model": model, "length": length, "count": count}
            log.warning("vectors of another length are computed again", extra=facts)
        self._mended = length

    @property
    def _mends(self) -> bool:
        return self._length != self._mended and self._clock.monotonic() >= self._mends_from

    async def search(
        self,
        query: str,
        *,
        project_id: str,
        package: str | None = None,
        limit: int = 5,
        workspace_id: str | None = None,
        user_id: str | None = None,
    ) -> SearchReply:
        """See `Searcher.search`."""
        began = self._clock.monotonic()
        query = query[:QUERY_CHARS].strip()
        sources = await self._db.read(store.sources_of_project, project_id)
        if package is not None:
            wanted = known_package(package, [source.package for source in sources])
            sources = [source for source in sources if source.package == wanted]
        living: Sequence[Module] = ()
        if self._modules is not None and (workspace_id is not None or user_id is not None):
            living = await self._modules.usable(workspace_id, user_id)
        looked, notes = await self._look(query, sources, living)
        found = await self._found(looked, query, max(limit, self._candidates) + SPARE)
        method: SearchMethod = "words" if looked.cosines is None else "words+vectors"
        if self._reranker is not None and len(found) > 1:
            found, note = await self._reranked(self._reranker, query, found[: self._candidates])
            if note:
                notes.append(note)
            else:
                method = "words+reranked" if looked.cosines is None else "words+vectors+reranked"
        if package is not None and not sources:
            notes.insert(0, f"No documentation of {package[:200]} is indexed here.")
        return SearchReply(
            items=found[:limit],
            method=method,
            note=" ".join(notes),
            searched=len(looked.words),
            took_ms=round((self._clock.monotonic() - began) * 1000, 2),
        )

    async def packages(self, project_id: str) -> list[PackageAnswer]:
        """See `Searcher.packages`."""
        by_name: dict[str, list[KnowledgeSourceRow]] = {}
        for source in await self._db.read(store.sources_of_project, project_id):
            by_name.setdefault(source.package, []).append(source)
        return [package_answer(name, by_name[name]) for name in sorted(by_name)]

    async def recall(
        self, run: Run, query: str, *, thread_id: str | None = None, without: Collection[str] = (), limit: int = 3
    ) -> list[Memory]:
        """See `Searcher.recall`."""
        if limit < 1 or not query.strip() or not self._remembers:
            return []
        known = await self._db.read(usable, run, thread_id, {run.id, *without})
        scores = await self.rank(query, [(one.hash, one.summary) for one in known])
        least = max(scores, default=0.0) * MIN_SHARE
        order = sorted(range(len(known)), key=lambda at: (-scores[at], at))
        return [known[at] for at in order[:limit] if scores[at] > 0 and scores[at] >= least]

    async def rank(self, query: str, texts: Sequence[tuple[str, str]]) -> list[float]:
        """The relevance of each text, given as (SHA-256, text), to the query, in order: as in a search, from 0 to 1, by
        words and by existing vectors. Reads only; safe to repeat and to cancel."""
        query = query[:QUERY_CHARS].strip()
        if not query or not texts:
            return [0.0] * len(texts)
        by_words = await anyio.to_thread.run_sync(words_of, [text for _, text in texts], words.query_terms(query))
        vector, _ = await self._vector(query)
        cosines: Floats | None = None
        if vector is not None:
            cosines = await self._cosines_of([one for one, _ in texts], vector)
            cosines = None if bool(np.isnan(cosines).all()) else cosines
        return [float(score) for score in scores.fused(by_words, cosines)]

    # --- looking

    async def _look(
        self, query: str, sources: Sequence[KnowledgeSourceRow], modules: Sequence[Module]
    ) -> tuple[_Looked, list[str]]:
        """Search by words and by vectors concurrently."""
        self._is_used = True
        terms = words.query_terms(query)
        vector: Floats | None = None
        cosines: Floats | None = None
        note = ""

        async def by_vectors() -> None:
            nonlocal vector, cosines, note
            vector, note = await self._vector(query)
            if vector is not None:
                cosines, note = await _compared(self._cosines(vector, shelves, modules))

        shelves = await self._shelves.open(sources)
        async with anyio.create_task_group() as tasks:
            if query and (sources or modules):
                tasks.start_soon(by_vectors)
            by_words = await away(sum(source.passages for source in sources), words_in, shelves, modules, terms)
        if cosines is None and vector is not None and not note:
            cosines, note = await _compared(self._cosines_of_few(vector, shelves, modules, by_words))
        if cosines is not None and bool(np.isnan(cosines).all()):
            note = NO_VECTORS if len(cosines) else note
            cosines = None
        return _Looked(shelves, modules, by_words, cosines), [note] if note else []

    async def _vector(self, query: str) -> tuple[Floats | None, str]:
        """The query's vector, or the reason why there is none."""
        if self._embedder is None:
            return None, NO_EMBEDDER
        known = self._queries.get(query)
        if known is not None:
            self._queries.move_to_end(query)
            return known, ""
        if self._clock.monotonic() < self._rests_until:
            return None, _failed("failed a moment ago")
        try:
            with anyio.fail_after(EMBED_WAIT_S):
                vector = np.frombuffer((await self._embedder.embed([query]))[0], "<f2").astype(np.float32)
            if not len(vector):
                raise ValueError("a vector of no numbers")
        except Exception as error:  # on any error words remain; the next try is in half a minute
            self._rests_until = self._clock.monotonic() + REST_S
            return None, _failed(_reason(error))
        if len(vector) != self._length:
            self._queries.clear()
            self._length = len(vector)
        if self._mends:
            self._changed.set()
        self._queries[query] = vector
        if len(self._queries) > KEPT_QUERIES:
            self._queries.popitem(last=False)
        return vector, ""

    async def _cosines(self, vector: Floats, shelves: list[Shelf], modules: Sequence[Module]) -> Floats | None:
        """The similarity of each text to the query, NaN for one without a vector; None if they do not fit into
        memory."""
        whole = await self._shelves.fill(shelves, len(vector))
        if whole is None:
            return None
        of_modules = await self._cosines_of([module.hash for module in modules], vector)
        rows = [rows[at : at + BLOCK] for rows in whole for at in range(0, len(rows), BLOCK)]
        size = sum(map(len, rows))
        if size < 2 * SMALL:
            return np.concatenate([await away(size, near, rows, vector), of_modules])
        halves: list[Floats] = [np.zeros(0, np.float32)] * 2
        middle = middle_of(rows)

        async def look(half: int, part: Sequence[Floats]) -> None:
            halves[half] = await anyio.to_thread.run_sync(near, part, vector)

        async with anyio.create_task_group() as tasks:  # two cores read memory faster than one
            tasks.start_soon(look, 0, rows[:middle])
            tasks.start_soon(look, 1, rows[middle:])
        return np.concatenate([*halves, of_modules])

    async def _cosines_of(self, hashes: Sequence[str], vector: Floats) -> Floats:
        """The similarity of texts to the query, by vectors that are read one by one; NaN for one without a vector."""
        known = await self._db.read(store.vectors_of, self.embedder or "", hashes) if hashes else {}
        return cosines_of(hashes, known, vector)

    async def _cosines_of_few(
        self, vector: Floats, shelves: list[Shelf], modules: Sequence[Module], by_words: Floats
    ) -> Floats:
        """The similarity of the best texts by words only; the others count as 0."""
        at = scores.best(by_words, BY_WORDS)
        hashes = [one for shelf in shelves for one in shelf.segment.hashes]
        hashes += [module.hash for module in modules]
        found = await self._cosines_of([hashes[one] for one in at], vector)
        none_fits = bool(len(found)) and bool(np.isnan(found).all())
        cosines = np.full(len(by_words), np.nan if none_fits else 0, np.float32)
        cosines[at] = found
        return cosines

    async def _found(self, looked: _Looked, query: str, limit: int) -> list[HitAnswer]:
        """The best distinct texts with their scores."""
        fused, order = await away(len(looked.words), ordered, looked.words, looked.cosines, self._vector_share, limit)
        places = [(at, looked.place(at)) for at in order]
        ids = [place[0].segment.ids[place[1]] for _, place in places if not isinstance(place, Module)]
        rows = await self._db.read(store.passages_by_id, ids)
        terms = frozenset(words.query_terms(query))
        found: dict[str, HitAnswer] = {}
        for at, place in places:
            how = HitScores(words=round(float(looked.words[at]), 4))
            if looked.cosines is not None and not np.isnan(looked.cosines[at]):
                how = how.model_copy(update={"vectors": round(float(looked.cosines[at]), 4)})
            score = round(float(fused[at]), 4)
            if isinstance(place, Module):
                found[place.id] = module_hit(
                    place, self._modules.dependencies if self._modules else "", score, how, terms
                )
            else:
                shelf, position = place
                row = rows.get(shelf.segment.ids[position])
                if row is None:  # changed since the sources were read
                    self._shelves.forget(shelf.segment.source_id)
                    continue
                found.setdefault(shelf.segment.hashes[position], passage_hit(row, score, how, terms))
        return list(found.values())

    async def _reranked(self, reranker: Reranker, query: str, found: list[HitAnswer]) -> tuple[list[HitAnswer], str]:
        texts = [f"{hit.heading}\n\n{hit.text}" for hit in found]
        try:
            told = scores.as_shares(await reranker.scores(query, texts))
        except RerankFailed as error:
            return found, f"The re-ranker was not used: {error}."
        order = sorted(range(len(found)), key=lambda at: -told[at])
        return [rescored(found[at], told[at]) for at in order], ""

    def _hear(self, notice: str) -> None:
        if notice in (store.VECTORS, "*"):
            self._shelves.hear_of_vectors()
        if notice in (store.BELL, "*"):
            self._changed.set()


async def _compared(cosines: Awaitable[Floats | None]) -> tuple[Floats | None, str]:
    """The cosines, or the reason why there are none."""
    try:
        return await cosines, ""
    except OutlastError as error:
        log.warning("vectors not compared", extra={"code": error.code, "reason": error.message})
    except Exception as error:  # on any error words remain
        log.warning("vectors not compared", exc_info=error)
    return None, NOT_COMPARED


def _reason(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "did not answer in time"
    return f"failed ({error.code})" if isinstance(error, OutlastError) else "failed"


def _failed(how: str) -> str:
    return f"The embedder {how}, so this search used words only."
