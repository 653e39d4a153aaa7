"""What an agent may propose, and what it is told where it may not."""

from __future__ import annotations

import pytest

from outlast.apps.documents.content.tree import Block, Section, Tree
from outlast.apps.documents.proposals.validation import NewEdit, check


def _block(key: str, section: str, rank: str, text: str) -> Block:
    return Block(key, section, rank, "paragraph", text)


TREE = Tree(
    "doc",
    3,
    (
        Section("s1", "b", "One", 2, blocks=(_block("b1", "s1", "b", "First."), _block("b2", "s1", "d", "Second."))),
        Section("s2", "d", "Two", 2, blocks=(_block("b3", "s2", "b", "Third."),)),
    ),
)  # fmt: skip


def replace(block_id: str = "b1", old: str = "First.", new: str = "1st.") -> NewEdit:
    return NewEdit("replace", block_id=block_id, old_text=old, new_text=new)


def test_edits_are_kept_with_their_section_and_the_exact_text() -> None:
    kept, troubles = check(
        TREE,
        [
            replace(old="First.\n", new="\n1st.\n"),
            NewEdit("delete", block_id="b2", old_text="Second."),
            NewEdit("move", block_id="b1", after_id="b3"),
            NewEdit("insert", after_id="b2", section_id="s2", new_text="New."),
            NewEdit("insert", section_id="s2", new_text="New."),
            NewEdit("insert", new_text="New."),
            NewEdit("insert_section", after_id="s1", heading="## A  heading ", new_text="Text."),
        ],
    )
    assert troubles == ()
    assert [(one.op, one.section_id, one.after_id, one.old_text, one.new_text) for one in kept] == [
        ("replace", "s1", None, "First.", "1st."),
        ("delete", "s1", None, "Second.", ""),
        ("move", "s2", "b3", "First.", ""),
        ("insert", "s1", "b2", "", "New."),
        ("insert", "s2", None, "", "New."),
        ("insert", None, None, "", "New."),
        ("insert_section", None, "s1", "", "Text."),
    ]
    assert (kept[-1].heading, kept[-1].level) == ("A heading", 2)


@pytest.mark.parametrize(
    ("edits", "word"),
    [
        ([replace(old="Frist.")], "old_text"),
        ([replace(block_id="b9")], "not a block"),
        ([replace(new="First.")], "equals the current text"),
        ([NewEdit("delete", block_id="b1")], "old_text"),
        ([NewEdit("move", block_id="b1", after_id="b1")], "is the block to move"),
        ([NewEdit("move", block_id="b1", after_id="s2")], "after_id"),
        ([NewEdit("insert", section_id="s9", new_text="x")], "section_id"),
        ([NewEdit("insert", after_id="b1", new_text="# Heading\n\nText")], "insert_section"),
        ([NewEdit("insert_section", heading=" # ")], "heading"),
        ([NewEdit("insert_section", heading="x", after_id="b1")], "after_id"),
        ([replace(), replace(new="One.")], "another edit"),
        ([replace(), NewEdit("delete", block_id="b1", old_text="First.")], "another edit"),
    ],
)
def test_what_is_wrong_is_told_in_words(edits: list[NewEdit], word: str) -> None:
    _, troubles = check(TREE, edits)
    assert [trouble.ordinal for trouble in troubles] == [len(edits)]
    assert word in troubles[0].message


def test_a_stale_text_is_told_what_the_block_says_now() -> None:
    _, (trouble,) = check(TREE, [replace(old="Before.")])
    assert trouble.current == "First."
    assert trouble.current == "First."


def test_a_block_may_be_moved_and_written_anew() -> None:
    _, troubles = check(TREE, [NewEdit("move", block_id="b1", after_id="b3"), replace()])
    assert troubles == ()
