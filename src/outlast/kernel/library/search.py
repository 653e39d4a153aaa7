"""What a search of documentation and modules gives."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

HitType = Literal["doc", "module"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One thing found. A doc: `id` of its passage, `heading` the way to it (` › ` between), `text` its Markdown, `url`
    where to read it, `source_id`. A module: its own `id`, `heading` its path, `text` description and exports, `usage`
    an import to copy, `verified` whether its imports worked with the dependencies as they are; package "" there.

    `score` is from 0 to 1, higher is better, comparable within one answer only. `scores` says by method how it came
    about: `words` (BM25, from 0 upwards), `vectors` (cosine, -1 to 1), `reranked` (as the re-ranker says); a method
    that does not know the hit is missing there. `terms` are the words of the text that the query's words found, as
    they stand there, for highlighting."""

    type: HitType
    id: str
    heading: str
    text: str
    url: str = ""
    package: str = ""
    version: str = ""
    fetched_at: datetime | None = None
    score: float = 0.0
    scores: Mapping[str, float] = field(default_factory=dict)
    terms: tuple[str, ...] = ()
    source_id: str | None = None
    usage: str = ""
    verified: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchAnswer:
    """Hits, best first, at most as many as asked for. `method` says what the order rests on; `note` is "" or one
    sentence for people and models about what was not there (no embedder, embedder failed, no such package).
    `searched` passages and modules were looked through, in `took_ms` milliseconds."""

    hits: Sequence[Hit]
    method: str
    note: str = ""
    searched: int = 0
    took_ms: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageData:
    """A package that can be searched in a project: its sources together. `versions`: those known of its sources;
    `fetched_at`: its oldest content; `failed`: sources whose last try failed (older passages stay)."""

    package: str
    versions: Sequence[str]
    sources: int
    passages: int
    failed: int
    fetched_at: datetime | None


class Searcher(Protocol):
    """What searches documentation and modules."""

    @property
    def embedder(self) -> str | None:
        """The model whose vectors a search uses; None: it goes by words alone."""
        return None

    @property
    def reranks(self) -> bool:
        """Whether a model puts what is found in order."""
        return False

    async def search(
        self,
        query: str,
        *,
        project_id: str,
        package: str | None = None,
        limit: int = 5,
        workspace_id: str | None = None,
        user_id: str | None = None,
    ) -> SearchAnswer:
        """What is found for a query (any text) in the documentation of everybody and of the project, in the modules of
        the workspace and the published ones of the user. `package` leaves only that package's documentation (modules
        stay). Always answers: without an embedder, offline, with nothing indexed. Reads only; safe to repeat and to
        cancel. Permission is the caller's business."""
        return SearchAnswer(hits=(), method="words")

    async def packages(self, project_id: str) -> Sequence[PackageData]:
        """The packages that can be searched in a project, by name."""
        return ()


class NoSearch(Searcher):
    """Nothing can be searched."""
