"""Accepted edits as changes: in which order, at which places, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from outlast.apps.documents.content.markdown_parse import Cuts
from outlast.apps.documents.content.tree import Block, Section, Tree
from outlast.apps.documents.edits.apply import apply
from outlast.apps.documents.proposals.decisions import Accepted, followers, merge_of, plan
from outlast.apps.documents.proposals.shapes import EditData
from outlast.base.errors import MalformedInput, TextChanged
from tests.document_changes import insert_block
from tests.steps import assert_nearly_linear, steps_of


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


def edit(ordinal: int, op: str, **fields: Any) -> EditData:
    given = {"block_id": None, "section_id": None, "after_id": None, "old_text": "", "new_text": ""}
    known = {"id": f"e{ordinal}", "proposal_id": "p", "document_id": "doc", "ordinal": ordinal, "op": op}
    return EditData(**{**given, **known, "state": "open", **fields})


def texts_after(*edits: EditData) -> list[list[str]]:
    numbers = iter(range(100))
    made = plan(TREE, [Accepted(one) for one in edits])
    applied = apply(TREE, made.changes, make_id=lambda kind: f"{kind}{next(numbers)}")
    return [[block.markdown for block in section.blocks] for section in applied.tree.sections]


def test_texts_go_in_before_blocks_are_rewritten_and_others_deleted() -> None:
    assert texts_after(
        edit(1, "delete", block_id="b1", old_text="First."),
        edit(2, "replace", block_id="b2", old_text="Second.", new_text="2nd.\n\nAnd more."),
        edit(3, "insert", section_id="s1", after_id="b1", new_text="behind one"),
        edit(4, "insert", section_id="s1", after_id="b2", new_text="behind two"),
    ) == [["behind one", "2nd.", "And more.", "behind two"], ["Third."]]


def test_texts_for_one_place_stand_in_the_order_of_their_numbers() -> None:
    assert texts_after(
        edit(2, "insert", section_id="s2", new_text="two"),
        edit(1, "insert", section_id="s2", new_text="one\n\none more"),
        edit(3, "move", block_id="b1", section_id="s2"),
    ) == [["Second."], ["one", "one more", "two", "First.", "Third."]]


def test_what_a_person_saw_is_the_base_of_what_they_write() -> None:
    one = edit(1, "replace", block_id="b1", old_text="Before.", new_text="After.")
    with pytest.raises(TextChanged) as caught:
        plan(TREE, [Accepted(one)])
    assert caught.value.fields["edit_id"] == "e1"
    made = plan(TREE, [Accepted(one, text="Both.", old="First.")])
    assert made.written == {"e1": "Both."}


def test_every_conflict_is_told_at_once() -> None:
    stale = [
        edit(1, "replace", block_id="b1", old_text="Before.", new_text="After."),
        edit(2, "insert", after_id="b2", section_id="s1", new_text="fine"),
        edit(3, "delete", block_id="b3", old_text="Other."),
    ]
    with pytest.raises(TextChanged) as caught:
        plan(TREE, [Accepted(one) for one in stale])
    assert [one["edit_id"] for one in caught.value.fields["conflicts"]] == ["e1", "e3"]


@pytest.mark.parametrize(
    ("op", "text"), [("delete", "text"), ("move", "text"), ("insert", " ")], ids=["delete", "move", "insert"]
)
def test_a_text_where_none_belongs_is_refused(op: str, text: str) -> None:
    one = edit(1, op, block_id="b1", old_text="First.", new_text="x")
    with pytest.raises(MalformedInput):
        plan(TREE, [Accepted(one, text=text)])


def test_open_texts_follow_accepted_ones_for_the_same_place() -> None:
    still = [
        edit(2, "insert", section_id="s1", after_id="b1", new_text="x"),
        edit(4, "insert", section_id="s1", after_id="b1", new_text="x"),
        edit(5, "insert", section_id="s1", after_id="b2", new_text="x"),
        edit(6, "replace", block_id="b1", old_text="First.", new_text="x"),
    ]
    put = [
        edit(1, "insert", section_id="s1", after_id="b1", new_text="x"),
        edit(3, "move", block_id="b3", section_id="s1", after_id="b1"),
        edit(7, "replace", block_id="b2", old_text="Second.", new_text="x\n\ny"),
    ]
    assert followers(still, put) == {"e2": "e1", "e4": "e3", "e5": "e7"}


def test_the_merge_of_each_kind_of_edit() -> None:
    shown = {
        "replace": edit(1, "replace", block_id="b1", old_text="First.", new_text="1st."),
        "delete": edit(1, "delete", block_id="b1", old_text="First."),
        "insert": edit(1, "insert", after_id="b1", new_text="New."),
        "move": edit(1, "move", block_id="b1", after_id="b2"),
    }
    merged = {op: merge_of(TREE, one).text for op, one in shown.items()}
    assert merged == {"replace": "1st.", "delete": "", "insert": "New.", "move": "First."}
    assert merge_of(TREE, edit(1, "delete", block_id="b1", old_text="Other.")).text is None


def test_a_rehearsed_decision_cuts_no_text_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two hundred edits of two kilobytes were cut, twice each, by the thread that writes for everybody."""
    text = "\n\n".join(f"Paragraph {number} with `code`, *stress* and a [link](x)." for number in range(20))
    taken = [Accepted(edit(n, "insert", section_id="s1", after_id="b1", new_text=f"{n} {text}")) for n in range(20)]
    taken.append(Accepted(edit(20, "replace", block_id="b2", old_text="Second.", new_text=text)))
    cuts = Cuts()
    first = steps_of(lambda: plan(TREE, taken, cuts))
    again = steps_of(lambda: plan(TREE, taken, cuts))
    assert again < first / 10

    def refuse(text: str) -> None:
        raise AssertionError(text)

    monkeypatch.setattr("outlast.apps.documents.content.markdown_parse.cut", refuse)
    apply(TREE, plan(TREE, taken, cuts).changes, cuts=cuts)


def test_many_edits_of_a_long_document_are_planned_in_steps_for_each_edit_and_block() -> None:
    def planning(count: int) -> Callable[[], object]:
        text = "\n\n".join(f"block {number}" for number in range(count))
        tree = apply(Tree("doc_1", 1), [insert_block(None, None, text)]).tree
        blocks = list(tree.blocks())
        taken = [
            Accepted(edit(n, "move", block_id=one.id, after_id=blocks[n - 1].id))
            if n % 2
            else Accepted(edit(n, "replace", block_id=one.id, old_text=one.markdown, new_text="new"))
            for n, one in enumerate(blocks)
        ]
        cuts = Cuts()
        plan(tree, taken, cuts)
        return lambda: plan(tree, taken, cuts)

    assert_nearly_linear(planning, 50, 400)
