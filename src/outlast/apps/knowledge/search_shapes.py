"""Hits of documentation searches, and packages."""

from typing import Literal

from outlast.kernel.http.shapes import Answer


class HitScores(Answer):
    """How a hit came about; a method that does not know it is missing."""

    words: float | None = None
    vectors: float | None = None
    reranked: float | None = None


class HitAnswer(Answer):
    """A passage of documentation, or a saved module."""

    type: Literal["doc", "module"]
    id: str
    heading: str
    text: str
    url: str
    package: str
    version: str
    fetched_at: str | None
    score: float
    scores: HitScores
    terms: list[str]
    source_id: str | None
    usage: str
    verified: bool


class SearchReply(Answer):
    """Best hits first. `note` says in one sentence what was not there (no embedder, no such package)."""

    items: list[HitAnswer]
    method: Literal["words", "words+vectors", "words+reranked", "words+vectors+reranked"]
    note: str
    searched: int
    took_ms: float


class PackageAnswer(Answer):
    """`fetched_at`: its oldest content."""

    package: str
    versions: list[str]
    sources: int
    passages: int
    failed: int
    fetched_at: str | None


class PackagesReply(Answer):
    """`embedder`: the model whose vectors a search uses; null: it goes by words alone."""

    items: list[PackageAnswer]
    next: str | None
    embedder: str | None
    reranker: bool
