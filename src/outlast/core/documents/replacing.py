"""A whole other text for a document, by which everything that is in both keeps its id: the text that somebody exported,
edited elsewhere and brings back. Pure."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from typing import Any, Final

from outlast.base.ids import new_id
from outlast.core.documents.cutting import Part
from outlast.core.documents.ranks import between_all
from outlast.core.documents.tree import Block, Section, Tree

ALIKE: Final = 0.5  # share of common words from which another text counts as the same block, changed
MOST_PAIRS: Final = 200  # neighbours that are compared word by word


def replaced(tree: Tree, parts: Sequence[Part], make_id: Callable[[str], str] = new_id) -> Tree:
    """The document with this text. Sections with the same heading, and blocks with the same or a similar text in the
    same order, keep their ids, and where possible their ranks."""
    wanted = [part for part in parts if part.level or part.pieces]
    kept = dict(_pairs([_head(one) for one in tree.sections], [_head(one) for one in wanted]))
    sections = _ranked(
        [
            tree.sections[kept[at]]
            if at in kept
            else Section(make_id("section"), "", part.heading, part.level)
            for at, part in enumerate(wanted)
        ]
    )
    below = _blocks(tree, sections, wanted, make_id)
    return replace(
        tree,
        sections=tuple(
            replace(one, blocks=tuple(_ranked(blocks))) for one, blocks in zip(sections, below, strict=True)
        ),
    )


def _head(one: Section | Part) -> tuple[str, int]:
    return one.heading, one.level


def _blocks(
    tree: Tree, sections: Sequence[Section], parts: Sequence[Part], make_id: Callable[[str], str]
) -> list[list[Block]]:
    olds = list(tree.blocks())
    news = [(place, piece) for place, part in enumerate(parts) for piece in part.pieces]
    kept = dict(_pairs([one.markdown for one in olds], [piece.markdown for _, piece in news], _alike))
    below: list[list[Block]] = [[] for _ in sections]
    for at, (place, piece) in enumerate(news):
        home = sections[place].id
        old = olds[kept[at]] if at in kept else None
        if old is None:
            block = Block(make_id("block"), home, "", piece.kind, piece.markdown)
        else:
            rank = old.rank if old.section_id == home else ""
            block = replace(old, section_id=home, rank=rank, kind=piece.kind, markdown=piece.markdown)
        below[place].append(block)
    return below


def _pairs(
    olds: Sequence[Hashable], news: Sequence[Hashable], alike: Callable[[Any, Any], bool] | None = None
) -> Iterator[tuple[int, int]]:
    """(new place, old place) of what is the same; with `alike` also of neighbours that are similar."""
    matcher = SequenceMatcher(None, olds, news, autojunk=False)
    for tag, old_from, old_to, new_from, new_to in matcher.get_opcodes():
        if tag == "equal":
            yield from zip(range(new_from, new_to), range(old_from, old_to), strict=True)
        elif tag == "replace" and alike is not None:
            yield from _similar(olds, news, (old_from, old_to), (new_from, new_to), alike)


def _similar(
    olds: Sequence[Any],
    news: Sequence[Any],
    old_range: tuple[int, int],
    new_range: tuple[int, int],
    alike: Callable[[Any, Any], bool],
) -> Iterator[tuple[int, int]]:
    at = old_range[0]
    budget = MOST_PAIRS
    for new in range(*new_range):
        for old in range(at, old_range[1]):
            budget -= 1
            if budget < 0:
                return
            if alike(olds[old], news[new]):
                yield new, old
                at = old + 1
                break


def _alike(old: str, new: str) -> bool:
    return SequenceMatcher(None, old.split()[:300], new.split()[:300], autojunk=False).ratio() >= ALIKE


def _ranked(things: Sequence[Any]) -> list[Any]:
    """Those with a rank keep it where ranks still ascend; the others get one between."""
    done: list[Any] = []
    waiting: list[Any] = []
    for thing in things:
        low = done[-1].rank if done else None
        if not thing.rank or (low is not None and thing.rank <= low):
            waiting.append(thing)
            continue
        done += _between(waiting, low, thing.rank)
        done.append(thing)
        waiting = []
    return done + _between(waiting, done[-1].rank if done else None, None)


def _between(things: Sequence[Any], low: str | None, high: str | None) -> list[Any]:
    ranks = between_all(low, high, len(things))
    return [replace(thing, rank=rank) for thing, rank in zip(things, ranks, strict=True)]
