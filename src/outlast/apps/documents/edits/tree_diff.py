"""What is different between two states of a document. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from outlast.apps.documents.content.tree import Block, Section, Tree
from outlast.apps.documents.edits.token_matches import rising
from outlast.apps.documents.shapes import DiffState

Ranked = Section | Block


@dataclass(frozen=True, slots=True)
class Delta:
    """One section or block that differs: what it was (None: it was not there) and what it is (None: it is gone).
    `quiet`: only its rank differs; its place is the same."""

    noun: Literal["section", "block"]
    id: str
    before: Section | Block | None
    after: Section | Block | None
    quiet: bool = False

    @property
    def state(self) -> DiffState:
        """What people call it: `moved` where it says what it said."""
        if self.before is None or self.after is None:
            return "added" if self.before is None else "removed"
        return "moved" if self.before.says == self.after.says else "changed"

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


def gone(found: Sequence[Delta], noun: str) -> tuple[str, ...]:
    """The ids of a noun that are not there any more."""
    return tuple(delta.id for delta in found if delta.noun == noun and delta.after is None)


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


def _moved(before: Sequence[Ranked], after: Sequence[Ranked]) -> set[str]:
    """As few of those in both as explain the new order. What keeps its rank has not moved; of the others, all but a
    longest run that keeps its order among themselves and around those."""
    places = {one.id: place for place, one in enumerate(after)}
    still = {one.id: one.rank for one in after}
    common = [one for one in before if one.id in places]
    fixed = [places[one.id] if still[one.id] == one.rank else None for one in common]
    before_each = accumulate(fixed, _most, initial=-1)
    behind_each = list(accumulate(reversed(fixed), _least, initial=len(after)))[-2::-1]
    around = zip(common, before_each, behind_each, strict=False)
    run = [one.id for one, low, high in around if low < places[one.id] < high]
    kept = rising([(at, places[key]) for at, key in enumerate(run)])
    return {one.id for one in common} - {run[at] for at, _ in kept}


def _least(low: int, place: int | None) -> int:
    return low if place is None else min(low, place)


def _most(high: int, place: int | None) -> int:
    return high if place is None else max(high, place)
