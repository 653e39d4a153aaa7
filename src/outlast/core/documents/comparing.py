"""What is different between two states of a document. Pure."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from outlast.core.documents.tree import Block, Section, Tree


@dataclass(frozen=True, slots=True)
class Delta:
    """One section or block that differs: what it was (None: it was not there) and what it is (None: it is gone).
    `quiet`: only its rank is another; it stands where it stood."""

    noun: Literal["section", "block"]
    id: str
    before: Section | Block | None
    after: Section | Block | None
    quiet: bool = False

    @property
    def sections(self) -> set[str]:
        """The sections that it touches: itself, or those that the block was in and is in."""
        if self.noun == "section":
            return {self.id}
        return {side.section_id for side in (self.before, self.after) if isinstance(side, Block)}


def deltas(before: Tree, after: Tree) -> tuple[Delta, ...]:
    """Sections first, each kind in the order of the text as it was, what is new behind. Sections that both states share
    as objects are not looked into, so that a small change of a long document is found quickly."""
    olds = {section.id: section for section in before.sections}
    news = {section.id: section for section in after.sections}
    changed = [key for key in {**olds, **news} if olds.get(key) is not news.get(key)]
    moved = _moved(before.sections, after.sections)
    found = [_section(key, olds.get(key), news.get(key), moved) for key in changed]
    return (*(delta for delta in found if delta is not None), *_blocks(olds, news, changed))


def _section(key: str, old: Section | None, new: Section | None, moved: set[str]) -> Delta | None:
    if old is None or new is None or (old.heading, old.level) != (new.heading, new.level):
        return Delta("section", key, old, new)
    return None if old.rank == new.rank else Delta("section", key, old, new, quiet=key not in moved)


def _blocks(olds: dict[str, Section], news: dict[str, Section], changed: list[str]) -> list[Delta]:
    was = {block.id: block for key in changed if key in olds for block in olds[key].blocks}
    now = {block.id: block for key in changed if key in news for block in news[key].blocks}
    moved: set[str] = set()
    for key in changed:
        if key in olds and key in news:
            moved |= _moved(olds[key].blocks, news[key].blocks)
    found = [_block(key, was.get(key), now.get(key), moved) for key in {**was, **now}]
    return [delta for delta in found if delta is not None]


def _block(key: str, old: Block | None, new: Block | None, moved: set[str]) -> Delta | None:
    if old is None or new is None or _content(old) != _content(new):
        return Delta("block", key, old, new)
    return None if old.rank == new.rank else Delta("block", key, old, new, quiet=key not in moved)


def _content(block: Block) -> tuple[str, str, str]:
    return block.section_id, block.kind, block.markdown


def _moved(before: Sequence[Section | Block], after: Sequence[Section | Block]) -> set[str]:
    """As few of those in both as explain the new order, none that keeps its rank: whatever stands elsewhere among those
    that do has moved; of the rest, all but a longest run in the old order."""
    places = {one.id: place for place, one in enumerate(after)}
    ranks = {one.id: one.rank for one in after}
    still = {one.id for one in before if ranks.get(one.id) == one.rank}
    passed, passed_now = _passed(before, still), _passed(after, still)
    common = [one.id for one in before if one.id in places and passed[one.id] == passed_now[one.id]]
    strayed = {one.id for one in before if one.id in places} - set(common)
    tails: list[int] = []  # the smallest place that ends a run of each length
    behind: list[int] = []  # length of the longest run that ends with each of `common`
    for key in common:
        length = bisect_left(tails, places[key])
        tails[length : length + 1] = [places[key]]
        behind.append(length)
    kept, wanted = set[str](), len(tails) - 1
    for key, length in zip(reversed(common), reversed(behind), strict=True):
        if length == wanted:
            kept.add(key)
            wanted -= 1
    return strayed | (set(common) - kept)


def _passed(ranked: Sequence[Section | Block], some: set[str]) -> dict[str, int]:
    """How many of some stand before each one."""
    counts = accumulate((one.id in some for one in ranked), initial=0)
    return {one.id: count for one, count in zip(ranked, counts, strict=False)}
