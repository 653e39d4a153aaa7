"""Undo one version of a document and keep everything that came later. Pure."""

from dataclasses import replace

from outlast.apps.documents.content.draft import Draft
from outlast.apps.documents.content.tree import Block, Section, Tree, last_before
from outlast.apps.documents.edits import conflict_check as unseen
from outlast.apps.documents.edits.tree_diff import Delta, deltas
from outlast.base.errors import TextChanged
from outlast.base.ids import new_id
from outlast.base.records import dataclass


def without(now: Tree, was: Tree, became: Tree) -> Tree:
    """`now` without the changes that led from `was` to `became`, two versions that follow each other; `now` is the
    second of them or a later one. A block that was changed since in other places is merged. Deleted things
    come back under their ids. Raises `TextChanged` if the version's own text was changed since, moved or deleted."""
    if now.version == became.version:
        return replace(was, version=now.version)
    undo = _Undo(Draft(now, new_id), was)
    found = [delta for delta in deltas(was, became) if not delta.quiet]
    for delta in found:
        if isinstance(delta.before, Section) and delta.after is None:
            undo.put_back_section(delta.before)
    for delta in found:
        if delta.noun == "block":
            undo.take_back_block(delta)
    for delta in found:
        if isinstance(delta.after, Section):
            undo.take_back_section(delta.before, delta.after)
    return undo.draft.tree()


@dataclass(frozen=True, slots=True)
class _Undo:
    """The document while changes are undone, and its state before them."""

    draft: Draft
    was: Tree

    def put_back_section(self, section: Section) -> None:
        if self.draft.has_section(section.id) or (section.level == 0 and self.draft.find_preamble() is not None):
            return  # the blocks of a second text before the first heading go to the current one
        after = last_before([one.id for one in self.was.sections], section.id, self.draft.has_section)
        self.draft.put_section(after, replace(section, rank="", blocks=()))

    def take_back_section(self, before: Section | Block | None, after: Section) -> None:
        if not self.draft.has_section(after.id):
            return  # it is gone already
        current = self.draft.section(after.id)
        if current.heading != after.heading:
            raise _changed("section", current.id, current.heading)
        if isinstance(before, Section):
            self.draft.set_section(current.id, before.heading, before.level)
        elif current.level != after.level or current.blocks:
            raise _changed("section", current.id, current.heading)
        else:
            self.draft.remove_section(current.id, keep_blocks=False)

    def take_back_block(self, delta: Delta) -> None:
        before, after = delta.before, delta.after
        current = self.draft.block(delta.id) if self.draft.has(delta.id) else None
        if isinstance(before, Block) and isinstance(after, Block):
            if current is None:
                raise _changed("block", delta.id, "")
            self._rewrite(current, before, after)
        elif isinstance(before, Block) and current is None:
            self._put(before)
        elif isinstance(after, Block) and current is not None:
            if current.markdown != after.markdown:
                raise _changed("block", current.id, current.markdown)
            self.draft.remove_block(current.id)

    def _rewrite(self, current: Block, before: Block, after: Block) -> None:
        text = current.markdown
        if before.markdown != after.markdown:
            try:
                text = unseen.merged(current, after.markdown, before.markdown)
            except TextChanged as conflict:
                raise _changed("block", current.id, current.markdown) from conflict
        kind = before.kind if text == before.markdown else current.kind
        fresh = replace(current, markdown=text, kind=kind)
        if (before.section_id, before.rank) == (after.section_id, after.rank):
            self.draft.set_block(fresh)
            return
        if (current.section_id, current.rank) != (after.section_id, after.rank):
            raise _changed("block", current.id, current.markdown)  # it was moved again
        self.draft.remove_block(current.id)
        self._put(replace(fresh, section_id=before.section_id))

    def _put(self, block: Block) -> None:
        """Insert the block behind the nearest former predecessor that still exists. A block from before the first
        heading goes to the current text there."""
        home = self.was.section(block.section_id)
        key: str | None = home.id
        if not self.draft.has_section(home.id):
            key = self.draft.find_preamble() if home.level == 0 else None
        if key is None:
            raise _changed("block", block.id, "")
        there = {one.id for one in self.draft.section(key).blocks}
        after = last_before([one.id for one in home.blocks], block.id, there.__contains__)
        self.draft.put_block(key, after, block)


def _changed(noun: str, key: str, current: str) -> TextChanged:
    return TextChanged(
        "The text was changed after the edit was accepted, so the edit cannot be undone as a whole.",
        hint="Change the text yourself, or compare the versions in the history.",
        noun=noun,
        id=key,
        current=current,
    )
