"""What differs between two states of a document, for people."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from outlast.apps.documents.content.tree import Tree
from outlast.apps.documents.edits.apply import apply
from outlast.apps.documents.edits.diff_view import difference, woven
from outlast.apps.documents.history.summaries import describe
from outlast.apps.documents.shapes import Change
from tests.document_changes import (
    changes_of,
    delete_block,
    delete_section,
    edit_block,
    edit_section,
    insert_block,
    insert_section,
    move_block,
    move_section,
)
from tests.markdown_texts import markdown_texts
from tests.unit.apps.documents.edits.test_apply import block, ids, made_of

Lines = list[tuple[str, str | None, str | None]]


def told(before: Tree, *changes: Change) -> list[tuple[str, str | None, Lines]]:
    found = difference(before, apply(before, changes).tree)
    return [
        (
            section.state,
            section.heading_after if section.heading_after is not None else section.heading_before,
            [(one.state, one.before, one.after) for one in section.blocks],
        )
        for section in found.sections
    ]


def said(before: Tree, *changes: Change) -> str:
    return describe(before, apply(before, changes).touched)


TREE = made_of("# A\n\none\n\ntwo\n\nthree\n\n# B\n\nfour")
A, B = TREE.sections
ONE, TWO, THREE, FOUR = TREE.blocks()


def test_sections_without_changes_come_without_blocks():
    assert told(TREE, edit_block(FOUR.id, "vier", "four")) == [
        ("same", "A", []),
        ("same", "B", [("changed", "four", "vier")]),
    ]


def test_what_is_gone_stands_where_it_stood():
    assert told(TREE, delete_block(TWO.id, "two"), insert_block(A.id, THREE.id, "end"))[0] == (
        "same",
        "A",
        [("same", "one", "one"), ("removed", "two", None), ("same", "three", "three"), ("added", None, "end")],
    )
    assert [state for state, *_ in told(TREE, delete_section(A.id))] == ["removed", "same"]


def test_as_few_as_possible_count_as_moved():
    assert told(TREE, move_block(ONE.id, A.id, THREE.id))[0][2] == [
        ("same", "two", "two"),
        ("same", "three", "three"),
        ("moved", "one", "one"),
    ]


def test_a_block_of_another_section_is_told_where_it_went():
    lines = told(TREE, move_block(ONE.id, B.id, None), edit_block(ONE.id, "uno", "one"))
    assert lines[0][2] == [("same", "two", "two"), ("same", "three", "three")]
    assert lines[1][2] == [("changed", "one", "uno"), ("same", "four", "four")]


def test_a_heading_is_compared_with_its_level():
    assert [state for state, *_ in told(TREE, edit_section(A.id, level=2))] == ["changed", "same"]


@given(markdown_texts(15), st.data())
def test_every_text_of_both_states_is_told_where_something_differs(markdown: str, data: st.DataObject):
    before = made_of(markdown)
    after = apply(before, [data.draw(changes_of(before))], make_id=ids(1000)).tree
    found = difference(before, after)
    blocks = [one for section in found.sections for one in section.blocks]
    silent = {section.id for section in found.sections if not section.blocks}
    stayed = {(one.id, one.section_id) for one in before.blocks()} & {
        (one.id, one.section_id) for one in after.blocks()
    }
    for tree, seen in ((before, [one.before for one in blocks]), (after, [one.after for one in blocks])):
        texts = [one.markdown for one in tree.blocks()]
        left = [
            one.markdown for one in tree.blocks() if one.section_id in silent and (one.id, one.section_id) in stayed
        ]
        assert sorted([text for text in seen if text is not None] + left) == sorted(texts)
    assert {section.id for section in found.sections} == {one.id for one in (*before.sections, *after.sections)}


def test_two_orders_are_woven_into_one():
    assert woven(["a", "b", "c"], ["c", "x"]) == ["a", "b", "c", "x"]
    assert woven(["a", "b", "c"], ["a", "x", "c"]) == ["a", "b", "x", "c"]
    assert woven([], ["a"]) == ["a"]
    assert woven(["a"], []) == ["a"]


def test_a_version_without_a_summary_gets_one():
    assert said(TREE, edit_block(ONE.id, "uno", "one")) == "Changed a block in “A”"
    assert said(TREE, delete_block(ONE.id, "one"), delete_block(TWO.id, "two")) == "Deleted 2 blocks in “A”"
    assert said(TREE, move_block(ONE.id, B.id, None)) == "Moved a block"
    assert said(TREE, insert_section(None, "C")) == "Added section “C”"
    assert said(TREE, edit_section(A.id, "Z")) == "Renamed section “A” to “Z”"
    assert said(TREE, edit_section(A.id, level=3)) == "Changed section “A”"
    assert said(TREE, move_section(A.id, B.id)) in ("Moved section “A”", "Moved section “B”")
    assert said(TREE, delete_section(A.id), delete_section(B.id)) == "Deleted 2 sections, deleted 4 blocks"
    assert (
        said(TREE, insert_block(A.id, None, "x"), edit_block(FOUR.id, "4", "four")) == "Added a block, changed a block"
    )
    assert said(TREE, insert_block(None, None, "intro")) == "Added the text before the first heading"
    assert block(TREE, "one") == ONE
