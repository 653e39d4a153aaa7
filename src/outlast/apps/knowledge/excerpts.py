"""Search hits and packages as shown in the API."""

from collections.abc import Sequence
from typing import Final

from outlast.apps.knowledge import store
from outlast.apps.knowledge import tokenizer as words
from outlast.apps.knowledge.rows import KnowledgeSourceRow
from outlast.base.clock import iso
from outlast.kernel.library.modules import Module, searched_text
from outlast.kernel.library.search import HitAnswer, HitScores, PackageAnswer
from outlast.kernel.row_shapes import shape_of

FOUND_WORDS: Final = 40  # of one hit, to be highlighted


def known_package(asked: str, known: Sequence[str]) -> str:
    """The matching known package: exact, or regardless of case, registry (`npm:`, `pypi:`) and version (`@98`). The
    input itself if none matches."""
    if asked in known:
        return asked
    bare = _bare(asked)
    return next((name for name in known if _bare(name) == bare), asked)


def _bare(package: str) -> str:
    name = package.strip().lower().removeprefix("npm:").removeprefix("pypi:")
    at = name.rfind("@")
    return name[:at] if at > 0 else name


def text_of(module: Module) -> str:
    """The searched text of a module."""
    return searched_text(module.imported_path, module.description, module.exports, module.imported_usage)


def module_hit(module: Module, dependencies: str, score: float, scores: HitScores, terms: frozenset[str]) -> HitAnswer:
    """A module as a search hit, for sandboxes with these dependencies."""
    path = module.imported_path
    text = module.description + (f"\nExports: {', '.join(module.exports)}" if module.exports else "")
    return HitAnswer(
        type="module",
        id=module.id,
        heading=path,
        text=text,
        url="",
        package="",
        version="",
        fetched_at=iso(module.updated_at),
        score=score,
        scores=scores,
        terms=words.found_words(f"{path}\n{text}", terms)[:FOUND_WORDS],
        source_id=None,
        usage=module.imported_usage,
        verified=module.verified(dependencies),
    )


def passage_hit(row: store.Sourced, score: float, scores: HitScores, terms: frozenset[str]) -> HitAnswer:
    return shape_of(
        HitAnswer,
        row.passage,
        row,
        type="doc",
        text=row.passage.body,
        score=score,
        scores=scores,
        terms=words.found_words(f"{row.passage.heading}\n{row.passage.body}", terms)[:FOUND_WORDS],
        usage="",
        verified=True,
    )


def rescored(hit: HitAnswer, told: float) -> HitAnswer:
    """The hit with the re-ranker's score."""
    score = round(told, 4)
    return hit.model_copy(update={"score": score, "scores": hit.scores.model_copy(update={"reranked": score})})


def package_answer(name: str, sources: Sequence[KnowledgeSourceRow]) -> PackageAnswer:
    """The summary of a package from its sources."""
    oldest = min((one.fetched_at for one in sources if one.fetched_at is not None), default=None)
    return PackageAnswer(
        package=name,
        versions=sorted({one.version for one in sources if one.version}),
        sources=len(sources),
        passages=sum(one.passages for one in sources),
        failed=sum(one.state == "failed" for one in sources),
        fetched_at=None if oldest is None else iso(oldest),
    )
