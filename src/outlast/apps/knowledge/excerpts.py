"""What is shown of what a search found, and of packages."""

from collections.abc import Sequence
from dataclasses import replace

from outlast.apps.knowledge import store
from outlast.apps.knowledge import tokenizer as words
from outlast.apps.knowledge.hits import ModuleText
from outlast.kernel.library.search import Hit, PackageData


def known_package(asked: str, known: Sequence[str]) -> str:
    """The package that is meant: as it is called here, or without regard to case, registry (`npm:`, `pypi:`) and
    version (`@98`). Itself, where none is."""
    if asked in known:
        return asked
    bare = _bare(asked)
    return next((name for name in known if _bare(name) == bare), asked)


def _bare(package: str) -> str:
    name = package.strip().lower().removeprefix("npm:").removeprefix("pypi:")
    at = name.rfind("@")
    return name[:at] if at > 0 else name


def text_of(module: ModuleText) -> str:
    """What is searched of a module."""
    return f"{module.description}\n{module.path}: {', '.join(module.exports)}\n{module.usage}"


def module_hit(module: ModuleText, score: float, how: dict[str, float], terms: frozenset[str]) -> Hit:
    text = module.description + (f"\nExports: {', '.join(module.exports)}" if module.exports else "")
    return Hit(
        type="module",
        id=module.id,
        heading=module.path,
        text=text,
        fetched_at=module.updated_at,
        score=score,
        scores=how,
        terms=words.found_words(f"{module.path}\n{text}", terms),
        usage=module.usage,
        verified=module.verified,
    )


def passage_hit(row: store.Sourced, score: float, how: dict[str, float], terms: frozenset[str]) -> Hit:
    return Hit(
        type="doc",
        id=row.id,
        heading=row.heading,
        text=row.body,
        url=row.url,
        package=row.package,
        version=row.version,
        fetched_at=row.fetched_at,
        score=score,
        scores=how,
        terms=words.found_words(f"{row.heading}\n{row.body}", terms),
        source_id=row.source_id,
    )


def rescored(hit: Hit, told: float) -> Hit:
    """The hit with the re-ranker's score."""
    score = round(told, 4)
    return replace(hit, score=score, scores={**hit.scores, "reranked": score})


def package_data(name: str, marks: Sequence[store.Mark]) -> PackageData:
    """What is known of a package by its sources."""
    dates = [mark.fetched_at for mark in marks if mark.fetched_at is not None]
    return PackageData(
        package=name,
        versions=sorted({mark.version for mark in marks if mark.version}),
        sources=len(marks),
        passages=sum(mark.passages for mark in marks),
        failed=sum(mark.failed for mark in marks),
        fetched_at=min(dates, default=None),
    )
