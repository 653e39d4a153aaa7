"""Check the edits that an agent proposes for the current document, and report what is wrong with them. Pure.

A proposal never starts stale: the `old_text` of an edit must be the block's text at that moment. A place is given
by the neighbour before it (`after_id`), in any section; `section_id` counts only for a text that becomes
the first.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from outlast.apps.documents.content.markdown_parse import cut, tidy
from outlast.apps.documents.content.tree import Block, Section, Tree
from outlast.apps.documents.proposals.shapes import EditOp
from outlast.base.records import dataclass


@dataclass(frozen=True, slots=True)
class NewEdit:
    """One change that an agent proposes, in its own words, complete as the tool's schema demands. By `op`:

    - `replace`: changes `block_id` from `old_text` to `new_text`.
    - `delete`: deletes `block_id`, which has the text `old_text`.
    - `move`: moves `block_id` behind the block `after_id` (None: first in `section_id`; both None: in its own).
    - `insert`: `new_text` behind the block `after_id` (None: first in `section_id`; both None: before all headings).
    - `insert_section`: `heading` at `level` (None: 2), `new_text` below it, behind section `after_id` (None: first).
    """

    op: EditOp
    block_id: str | None = None
    section_id: str | None = None
    after_id: str | None = None
    old_text: str = ""
    new_text: str = ""
    heading: str | None = None
    level: int | None = None


@dataclass(frozen=True, slots=True)
class Trouble:
    """The reason why an edit cannot be proposed, for the model; `current`: the block's present text, if it differs."""

    ordinal: int
    message: str
    block_id: str | None = None
    current: str | None = None


class _Wrong(Exception):
    """The trouble with one edit, inside this module."""

    def __init__(self, message: str, block: Block | None = None) -> None:
        super().__init__(message)
        self.block = block


def check(tree: Tree, edits: Sequence[NewEdit]) -> tuple[tuple[NewEdit, ...], tuple[Trouble, ...]]:
    """The edits as they are stored (each with its section and the block's exact text), and the troubles. With any
    trouble nothing must be proposed. `tree` has all the blocks that the edits name."""
    kept: list[NewEdit] = []
    troubles: list[Trouble] = []
    for ordinal, edit in enumerate(edits, start=1):
        try:
            kept.append(_CHECKS[edit.op](tree, edit))
            _demand_once(kept)
        except _Wrong as wrong:
            current = None if wrong.block is None else wrong.block.markdown
            troubles.append(Trouble(ordinal, str(wrong), edit.block_id, current))
    return tuple(kept), tuple(troubles)


def _replace(tree: Tree, edit: NewEdit) -> NewEdit:
    block = _block_that_says(tree, edit)
    if edit.new_text.strip() == block.markdown.strip():
        raise _Wrong("new_text equals the current text of the block.")
    return NewEdit("replace", block.id, block.section_id, old_text=block.markdown, new_text=tidy(edit.new_text))


def _delete(tree: Tree, edit: NewEdit) -> NewEdit:
    block = _block_that_says(tree, edit)
    return NewEdit("delete", block.id, block.section_id, old_text=block.markdown)


def _move(tree: Tree, edit: NewEdit) -> NewEdit:
    block = _block(tree, edit.block_id, "block_id")
    if edit.after_id == block.id:
        raise _Wrong("after_id is the block to move.")
    section = _place(tree, edit, default=block.section_id)
    return NewEdit("move", block.id, section.id, edit.after_id, old_text=block.markdown)


def _insert(tree: Tree, edit: NewEdit) -> NewEdit:
    if len(cut(edit.new_text)) > 1:
        raise _Wrong("new_text has a heading; a heading begins a new section: use the op insert_section.")
    if edit.after_id is None and edit.section_id is None:
        return NewEdit("insert", new_text=tidy(edit.new_text))
    section = _place(tree, edit, default=None)
    return NewEdit("insert", None, section.id, edit.after_id, new_text=tidy(edit.new_text))


def _insert_section(tree: Tree, edit: NewEdit) -> NewEdit:
    heading = " ".join((edit.heading or "").split()).lstrip("# ")
    if not heading:
        raise _Wrong("a new section needs a heading.")
    if edit.after_id is not None and tree.find_section(edit.after_id) is None:
        raise _Wrong(f"after_id {edit.after_id!r} is not a section of this document.")
    return replace(edit, section_id=None, new_text=tidy(edit.new_text), heading=heading, level=edit.level or 2)


_CHECKS: Final[dict[EditOp, Callable[[Tree, NewEdit], NewEdit]]] = {
    "replace": _replace,
    "delete": _delete,
    "move": _move,
    "insert": _insert,
    "insert_section": _insert_section,
}


def _block(tree: Tree, block_id: str | None, field: str) -> Block:
    found = None if block_id is None else tree.find_block(block_id)
    if found is None:
        raise _Wrong(f"{field} {block_id!r} is not a block of this document. Read it again.")
    return found


def _block_that_says(tree: Tree, edit: NewEdit) -> Block:
    block = _block(tree, edit.block_id, "block_id")
    if edit.old_text.strip() != block.markdown.strip():
        raise _Wrong(f"old_text is not the text of block {block.id}.", block)
    return block


def _place(tree: Tree, edit: NewEdit, default: str | None) -> Section:
    """The section that a block goes into."""
    if edit.after_id is not None:
        return tree.section(_block(tree, edit.after_id, "after_id").section_id)
    section_id = edit.section_id or default
    found = None if section_id is None else tree.find_section(section_id)
    if found is None:
        raise _Wrong(f"section_id {section_id!r} is not a section of this document.")
    return found


def _demand_once(kept: list[NewEdit]) -> None:
    """A proposal has at most one edit of a block's text (or its deletion), and one of its place."""
    *before, last = kept
    for other in before:
        if last.block_id is None or other.block_id != last.block_id:
            continue
        if (other.op == "move") == (last.op == "move") or "delete" in (other.op, last.op):
            raise _Wrong(f"block {last.block_id} has another edit in this proposal; put both into one.")
