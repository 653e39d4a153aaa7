"""An inverted index over the passages of one source: the passages of each term, with counts. Immutable.

Several are searched together as one collection: the rarity of a term and the length of passages are counted over all of
them, so the scores are those of one big index, and a source can be replaced without touching the others.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from outlast.apps.knowledge.arrays import Floats, Int32s, Int64s, Uint16s, np
from outlast.apps.knowledge.tokenizer import relatives
from outlast.base.records import dataclass

K1: Final = 1.5  # how quickly repetitions of a term saturate
B: Final = 0.75  # how strongly long passages are penalised
OTHER_FORM: Final = 0.6  # of a term's weight, for another form of it


@dataclass(frozen=True, slots=True, eq=False)
class Postings:
    """`lengths[i]`: the number of terms of passage i. The passages of the term with number n = `terms[term]` are
    `passages[starts[n]:starts[n + 1]]`, ascending, each with its frequency in `counts`."""

    terms: dict[str, int]
    starts: Int64s
    passages: Int32s
    counts: Uint16s
    lengths: Int32s

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def size_bytes(self) -> int:
        arrays = (self.starts, self.passages, self.counts, self.lengths)
        return sum(array.nbytes for array in arrays) + 110 * len(self.terms)

    def of(self, term: str) -> tuple[Int32s, Uint16s] | None:
        number = self.terms.get(term)
        if number is None:
            return None
        at = slice(self.starts[number], self.starts[number + 1])
        return self.passages[at], self.counts[at]


def build(texts: Iterable[Sequence[str]]) -> Postings:
    """The index over passages, each given by its terms."""
    terms: dict[str, int] = {}
    numbers: list[int] = []
    lengths: list[int] = []
    for text in texts:
        lengths.append(len(text))
        numbers.extend([terms.setdefault(term, len(terms)) for term in text])
    count = max(len(lengths), 1)
    keys = np.asarray(numbers, np.int64) * count + np.repeat(np.arange(len(lengths), dtype=np.int64), lengths)
    keys, counts = np.unique(keys, return_counts=True)
    starts = np.searchsorted(keys, np.arange(len(terms) + 1, dtype=np.int64) * count)
    return Postings(
        terms,
        starts.astype(np.int64),
        (keys % count).astype(np.int32),
        np.minimum(counts, 65_535).astype(np.uint16),
        np.asarray(lengths, np.int32),
    )


def bm25(collection: Sequence[Postings], terms: Sequence[str]) -> list[Floats]:
    """The score of each passage of each index for the terms: 0 if it has none of them, more is better."""
    scores = [np.zeros(len(postings), np.float32) for postings in collection]
    total = sum(len(postings) for postings in collection)
    if not total:
        return scores
    mean = max(sum(int(postings.lengths.sum()) for postings in collection) / total, 1.0)
    norms: dict[int, Floats] = {}
    for term, share in _weighed(collection, terms):
        found = [(at, hit) for at, postings in enumerate(collection) if (hit := postings.of(term)) is not None]
        df = sum(len(passages) for _, (passages, _) in found)
        weight = np.float32(share * np.log1p((total - df + 0.5) / (df + 0.5)) * (K1 + 1))
        for at, (passages, counts) in found:
            if at not in norms:
                norms[at] = (K1 * (1 - B + B * collection[at].lengths / mean)).astype(np.float32)
            often = counts.astype(np.float32)
            scores[at][passages] += weight * often / (often + norms[at][passages])
    return scores


def _weighed(collection: Sequence[Postings], terms: Sequence[str]) -> Iterator[tuple[str, float]]:
    """The terms that occur anywhere; for one that does not, its existing other forms, with less weight."""
    asked = set(terms)
    for term in terms:
        if any(term in postings.terms for postings in collection):
            yield term, 1.0
            continue
        for form in relatives(term):
            if form not in asked and any(form in postings.terms for postings in collection):
                yield form, OTHER_FORM
