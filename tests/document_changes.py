"""Generated changes of documents: any that a person could ask for, of what is there."""

from __future__ import annotations

from hypothesis import strategies as st

from outlast.apps.documents.content.tree import Tree
from outlast.apps.documents.edits.changes import (
    Change,
    DeleteBlock,
    DeleteSection,
    EditBlock,
    EditSection,
    InsertBlock,
    InsertSection,
    MoveBlock,
    MoveSection,
)
from tests.markdown_texts import markdown_texts

HEADINGS = st.sampled_from(["Goals", "Costs", "", "# marks #", "über"])


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
        return InsertSection(after, draw(HEADINGS), draw(st.integers(1, 6)), draw(markdown_texts(3)))
    if kind in ("insert_block", "move_block"):
        home = draw(st.sampled_from([None, *sections]))
        wanted = next((one for one in tree.sections if one.id == home), None)
        if home is None and tree.sections and tree.sections[0].level == 0:
            wanted = tree.sections[0]
        after = draw(st.sampled_from([None, *([] if wanted is None else [one.id for one in wanted.blocks])]))
        if kind == "insert_block":
            return InsertBlock(home, after, draw(markdown_texts(4)))
        moved = draw(st.sampled_from([one.id for one in blocks]))
        return MoveBlock(moved, home, None if after == moved else after)
    if kind == "edit_block":
        block = draw(st.sampled_from(blocks))
        return EditBlock(block.id, draw(markdown_texts(5)), block.markdown)
    if kind == "delete_block":
        block = draw(st.sampled_from(blocks))
        return DeleteBlock(block.id, block.markdown)
    section = draw(st.sampled_from(tree.sections))
    if kind == "delete_section":
        return DeleteSection(section.id, keep_blocks=draw(st.booleans()))
    if kind == "edit_section" or section.level == 0:
        return EditSection(section.id, draw(HEADINGS), draw(st.integers(1, 6)), section.heading)
    others = [one.id for one in tree.sections if one.id != section.id]
    return MoveSection(section.id, draw(st.sampled_from([None, *others])))
