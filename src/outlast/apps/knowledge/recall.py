"""Recall: the memories of a thread that resemble a request."""

from collections.abc import Collection, Sequence
from typing import Final, Protocol

from outlast.apps.knowledge import memory
from outlast.db.database import Database
from outlast.kernel.library.memories import Memory

MIN_SHARE: Final = 0.3  # of the best score; memories that score less are left out


class Ranker(Protocol):
    """The part of `Knowledge` that ranks texts of the caller."""

    async def rank(self, query: str, texts: Sequence[tuple[str, str]]) -> Sequence[float]:
        """How well each text, given as (SHA-256, text), answers the query, from 0 to 1, in order."""


class Recall:
    """Searches memories by vectors, or by words on a server without an embedder."""

    def __init__(self, db: Database, ranker: Ranker) -> None:
        self._db, self._ranker = db, ranker

    async def of_thread(
        self, thread_id: str, query: str, *, without: Collection[str] = (), limit: int = 3
    ) -> list[Memory]:
        """At most `limit` memories of the thread that resemble the query, best first, without those of the runs named.
        Reads only; safe to repeat and to cancel."""
        if limit < 1 or not query.strip():
            return []
        known = await self._db.read(memory.of_thread, thread_id, without=without)
        if not known:
            return []
        scores = await self._ranker.rank(query, [(one.hash, one.summary) for one in known])
        least = max(scores, default=0.0) * MIN_SHARE
        order = sorted(range(len(known)), key=lambda at: (-scores[at], at))
        return [known[at] for at in order[:limit] if scores[at] > 0 and scores[at] >= least]
