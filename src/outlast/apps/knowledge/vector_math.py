"""The arithmetic of a search: arrays in, arrays out, in a thread if it takes long."""

from collections.abc import Callable, Sequence
from typing import Final, TypeVar, TypeVarTuple

import anyio.to_thread

from outlast.apps.knowledge import postings, scores
from outlast.apps.knowledge import tokenizer as words
from outlast.apps.knowledge.arrays import Floats, np
from outlast.apps.knowledge.excerpts import text_of
from outlast.apps.knowledge.index_cache import Shelf
from outlast.kernel.library.modules import Module

SMALL: Final = 3_000  # texts whose arrays take less than a millisecond
BLOCK: Final = 10_000  # vectors that are compared at once
T = TypeVar("T")
Given = TypeVarTuple("Given")


async def away(size: int, work: Callable[[*Given], T], *given: *Given) -> T:
    """The result of `work` for `size` texts: from a thread, if it takes longer than switching to one."""
    return work(*given) if size < SMALL else await anyio.to_thread.run_sync(work, *given)


def ordered(by_words: Floats, cosines: Floats | None, vector_share: float, limit: int) -> tuple[Floats, list[int]]:
    """The fused score of every text, and the positions of the best."""
    fused = scores.fused(by_words, cosines, vector_share)
    return fused, [int(at) for at in scores.best(fused, limit)]


def words_in(shelves: Sequence[Shelf], modules: Sequence[Module], terms: Sequence[str]) -> Floats:
    """BM25 of every passage of the shelves, then of the modules, as one collection."""
    collection = [shelf.segment.postings for shelf in shelves]
    if modules:
        collection.append(postings.build(words.terms_of(text_of(module)) for module in modules))
    scores = postings.bm25(collection, terms)
    return np.concatenate(scores) if scores else np.zeros(0, np.float32)


def words_of(texts: Sequence[str], terms: Sequence[str]) -> Floats:
    """The same for plain texts."""
    return postings.bm25([postings.build(words.terms_of(text) for text in texts)], terms)[0]


def near(matrices: Sequence[Floats], vector: Floats) -> Floats:
    """The cosine of every row with the vector; NaN if a row is NaN, or has another length."""
    return np.concatenate([np.zeros(0, np.float32), *(_near(rows, vector) for rows in matrices)])


def _near(rows: Floats, vector: Floats) -> Floats:
    if rows.shape[1] != len(vector):
        return np.full(len(rows), np.nan, np.float32)
    # Not `@`: its threads wait for each other by spinning, which is ten times slower where cores are busy.
    cosines: Floats = np.einsum("ij,j->i", rows, vector)
    return cosines


def middle_of(matrices: Sequence[Floats]) -> int:
    """The index that divides a list of matrices so that both parts have about as many rows."""
    sizes = np.cumsum([len(rows) for rows in matrices])
    return int(np.argmin(np.abs(sizes - sizes[-1] / 2))) + 1


def cosines_of(hashes: Sequence[str], known: dict[str, bytes], vector: Floats) -> Floats:
    """The cosines of a few texts, from the known vectors; NaN for the others."""
    cosines = np.full(len(hashes), np.nan, np.float32)
    for at, one in enumerate(hashes):
        if len(known.get(one, b"")) == 2 * len(vector):
            cosines[at] = np.frombuffer(known[one], "<f2").astype(np.float32) @ vector
    return cosines
