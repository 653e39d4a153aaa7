"""Apply changes to a tree. Pure; all of them or none.

Ids stay with the things they name. Text that its writer has not seen is merged (`merge.py`) or refused, never
overwritten.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Final

from outlast.apps.documents import shapes
from outlast.apps.documents.content.draft import Draft
from outlast.apps.documents.content.markdown_parse import Cuts, one_line, tidy
from outlast.apps.documents.content.tree import Tree
from outlast.apps.documents.edits import conflict_check as unseen
from outlast.apps.documents.edits.tree_diff import Delta, deltas
from outlast.apps.documents.settings import DocumentSettings
from outlast.base.errors import DocumentFull, InputTooLarge, MalformedInput
from outlast.base.ids import new_id
from outlast.base.records import dataclass

MAX_HEADING_CHARS: Final = 500


@dataclass(frozen=True, slots=True)
class Applied:
    """The tree after the changes, the differences, and the ids for the changes' refs."""

    tree: Tree
    deltas: tuple[Delta, ...]
    made: Mapping[str, str] = field(default_factory=dict)

    @property
    def touched(self) -> tuple[Delta, ...]:
        """The differences that people would call changes."""
        return tuple(delta for delta in self.deltas if not delta.quiet)


def apply(
    tree: Tree, changes: Sequence[shapes.Change], make_id: Callable[[str], str] = new_id, cuts: Cuts | None = None
) -> Applied:
    """The document after the changes, applied in order. Versions and editors of the differences are still the old ones
    (none for new things). `cuts`: texts that are parsed already. Raises `NotFound` for a missing section, block or
    place, `TextChanged` where unseen text would be overwritten (fields: current, wanted, base, hunks),
    `MalformedInput`."""
    work = _Work(Draft(tree, make_id), cuts or Cuts())
    for change in changes:
        if isinstance(change, shapes.BlockChange):
            work.change_block(change)
        else:
            work.change_section(change)
    after = work.draft.tree()
    return Applied(after, deltas(tree, after), work.made)


@dataclass(frozen=True, slots=True)
class _Work:
    """The document while it changes. `made`: the ids for the refs of changes."""

    draft: Draft
    cuts: Cuts
    made: dict[str, str] = field(default_factory=dict)

    def change_block(self, change: shapes.BlockChange) -> None:
        match change:
            case shapes.InsertBlockChange():
                home, after = self._place(change.section_id, change.after)
                self._name(change.ref, self.draft.insert(home, after, self.cuts.cut(change.markdown)))
            case shapes.EditBlockChange():
                block = self.draft.block(self._id(change.block_id))
                self.draft.rewrite(block.id, self.cuts.cut(unseen.merged(block, change.old, change.markdown)))
            case shapes.MoveBlockChange():
                self.draft.move_block(self._id(change.block_id), *self._place(change.section_id, change.after))
            case shapes.DeleteBlockChange():
                block = self.draft.block(self._id(change.block_id))
                unseen.demand_seen(block, change.old)
                self.draft.remove_block(block.id)

    def change_section(self, change: shapes.SectionChange) -> None:
        match change:
            case shapes.InsertSectionChange():
                made_id = self.draft.add_section(self._after(change.after), one_line(change.heading), change.level)
                if tidy(change.markdown).strip():
                    self.draft.insert(made_id, None, self.cuts.cut(change.markdown))
                self._name(change.ref, made_id)
            case shapes.EditSectionChange():
                _edit_section(self.draft, change, self._id(change.section_id))
            case shapes.MoveSectionChange():
                self.draft.move_section(self._id(change.section_id), self._after(change.after), whole=change.whole)
            case shapes.DeleteSectionChange():
                section_id = self._id(change.section_id)
                if not change.keep_blocks:
                    unseen.demand_section_seen(self.draft.section(section_id), change.seen)
                self.draft.remove_section(section_id, keep_blocks=change.keep_blocks)

    def _id(self, wanted: str) -> str:
        return self.made.get(wanted, wanted)

    def _after(self, wanted: str | None) -> str | None:
        return None if wanted is None else self._id(wanted)

    def _name(self, ref: str | None, made_id: str | None) -> None:
        if ref is not None and made_id is not None:
            self.made[ref] = made_id

    def _place(self, section_id: str | None, after: str | None) -> tuple[str, str | None]:
        """The place of a block: the section (its neighbour's, which a heading in an earlier text may have moved), and
        the block before."""
        behind = self._after(after)
        if behind is not None and self.draft.has(behind):
            return self.draft.block(behind).section_id, behind
        return (self.draft.preamble() if section_id is None else self._id(section_id)), behind


def _edit_section(draft: Draft, change: shapes.EditSectionChange, section_id: str) -> None:
    section = draft.head(section_id)
    level = section.level if change.level is None else change.level
    heading = section.heading
    if change.heading is not None:
        heading = unseen.merged_heading(section, change.old, one_line(change.heading))
    if level == 0 and (heading or section.level):
        raise MalformedInput(
            "Only the text before the first heading has level 0, and it has no heading.",
            hint="Give a level from 1 to 6. To remove a heading, delete the section and keep its blocks.",
            field="level",
        )
    draft.set_section(section_id, heading, level)


def check_limits(applied: Applied, limits: DocumentSettings) -> None:
    """Raise `DocumentFull` or `InputTooLarge` if new content exceeds the limits of a document."""
    tree = applied.tree
    total = tree.unread + sum(len(section.blocks) for section in tree.sections) + len(tree.sections)
    grew = any(delta.before is None for delta in applied.deltas)
    if grew and total > limits.most_blocks:
        raise DocumentFull(
            f"The document would have {total:,} sections and blocks; at most {limits.most_blocks:,} are allowed.",
            document_id=tree.document_id,
            blocks=total,
            limit=limits.most_blocks,
        )
    for delta in applied.touched:
        size = 0 if delta.after is None else len(delta.after.text)
        name, limit, hint = "heading", MAX_HEADING_CHARS, "Make it shorter."
        if delta.noun == "block":
            name, limit, hint = "block", limits.block_chars, "Divide it by blank lines."
        if size > limit:
            raise InputTooLarge(
                f"A {name} has {size:,} characters; at most {limit:,} are accepted.",
                hint=hint,
                id=delta.id,
                size_chars=size,
                limit_chars=limit,
            )
