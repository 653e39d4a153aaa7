"""The order of hits. Pure: arrays in, arrays out."""

from collections.abc import Sequence
from typing import Final

from outlast.apps.knowledge.arrays import Floats, Int64s, np

VECTOR_SHARE: Final = 0.7  # of a fused score; the rest is for words. Best or nearly best on four public sets


def fused(words: Floats, cosines: Floats | None, vector_share: float = VECTOR_SHARE) -> Floats:
    """One score from 0 to 1 for each text: 0.7 × cosine + 0.3 × its share of the best BM25 score. `cosines` is NaN for
    a text without a vector yet: it is taken to be as near to the query, compared with the nearest text, as its words
    are, so that new texts are found before they are embedded. None uses words alone."""
    most = float(words.max(initial=0.0))
    shares = words / np.float32(most) if most > 0 else np.zeros_like(words)
    if cosines is None:
        return shares
    known = np.clip(cosines, 0, 1)
    nearest = np.float32(np.nanmax(known, initial=0.0, where=~np.isnan(known)))
    near = np.where(np.isnan(known), shares * nearest, known)
    return (vector_share * near + (1 - vector_share) * shares).astype(np.float32)


def best(scores: Floats, limit: int) -> Int64s:
    """The positions of the best scores above 0, best first, the earlier of two equals first; at most `limit`."""
    found = np.flatnonzero(scores > 0)  # first: partitioning thousands of equal zeros takes ten times longer
    values = scores[found]
    if limit <= 0:
        return np.empty(0, np.int64)
    if len(found) > limit:
        chosen = values >= np.partition(values, len(values) - limit)[len(values) - limit]
        found, values = found[chosen], values[chosen]
    return found[np.lexsort((found, -values))][:limit].astype(np.int64)


def as_shares(told: Sequence[float]) -> list[float]:
    """A re-ranker's scores from 0 to 1: unchanged if all are in that range, else through the logistic function."""
    values = np.asarray(told, np.float64)
    if len(values) and (values.min() < 0 or values.max() > 1):
        values = 1 / (1 + np.exp(-np.clip(values, -60, 60)))
    return [float(value) for value in values]
