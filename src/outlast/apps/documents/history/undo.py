"""A document without what one of its versions did, and with everything that came since. Pure."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from outlast.apps.documents.content.ranks import with_ranks
from outlast.apps.documents.content.tree import Block, Section, Tree
from outlast.apps.documents.edits import conflict_check as unseen
from outlast.apps.documents.edits.tree_diff import Delta, deltas
from outlast.base.errors import TextChanged

_HINT: Final = "Change the text yourself, or compare the versions in the history."


def without(now: Tree, was: Tree, became: Tree) -> Tree:
    """`now` without the changes that led from `was` to `became`, two versions that follow each other; `now` is the
    second of them or a later one. A block that somebody changed since in other places is merged. What was deleted
    comes back under its id. Raises `TextChanged` where the version's own text was changed since, moved or deleted."""
    if now.version == became.version:
        return replace(was, version=now.version)
    draft = _Draft(now, was)
    found = [delta for delta in deltas(was, became) if not delta.quiet]
    for delta in found:
        if delta.noun == "section" and delta.after is None:
            draft.put_back_section(delta.before)
    for delta in found:
        if delta.noun == "block":
            draft.take_back_block(delta)
    for delta in found:
        if delta.noun == "section" and delta.after is not None:
            draft.take_back_section(delta)
    return draft.tree()


class _Draft:
    """The document while changes are taken back: its sections and blocks in order."""

    def __init__(self, now: Tree, was: Tree) -> None:
        self._now, self._was = now, was
        self._sections = {one.id: one for one in now.sections}
        self._order = [one.id for one in now.sections]
        self._below = {one.id: list(one.blocks) for one in now.sections}
        self._home = {block.id: one.id for one in now.sections for block in one.blocks}

    def tree(self) -> Tree:
        kept = [
            replace(self._sections[key], blocks=tuple(with_ranks(self._below[key])))
            for key in self._order
            if self._below[key] or self._sections[key].level > 0
        ]
        return replace(self._now, sections=tuple(with_ranks(kept)))

    def put_back_section(self, section: Section | Block | None) -> None:
        assert isinstance(section, Section)
        if section.id in self._sections:
            return
        first = next((key for key in self._order if self._sections[key].level == 0), None)
        if section.level == 0 and first is not None:
            return  # its blocks go to the one that is there now
        at = _place([one.id for one in self._was.sections], section.id, self._order)
        self._order.insert(max(at, 0 if first is None else 1), section.id)
        self._sections[section.id] = replace(section, rank="", blocks=())
        self._below[section.id] = []

    def take_back_section(self, delta: Delta) -> None:
        current = self._sections.get(delta.id)
        if current is None:
            return  # it is gone already
        before, after = delta.before, delta.after
        assert isinstance(after, Section)
        if before is None:
            if (current.heading, current.level) != (after.heading, after.level) or self._below[delta.id]:
                raise _changed("section", delta.id, current.heading)
            self._order.remove(delta.id)
            del self._sections[delta.id]
            return
        assert isinstance(before, Section)
        if current.heading != after.heading:
            raise _changed("section", delta.id, current.heading)
        self._sections[delta.id] = replace(current, heading=before.heading, level=before.level)

    def take_back_block(self, delta: Delta) -> None:
        before, after = delta.before, delta.after
        current = self._find(delta.id)
        if after is None:
            assert isinstance(before, Block)
            if current is None:
                self._put(before)
            return
        assert isinstance(after, Block)
        if before is None:
            if current is not None:
                self._remove(current, after)
            return
        assert isinstance(before, Block)
        if current is None:
            raise _changed("block", delta.id, "")
        self._rewrite(current, before, after)

    def _find(self, block_id: str) -> Block | None:
        below = self._below.get(self._home.get(block_id, ""), [])
        return next((block for block in below if block.id == block_id), None)

    def _remove(self, current: Block, made: Block) -> None:
        if current.markdown != made.markdown:
            raise _changed("block", current.id, current.markdown)
        self._below[self._home.pop(current.id)].remove(current)

    def _rewrite(self, current: Block, before: Block, after: Block) -> None:
        text = current.markdown
        if before.markdown != after.markdown:
            try:
                text = unseen.merged(current, after.markdown, before.markdown)
            except TextChanged as conflict:
                raise _changed("block", current.id, current.markdown) from conflict
        kind = before.kind if text == before.markdown else current.kind
        fresh = replace(current, markdown=text, kind=kind)
        moved = (before.section_id, before.rank) != (after.section_id, after.rank)
        if not moved:
            below = self._below[self._home[current.id]]
            below[below.index(current)] = fresh
            return
        if (current.section_id, current.rank) != (after.section_id, after.rank):
            raise _changed("block", current.id, current.markdown)  # somebody moved it on
        self._below[self._home.pop(current.id)].remove(current)
        self._put(replace(fresh, section_id=before.section_id, rank=before.rank))

    def _put(self, block: Block) -> None:
        """Behind the nearest of those before it that is still there."""
        home = self._was.section(block.section_id)
        key = home.id if home.id in self._sections else self._first_of(home)
        if key is None:
            raise _changed("block", block.id, "")
        below = self._below[key]
        at = _place([one.id for one in home.blocks], block.id, [one.id for one in below])
        below.insert(at, replace(block, section_id=key, rank=""))
        self._home[block.id] = key

    def _first_of(self, home: Section) -> str | None:
        """The text before the first heading, where that was its home and it is another one by now."""
        if home.level > 0 or not self._order or self._sections[self._order[0]].level > 0:
            return None
        return self._order[0]


def _place(was: Sequence[str], one: str, now: Sequence[str]) -> int:
    before = was[: was.index(one)]
    return next((now.index(key) + 1 for key in reversed(before) if key in now), 0)


def _changed(noun: str, key: str, current: str) -> TextChanged:
    return TextChanged(
        "Somebody changed the text after the edit was accepted, so that it cannot be taken back as a whole.",
        hint=_HINT,
        noun=noun,
        id=key,
        current=current,
    )
