"""What changes make of a document."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from outlast.apps.documents.content.markdown_parse import Cuts, cut
from outlast.apps.documents.content.markdown_render import join
from outlast.apps.documents.content.ranks import LONGEST
from outlast.apps.documents.content.records import change_of, state_of, step_back, tree_of
from outlast.apps.documents.content.tree import Block, Tree
from outlast.apps.documents.edits.apply import MAX_HEADING_CHARS, Applied, apply, check_limits
from outlast.apps.documents.settings import DocumentSettings
from outlast.apps.documents.shapes import Change, EditBlockChange, MoveBlockChange
from outlast.base.errors import DocumentFull, InputTooLarge, MalformedInput, NotFound, TextChanged
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
from tests.steps import assert_nearly_linear


def ids(first: int = 1) -> Callable[[str], str]:
    numbers = itertools.count(first)
    return lambda kind: f"{kind[:3]}_{next(numbers)}"


def made_of(markdown: str) -> Tree:
    return apply(Tree("doc_1", 1), [insert_block(None, None, markdown)], make_id=ids()).tree


def text(tree: Tree) -> str:
    return join((section, section.blocks) for section in tree.sections)


def block(tree: Tree, markdown: str) -> Block:
    return next(one for one in tree.blocks() if one.markdown == markdown)


def after(tree: Tree, *changes: Change) -> str:
    return text(apply(tree, changes).tree)


def check_order(tree: Tree) -> None:
    below = ([block.rank for block in section.blocks] for section in tree.sections)
    for found in [[section.rank for section in tree.sections], *below]:
        assert found == sorted(set(found))
        assert all(len(rank) <= LONGEST for rank in found)
    assert all(one.section_id == section.id for section in tree.sections for one in section.blocks)
    assert len({one.id for one in tree.blocks()}) == len(list(tree.blocks()))
    assert all(section.level > 0 for section in tree.sections[1:])
    assert not tree.sections or tree.sections[0].level > 0 or tree.sections[0].blocks


def taken_back(before: Tree, applied: Applied) -> Tree:
    state = state_of(applied.tree)
    step_back(state, [change_of(delta) for delta in reversed(applied.deltas)])
    return tree_of(before.document_id, before.version, state)


@given(markdown_texts(20), st.data())
def test_any_changes_keep_order_and_ids_and_can_be_taken_back(markdown: str, data: st.DataObject):
    make_id, tree = ids(1000), made_of(markdown)
    for _ in range(data.draw(st.integers(1, 6))):
        change = data.draw(changes_of(tree))
        applied = apply(tree, [change], make_id=make_id)
        check_order(applied.tree)
        assert taken_back(tree, applied) == tree
        if isinstance(change, EditBlockChange) and any(part.pieces for part in cut(change.markdown)):
            assert applied.tree.find_block(change.block_id) is not None
        if isinstance(change, MoveBlockChange):
            was, now = ({one.id: one.markdown for one in it.blocks()} for it in (tree, applied.tree))
            assert now[change.block_id] == was[change.block_id]
        # Whatever a reader of the file would notice is a change.
        assert bool(applied.touched) or text(applied.tree) == text(tree)
        # What the document says is what a reader of the file would see.
        assert text(applied.tree) == join((part, part.pieces) for part in cut(text(applied.tree)))
        tree = applied.tree


@given(markdown_texts(20))
def test_a_document_says_what_it_was_made_of(markdown: str):
    assert text(made_of(markdown)) == join((part, part.pieces) for part in cut(markdown))


def test_several_blocks_written_into_one_follow_it_and_the_first_keeps_the_id():
    tree = made_of("one\n\ntwo")
    one = block(tree, "one")
    applied = apply(tree, [edit_block(one.id, "1\n\n- a\n- b", "one")])
    assert text(applied.tree) == "1\n\n- a\n- b\n\ntwo\n"
    assert applied.tree.sections[0].blocks[0].id == one.id


def test_a_heading_written_into_a_block_begins_a_section_that_takes_the_blocks_after_it():
    tree = made_of("# A\n\none\n\ntwo")
    one, two = block(tree, "one"), block(tree, "two")
    now = apply(tree, [edit_block(one.id, "# B\n\nuno", "one")]).tree
    assert text(now) == "# A\n\n# B\n\nuno\n\ntwo\n"
    assert [one.id for one in now.sections[1].blocks] == [block(now, "uno").id, two.id] == [one.id, two.id]
    assert now.sections[0].id == tree.sections[0].id


def test_no_text_written_into_a_block_deletes_it():
    tree = made_of("# A\n\none")
    assert after(tree, edit_block(block(tree, "one").id, " \n ", "one")) == "# A\n"


def test_text_before_the_first_heading_is_a_section_only_while_there_is_some():
    tree = made_of("# A\n\none")
    applied = apply(tree, [insert_block(None, None, "intro", "x")])
    assert text(applied.tree) == "intro\n\n# A\n\none\n"
    assert [section.level for section in applied.tree.sections] == [0, 1]
    gone = apply(applied.tree, [delete_block(applied.made["x"], "intro")]).tree
    assert [section.id for section in gone.sections] == [tree.sections[0].id]


def test_a_section_moves_with_its_blocks_and_with_those_below_it_when_asked():
    tree = made_of("# A\n\na\n\n## A.1\n\nx\n\n# B\n\nb")
    a, _, b = (section.id for section in tree.sections)
    assert after(tree, move_section(a, b)) == "## A.1\n\nx\n\n# B\n\nb\n\n# A\n\na\n"
    assert after(tree, move_section(a, b, whole=True)) == "# B\n\nb\n\n# A\n\na\n\n## A.1\n\nx\n"
    assert after(tree, move_section(b, None)) == "# B\n\nb\n\n# A\n\na\n\n## A.1\n\nx\n"


def test_nothing_stands_before_the_text_without_heading():
    tree = made_of("intro\n\n# A\n\n# B")
    intro, _, b = tree.sections
    assert after(tree, move_section(b.id, None)) == "intro\n\n# B\n\n# A\n"
    assert after(tree, insert_section(None, "New")) == "intro\n\n## New\n\n# A\n\n# B\n"
    with pytest.raises(MalformedInput):
        apply(tree, [move_section(intro.id, b.id)])


def test_the_blocks_of_a_deleted_heading_join_the_section_before_it():
    tree = made_of("# A\n\na\n\n# B\n\nb")
    a, b = tree.sections
    assert after(tree, delete_section(b.id, keep_blocks=True)) == "# A\n\na\n\nb\n"
    assert after(tree, delete_section(a.id, keep_blocks=True)) == "a\n\n# B\n\nb\n"
    assert after(tree, delete_section(a.id)) == "# B\n\nb\n"


def test_later_changes_name_what_earlier_ones_made():
    tree = made_of("# A")
    applied = apply(
        tree,
        [
            insert_section(tree.sections[0].id, "B", 2, ref="b"),
            insert_block("b", None, "second", "s"),
            insert_block("b", None, "first", "f"),
            move_block("f", "b", "s"),
        ],
    )
    assert text(applied.tree) == "# A\n\n## B\n\nsecond\n\nfirst\n"
    assert set(applied.made) == {"b", "s", "f"}


def test_a_text_that_moved_on_is_merged_with():
    tree = made_of("one two three four five six seven")
    key = block(tree, "one two three four five six seven").id
    now = apply(tree, [edit_block(key, "1 two three four five six seven", "one two three four five six seven")]).tree
    assert after(now, edit_block(key, "one two three four five six 7", "one two three four five six seven")) == (
        "1 two three four five six 7\n"
    )
    with pytest.raises(TextChanged) as refused:
        apply(now, [edit_block(key, "uno two three four five six seven", "one two three four five six seven")])
    fields = refused.value.fields
    assert (fields["current"], fields["id"]) == ("1 two three four five six seven", key)
    with pytest.raises(TextChanged):
        apply(now, [edit_block(key, "", "one two three four five six seven")])
    with pytest.raises(TextChanged):
        apply(now, [delete_block(key, "one two three four five six seven")])


def test_somebody_who_wants_what_is_there_already_changes_nothing():
    tree = made_of("new")
    assert apply(tree, [edit_block(block(tree, "new").id, "new", "old")]).deltas == ()


def test_a_heading_is_one_line_and_its_level_between_one_and_six():
    tree = made_of("# A\n\na")
    key = tree.sections[0].id
    assert after(tree, edit_section(key, " Two\n lines ", 3, "A")) == "### Two lines\n\na\n"
    with pytest.raises(MalformedInput):
        apply(tree, [edit_section(key, level=0)])
    for level, change in ((7, partial(edit_section, key)), (0, partial(insert_section, None, "x"))):
        with pytest.raises(ValidationError):
            change(level=level)
    changed = apply(tree, [edit_section(key, "B", old="A")]).tree
    with pytest.raises(TextChanged):
        apply(changed, [edit_section(key, "C", old="A")])


def test_text_before_the_first_heading_can_get_one():
    tree = made_of("intro")
    assert after(tree, edit_section(tree.sections[0].id, "Title", 1)) == "# Title\n\nintro\n"
    with pytest.raises(MalformedInput):
        apply(tree, [edit_section(tree.sections[0].id, "Title")])


@pytest.mark.parametrize(
    "change",
    [
        insert_block("sec_none", None, "x"),
        insert_block(None, "blk_none", "x"),
        edit_block("blk_none", "x", ""),
        move_block("blk_none", None, None),
        delete_block("blk_none", ""),
        insert_section("sec_none", "x"),
        edit_section("sec_none", "x"),
        move_section("sec_none", None),
        delete_section("sec_none"),
    ],
)
def test_what_is_not_there_cannot_be_changed(change: Change):
    with pytest.raises(NotFound):
        apply(made_of("intro"), [change])


def test_nothing_stands_behind_itself():
    tree = made_of("a\n\n# B")
    with pytest.raises(MalformedInput):
        apply(tree, [move_block(block(tree, "a").id, None, block(tree, "a").id)])
    with pytest.raises(MalformedInput):
        apply(tree, [move_section(tree.sections[1].id, tree.sections[1].id)])


def test_a_document_has_bounds():
    tree = made_of("one\n\ntwo")
    with pytest.raises(DocumentFull):
        check_limits(apply(tree, [insert_block(None, None, "three")]), DocumentSettings(most_blocks=3))
    with pytest.raises(InputTooLarge):
        check_limits(apply(tree, [insert_block(None, None, "x" * 11)]), DocumentSettings(block_chars=10))
    with pytest.raises(InputTooLarge):
        check_limits(apply(tree, [insert_section(None, "x" * (MAX_HEADING_CHARS + 1))]), DocumentSettings())
    less = apply(tree, [delete_block(block(tree, "one").id, "one")])
    check_limits(less, DocumentSettings(most_blocks=1))
    assert text(less.tree) == "two\n"


def test_writing_on_and_on_in_one_place_keeps_ranks_short():
    tree = made_of("first\n\nlast")
    last: Sequence[Block] = ()
    for number in range(600):
        home = tree.sections[0]
        tree = apply(tree, [insert_block(home.id, home.blocks[0].id, f"line {number}")]).tree
        last = tree.sections[0].blocks
        check_order(tree)
    assert [one.markdown for one in last] == ["first", *(f"line {n}" for n in reversed(range(600))), "last"]


def test_ranks_that_are_only_spread_anew_count_as_nobodys_change():
    tree = made_of("first\n\nlast")
    for number in range(600):
        home = tree.sections[0]
        applied = apply(tree, [insert_block(home.id, home.blocks[0].id, f"line {number}")])
        assert len(applied.touched) == 1
        tree = applied.tree


def test_two_blocks_that_change_places_are_a_change():
    """Either of them could be called the one that moved; that with another rank must be, or nothing is written."""
    tree = made_of("one\n\ntwo")
    for moved, after_ in (("two", None), ("one", block(tree, "two").id)):
        applied = apply(tree, [move_block(block(tree, moved).id, None, after_)])
        assert [delta.id for delta in applied.touched] == [block(tree, moved).id]
    sections = made_of("# A\n\n# B")
    applied = apply(sections, [move_section(sections.sections[1].id, None)])
    assert [delta.id for delta in applied.touched] == [sections.sections[1].id]


def test_texts_that_were_cut_before_are_not_cut_again(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = made_of("# A\n\none\n\ntwo")
    section, one = tree.sections[-1].id, block(tree, "one")
    changes: list[Change] = [
        edit_block(one.id, "first\n\nsecond", "one"),
        insert_block(section, one.id, "three\n\n## B\n\nfour"),
        insert_section(section, "C", 1, "five"),
    ]
    plain = apply(tree, changes, make_id=ids(50)).tree
    cuts = Cuts()
    apply(tree, changes, cuts=cuts)

    def refuse(text: str) -> None:
        raise AssertionError(text)

    monkeypatch.setattr("outlast.apps.documents.content.markdown_parse.cut", refuse)
    assert apply(tree, changes, make_id=ids(50), cuts=cuts).tree == plain


def test_a_merged_text_is_cut_though_the_written_one_was() -> None:
    tree = made_of("The quick brown fox runs\n\nends")
    one = block(tree, "The quick brown fox runs")
    change = edit_block(one.id, "The slow brown fox walks\n\nMore", "The slow brown fox runs")
    cuts = Cuts()
    cuts.cut(change.markdown)
    after = apply(tree, [change], cuts=cuts).tree
    assert [one.markdown for one in after.blocks()] == ["The quick brown fox walks", "More", "ends"]


def test_a_merged_text_that_is_long_is_left_to_a_person() -> None:
    lines = "\n".join(f"line {number}" for number in range(5_100))
    tree = made_of(lines)
    one = next(tree.blocks())
    with pytest.raises(TextChanged):
        apply(tree, [edit_block(one.id, f"{lines}\n{'last ' * 40}", f"first\n{lines}")])


def test_a_text_with_many_headings_is_put_in_one_go() -> None:
    def writing(count: int) -> Callable[[], object]:
        change, cuts = insert_block(None, None, "# h\n\nx\n\n" * count), Cuts()
        cuts.cut(change.markdown)
        return lambda: apply(Tree("doc_1", 1), [change], make_id=ids(), cuts=cuts)

    assert_nearly_linear(writing, 20, 200)
    tree = made_of("# h\n\nx\n\n" * 200)
    assert len(tree.sections) == 200
    assert all(len(section.blocks) == 1 for section in tree.sections)


def _ahead(tree: Tree, keys: Sequence[str]) -> list[Change]:
    """Text after text in one place, each behind the one before."""
    chained = [insert_block(None, f"r{n - 1}" if n else keys[0], f"new {n}", f"r{n}") for n in range(len(keys))]
    return [*chained]


def _back(tree: Tree, keys: Sequence[str]) -> list[Change]:
    return [insert_block(None, keys[0], f"new {n}") for n in range(len(keys))]


def _rewritten(tree: Tree, keys: Sequence[str]) -> list[Change]:
    return [edit_block(one.id, "first\n\nsecond\n\nthird", one.markdown) for one in tree.blocks()]


def _headed(tree: Tree, keys: Sequence[str]) -> list[Change]:
    """Headings among the blocks, from the front and from the end."""
    order = [*keys[: len(keys) // 2], *reversed(keys[len(keys) // 2 :])]
    return [insert_block(None, key, "text\n\n## Heading\n\ntext") for key in order]


def _moved(tree: Tree, keys: Sequence[str]) -> list[Change]:
    return [move_block(key, None, keys[-1]) for key in keys[:-1]]


def _deleted(tree: Tree, keys: Sequence[str]) -> list[Change]:
    return [delete_block(one.id, one.markdown) for one in tree.blocks()]


def _sections(tree: Tree, keys: Sequence[str]) -> list[Change]:
    return [insert_section(None, f"Heading {n}", 2, "text") for n in range(len(keys))]


@pytest.mark.parametrize(
    "changes", [_ahead, _back, _rewritten, _headed, _moved, _deleted, _sections], ids=lambda one: one.__name__
)
def test_many_changes_of_a_long_document_take_steps_for_each_change_and_block(
    changes: Callable[[Tree, Sequence[str]], list[Change]],
) -> None:
    def applying(count: int) -> Callable[[], object]:
        tree = made_of("\n\n".join(f"block {n}" for n in range(count)))
        made, cuts = changes(tree, [one.id for one in tree.blocks()]), Cuts()
        apply(tree, made, cuts=cuts)
        return lambda: check_order(apply(tree, made, make_id=ids(count + 10), cuts=cuts).tree)

    assert_nearly_linear(applying, 150, 1_200)
