"""What a search of documentation and modules gives."""

from typing import Literal, Protocol

from outlast.kernel.http.shapes import Answer

SearchMethod = Literal["words", "words+vectors", "words+reranked", "words+vectors+reranked"]


class HitScores(Answer):
    """How a hit scored by each method: `words` (BM25, from 0 upwards), `vectors` (cosine, -1 to 1), `reranked` (as the
    re-ranker says, 0 to 1); methods that did not find it are missing."""

    words: float | None = None
    vectors: float | None = None
    reranked: float | None = None


class HitAnswer(Answer):
    """A passage of documentation, or a saved module. A doc: `id` of its passage, `heading` the way to it (` › `
    between), `text` its Markdown, `url` where to read it. A module: its own `id`, `heading` its path, `text`
    description and exports, `usage` an import to copy, `verified` whether its imports worked with the dependencies as
    they are. `score` is from 0 to 1, higher is better, comparable within one answer only. `terms` are the words of the
    text that match the query, as they stand there, for highlighting."""

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
    """Hits, best first. `method` says what the order rests on; `note` is "" or one sentence about what was missing (no
    embedder, embedder failed, no such package). `searched` passages and modules were compared in `took_ms`
    milliseconds."""

    items: list[HitAnswer]
    method: SearchMethod
    note: str
    searched: int
    took_ms: float


class PackageAnswer(Answer):
    """A package of indexed documentation: its sources together. `versions`: those known of its sources; `fetched_at`:
    its oldest content; `failed`: sources whose last try failed (older passages stay)."""

    package: str
    versions: list[str]
    sources: int
    passages: int
    failed: int
    fetched_at: str | None


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
    ) -> SearchReply:
        """Search the documentation of all projects and of this one, the modules of the workspace and those published by
        the user, for any text. `package` restricts the documentation to that package (modules stay). Always answers:
        without an embedder, offline, with nothing indexed. Reads only; safe to repeat and to cancel. The caller checks
        permissions."""
        return SearchReply(items=[], method="words", note="", searched=0, took_ms=0.0)

    async def packages(self, project_id: str) -> list[PackageAnswer]:
        """The packages that can be searched in a project, by name."""
        return []


class NoSearch(Searcher):
    """Nothing can be searched."""
