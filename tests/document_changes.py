"""Changes of documents, made in one line; and generated ones: any that a person could ask for, of what is there."""

from __future__ import annotations

from hypothesis import strategies as st

from outlast.apps.documents.content.tree import Tree
from outlast.apps.documents.shapes import (
    Change,
    DeleteBlockChange,
    DeleteSectionChange,
    EditBlockChange,
    EditSectionChange,
    InsertBlockChange,
    InsertSectionChange,
    MoveBlockChange,
    MoveSectionChange,
)
from tests.markdown_texts import markdown_texts

HEADINGS = st.sampled_from(["Goals", "Costs", "", "# marks #", "über"])


def insert_block(section_id: str | None, after: str | None, markdown: str, ref: str | None = None) -> InsertBlockChange:
    return InsertBlockChange(op="insert_block", section_id=section_id, after=after, markdown=markdown, ref=ref)


def edit_block(block_id: str, markdown: str, old: str) -> EditBlockChange:
    return EditBlockChange(op="edit_block", block_id=block_id, markdown=markdown, old=old)


def move_block(block_id: str, section_id: str | None, after: str | None) -> MoveBlockChange:
    return MoveBlockChange(op="move_block", block_id=block_id, section_id=section_id, after=after)


def delete_block(block_id: str, old: str) -> DeleteBlockChange:
    return DeleteBlockChange(op="delete_block", block_id=block_id, old=old)


def insert_section(
    after: str | None, heading: str, level: int = 2, markdown: str = "", ref: str | None = None
) -> InsertSectionChange:
    return InsertSectionChange(
        op="insert_section", after=after, heading=heading, level=level, markdown=markdown, ref=ref
    )


def edit_section(
    section_id: str, heading: str | None = None, level: int | None = None, old: str | None = None
) -> EditSectionChange:
    return EditSectionChange(op="edit_section", section_id=section_id, heading=heading, level=level, old=old)


def move_section(section_id: str, after: str | None, whole: bool = False) -> MoveSectionChange:
    return MoveSectionChange(op="move_section", section_id=section_id, after=after, whole=whole)


def delete_section(section_id: str, keep_blocks: bool = False, seen: int | None = None) -> DeleteSectionChange:
    return DeleteSectionChange(op="delete_section", section_id=section_id, keep_blocks=keep_blocks, seen=seen)


@st.composite
def changes_of(draw: st.DrawFn, tree: Tree) -> Change:
    """One change of something in the tree."""
    sections = [section.id for section in tree.sections]
    blocks = list(tree.blocks())
    kinds = ["insert_block", "insert_section"]
    kinds += ["edit_section", "move_section", "delete_section"] if sections else []
    kinds += ["edit_block", "edit_block", "move_block", "delete_block"] if blocks else []
    kind = draw(st.sampled_from(kinds))
    if kind == "insert_section":
        after = draw(st.sampled_from([None, *sections]))
        return insert_section(after, draw(HEADINGS), draw(st.integers(1, 6)), draw(markdown_texts(3)))
    if kind in ("insert_block", "move_block"):
        home = draw(st.sampled_from([None, *sections]))
        wanted = next((one for one in tree.sections if one.id == home), None)
        if home is None and tree.sections and tree.sections[0].level == 0:
            wanted = tree.sections[0]
        after = draw(st.sampled_from([None, *([] if wanted is None else [one.id for one in wanted.blocks])]))
        if kind == "insert_block":
            return insert_block(home, after, draw(markdown_texts(4)))
        moved = draw(st.sampled_from([one.id for one in blocks]))
        return move_block(moved, home, None if after == moved else after)
    if kind == "edit_block":
        block = draw(st.sampled_from(blocks))
        return edit_block(block.id, draw(markdown_texts(5)), block.markdown)
    if kind == "delete_block":
        block = draw(st.sampled_from(blocks))
        return delete_block(block.id, block.markdown)
    section = draw(st.sampled_from(tree.sections))
    if kind == "delete_section":
        return delete_section(section.id, keep_blocks=draw(st.booleans()))
    if kind == "edit_section" or section.level == 0:
        return edit_section(section.id, draw(HEADINGS), draw(st.integers(1, 6)), section.heading)
    others = [one.id for one in tree.sections if one.id != section.id]
    return move_section(section.id, draw(st.sampled_from([None, *others])))
