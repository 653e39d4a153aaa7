"""Search in documentation, modules and memories: the ports and their shapes."""

from collections.abc import Collection
from typing import Final, Literal, Protocol

from outlast.kernel.agents.tool import Tool
from outlast.kernel.apps.ports import Port
from outlast.kernel.http.shapes import Answer
from outlast.kernel.library.memories import Memory
from outlast.kernel.runs.transcript import Run

SearchMethod = Literal["words", "words+vectors", "words+reranked", "words+vectors+reranked"]


class HitScores(Answer):
    """The scores of a hit by method: `words` (BM25, from 0 upwards), `vectors` (cosine, -1 to 1), `reranked` (by the
    re-ranker, 0 to 1); null for methods that did not find it."""

    words: float | None = None
    vectors: float | None = None
    reranked: float | None = None


class HitAnswer(Answer):
    """A passage of documentation, or a saved module. A doc: `id` of its passage, `heading` the headings above it (` › `
    between), `text` its Markdown, `url` its address. A module: its own `id`, `heading` its path, `text` description and
    exports, `usage` an import to copy, `verified` whether its imports worked with the current dependencies. `score` is
    from 0 to 1, higher is better, comparable within one answer only. `terms` are the words of the text that match the
    query, for highlighting."""

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
    """Hits, best first. `method` names the ranking; `note` is empty, or one sentence about a limitation (no embedder,
    embedder failed, no such package). `searched` passages and modules were compared in `took_ms` milliseconds."""

    items: list[HitAnswer]
    method: SearchMethod
    note: str
    searched: int
    took_ms: float


class PackageAnswer(Answer):
    """A package of indexed documentation: its sources together. `versions`: the known versions of its sources;
    `fetched_at`: time of its oldest content; `failed`: sources whose last fetch failed (older passages stay)."""

    package: str
    versions: list[str]
    sources: int
    passages: int
    failed: int
    fetched_at: str | None


class Searcher(Protocol):
    """Searches documentation, modules and memories."""

    @property
    def embedder(self) -> str | None:
        """The model whose vectors a search uses, or None if it uses words alone."""
        return None

    @property
    def reranks(self) -> bool:
        """True if a model ranks the hits."""
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
        the user, for any text. `package` restricts the documentation to that package (modules stay). Always answers,
        also without an embedder, offline, or with nothing indexed. Reads only; safe to repeat and to cancel. The caller
        checks permissions."""
        return SearchReply(items=[], method="words", note="", searched=0, took_ms=0.0)

    async def packages(self, project_id: str) -> list[PackageAnswer]:
        """The packages that can be searched in a project, by name."""
        return []

    async def recall(
        self, run: Run, query: str, *, thread_id: str | None = None, without: Collection[str] = (), limit: int = 3
    ) -> list[Memory]:
        """At most `limit` memories that the run may use and that resemble the query, best first, without the lines of
        itself and of the runs in `without`. With `thread_id`, only the lines of that thread's runs. Empty where memory
        is off. Reads only; safe to repeat and to cancel."""
        return []


class NoSearch(Searcher):
    """Finds nothing."""


SEARCH: Final[Port[Searcher]] = Port("search", NoSearch())
SEARCH_DOCS: Final[Port[Tool | None]] = Port("tool that searches documentation", None)
