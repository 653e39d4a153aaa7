"""What differs between two states of a document."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from outlast.apps.documents.content.tree import Block, Section, Tree
from outlast.apps.documents.edits.tree_diff import deltas


def _tree(*names: str, ranks: str = "bdfhjlnprtv") -> Tree:
    blocks = tuple(Block(name, "s", rank, "paragraph", name) for name, rank in zip(names, ranks, strict=False))
    return Tree("d", 1, (Section("s", "m", "One", 2, blocks=blocks),))


def _with_ranks(tree: Tree, **ranks: str) -> Tree:
    (section,) = tree.sections
    moved = [replace(block, rank=ranks.get(block.id, block.rank)) for block in section.blocks]
    in_order = tuple(sorted(moved, key=lambda block: block.rank))
    return replace(tree, sections=(replace(section, blocks=in_order),))


def test_a_move_taken_back_is_a_change_too() -> None:
    """Restoring a version from before a block changed places with its neighbour made no version: of the two, the one
    that kept its rank was held for the one that had moved."""
    before = _tree("a", "b")
    after = _with_ranks(before, a="e")
    for one, other in ((before, after), (after, before)):
        (delta,) = deltas(one, other)
        assert (delta.id, delta.quiet) == ("a", False)


def test_other_ranks_in_the_same_order_are_no_change_for_people() -> None:
    before = _tree("a", "b", "c")
    assert all(delta.quiet for delta in deltas(before, _tree("a", "b", "c", ranks="cegi")))
    assert deltas(before, before) == ()


@given(st.permutations("abcdef"), st.permutations("abcdef"))
def test_whatever_order_comes_of_it_what_is_told_as_moved_explains_it(old: list[str], new: list[str]) -> None:
    before, after = _tree(*old), _with_ranks(_tree(*old), **dict(zip(new, "bdfhjl", strict=True)))
    found = deltas(before, after)
    told = {delta.id for delta in found if not delta.quiet}
    rest_before = [block.id for block in before.blocks() if block.id not in told]
    rest_after = [block.id for block in after.blocks() if block.id not in told]
    assert rest_before == rest_after
    now = {block.id: block for block in after.blocks()}
    assert {delta.id for delta in found} == {block.id for block in before.blocks() if now[block.id].rank != block.rank}
