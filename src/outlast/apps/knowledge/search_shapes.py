"""Hits of documentation searches, and packages."""

from typing import Literal

from outlast.kernel.http.shapes import Answer


class HitScores(Answer):
    """How a hit scored by each method; methods that did not find it are missing."""

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
    """Hits, best first."""

    items: list[HitAnswer]
    method: Literal["words", "words+vectors", "words+reranked", "words+vectors+reranked"]
    note: str
    searched: int
    took_ms: float


class PackageAnswer(Answer):
    """A package of indexed documentation."""

    package: str
    versions: list[str]
    sources: int
    passages: int
    failed: int
    fetched_at: str | None


class PackagesReply(Answer):
    """Packages of indexed documentation, and the model that search uses for vectors."""

    items: list[PackageAnswer]
    next: str | None
    embedder: str | None
    reranker: bool
