"""Replace the whole text of a document so that unchanged parts keep their ids: for a text that was exported,
edited elsewhere and imported again. Pure."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from typing import Final

from outlast.apps.documents.content.markdown_parse import Part
from outlast.apps.documents.content.ranks import with_ranks
from outlast.apps.documents.content.tree import Block, Section, Tree
from outlast.base.ids import new_id

ALIKE: Final = 0.5  # minimum share of common words for a text to count as the same block, changed
MAX_PAIRS: Final = 5_000  # neighbours that are compared by their words


def replaced(tree: Tree, parts: Sequence[Part], make_id: Callable[[str], str] = new_id) -> Tree:
    """The document with the new text. Sections with the same heading, and blocks with the same or a similar text in the
    same order, keep their ids and, where possible, their ranks."""
    wanted = [part for part in parts if part.level or part.pieces]
    olds, news = ([(one.heading, one.level) for one in those] for those in (tree.sections, wanted))
    kept = dict(_pairs(olds, news))
    sections = with_ranks(
        [
            tree.sections[kept[at]] if at in kept else Section(make_id("section"), "", part.heading, part.level)
            for at, part in enumerate(wanted)
        ]
    )
    below = _blocks(tree, sections, wanted, make_id)
    return replace(
        tree,
        sections=tuple(
            replace(one, blocks=tuple(with_ranks(blocks))) for one, blocks in zip(sections, below, strict=True)
        ),
    )


def _blocks(
    tree: Tree, sections: Sequence[Section], parts: Sequence[Part], make_id: Callable[[str], str]
) -> list[list[Block]]:
    olds = list(tree.blocks())
    news = [(place, piece) for place, part in enumerate(parts) for piece in part.pieces]
    kept = dict(_pairs([one.markdown for one in olds], [piece.markdown for _, piece in news], similar=True))
    below: list[list[Block]] = [[] for _ in sections]
    for at, (place, piece) in enumerate(news):
        home = sections[place].id
        old = olds[kept[at]] if at in kept else Block(make_id("block"), home, "", piece.kind, "")
        rank = old.rank if old.section_id == home else ""
        below[place].append(replace(old, section_id=home, rank=rank, kind=piece.kind, markdown=piece.markdown))
    return below


def _pairs(olds: Sequence[Hashable], news: Sequence[Hashable], *, similar: bool = False) -> Iterator[tuple[int, int]]:
    """(new place, old place) of equal things; with `similar` also of neighbours that share most of their words."""
    # Repeated things (a rule, an empty heading) are only compared next to unique ones: otherwise a text of
    # repetitions would take quadratic time.
    matcher = SequenceMatcher(None, olds, news, autojunk=True)
    budget = MAX_PAIRS
    for tag, old_from, old_to, new_from, new_to in matcher.get_opcodes():
        if tag == "equal":
            yield from zip(range(new_from, new_to), range(old_from, old_to), strict=True)
        elif tag == "replace" and similar:
            at = old_from
            for new in range(new_from, new_to):
                tried = range(at, min(old_to, at + budget))
                found = next((old for old in tried if _alike(str(olds[old]), str(news[new]))), None)
                budget -= len(tried) if found is None else found - at + 1
                if found is not None:
                    yield new, found
                    at = found + 1


def _alike(old: str, new: str) -> bool:
    was, now = Counter(old.split()), Counter(new.split())
    return 2 * (was & now).total() >= ALIKE * (was.total() + now.total())
