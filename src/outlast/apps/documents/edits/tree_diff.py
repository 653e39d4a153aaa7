"""The differences between two states of a document. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Literal

from outlast.apps.documents.content.tree import Block, Section, Tree
from outlast.apps.documents.edits.token_matches import rising
from outlast.apps.documents.shapes import DiffState
from outlast.base.records import dataclass

Noun = Literal["section", "block"]
Ranked = Section | Block


@dataclass(frozen=True, slots=True)
class Delta:
    """One section or block that differs: before (None if new) and after (None if deleted). `quiet`: only its rank
    differs; its place is the same."""

    noun: Noun
    id: str
    before: Ranked | None
    after: Ranked | None
    quiet: bool = False

    @property
    def state(self) -> DiffState:
        """The kind of change for people: `moved` if the text is the same."""
        if self.before is None or self.after is None:
            return "added" if self.before is None else "removed"
        sides = self.before, self.after
        said, says = (one.markdown if isinstance(one, Block) else (one.heading, one.level) for one in sides)
        return "moved" if said == says else "changed"

    @property
    def sections(self) -> set[str]:
        """The sections concerned: itself, or those that the block was in and is in."""
        if self.noun == "section":
            return {self.id}
        return {side.section_id for side in (self.before, self.after) if isinstance(side, Block)}


def deltas(before: Tree, after: Tree) -> tuple[Delta, ...]:
    """Sections first, each kind in the order of the old text, new things last. Sections that both states share
    as objects are skipped, so that a small change of a long document is found quickly."""
    olds = {section.id: section for section in before.sections}
    news = {section.id: section for section in after.sections}
    changed = [key for key in {**olds, **news} if olds.get(key) is not news.get(key)]
    moved = _moved(before.sections, after.sections)
    return (*_deltas("section", changed, olds, news, moved), *_blocks(olds, news, changed))


def gone(found: Sequence[Delta], noun: str) -> tuple[str, ...]:
    """The ids of this noun's deleted things."""
    return tuple(delta.id for delta in found if delta.noun == noun and delta.after is None)


def _blocks(olds: Mapping[str, Section], news: Mapping[str, Section], changed: list[str]) -> Iterator[Delta]:
    was = {block.id: block for key in changed if key in olds for block in olds[key].blocks}
    now = {block.id: block for key in changed if key in news for block in news[key].blocks}
    moved: set[str] = set()
    for key in changed:
        if key in olds and key in news:
            moved |= _moved(olds[key].blocks, news[key].blocks)
    return _deltas("block", {**was, **now}, was, now, moved)


def _deltas(
    noun: Noun, keys: Iterable[str], was: Mapping[str, Ranked], now: Mapping[str, Ranked], moved: set[str]
) -> Iterator[Delta]:
    for key in keys:
        old, new = was.get(key), now.get(key)
        if old is None or new is None or _content(old) != _content(new):
            yield Delta(noun, key, old, new)
        elif old.rank != new.rank:
            yield Delta(noun, key, old, new, quiet=key not in moved)


def _content(thing: Ranked) -> tuple[object, ...]:
    return (thing.section_id, thing.kind, thing.markdown) if isinstance(thing, Block) else (thing.heading, thing.level)


def _moved(before: Sequence[Ranked], after: Sequence[Ranked]) -> set[str]:
    """The smallest set that explains the new order. Things with the same rank have not moved; of the others, all but a
    longest run that keeps its order among themselves and around those."""
    places = {one.id: place for place, one in enumerate(after)}
    still = {one.id: one.rank for one in after}
    common = [one for one in before if one.id in places]
    fixed = [places[one.id] if still[one.id] == one.rank else None for one in common]
    before_each = accumulate((-1 if place is None else place for place in fixed), max, initial=-1)
    last = len(after)
    behind = accumulate((last if place is None else place for place in reversed(fixed)), min, initial=last)
    behind_each = list(behind)[-2::-1]
    around = zip(common, before_each, behind_each, strict=False)
    run = [one.id for one, low, high in around if low < places[one.id] < high]
    kept = rising([(at, places[key]) for at, key in enumerate(run)])
    return {one.id for one in common} - {run[at] for at, _ in kept}
