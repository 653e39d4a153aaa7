"""Where comments belong."""

from __future__ import annotations

from dataclasses import replace

import pytest

from outlast.apps.documents.comments.comment_anchors import Anchor, Content, new_anchor, place
from outlast.apps.documents.comments.shapes import Quote
from outlast.base.errors import InputTooLarge, MalformedInput, NotFound

CONTENT = Content(
    {"s1", "s2"},
    [("b1", "s1", "We propose a new way to cook rice."), ("b2", "s1", "It is quick."), ("b3", "s2", "Wash it.")],
)
NEW_WAY = Quote(text="new way", prefix="We propose a ", suffix=" to cook rice.")


def test_a_new_comment_is_at_what_was_named() -> None:
    assert new_anchor(CONTENT, None, None, None) == Anchor()
    assert new_anchor(CONTENT, "s2", None, None) == Anchor("s2")
    assert new_anchor(CONTENT, None, "b3", None) == Anchor("s2", "b3")
    assert new_anchor(CONTENT, "s2", "b1", None) == Anchor("s1", "b1")  # a block knows its section
    found = new_anchor(CONTENT, None, "b1", NEW_WAY)
    assert (found.section_id, found.block_id, found.orphaned) == ("s1", "b1", False)


def test_what_somebody_says_of_a_text_that_just_went_is_kept() -> None:
    assert new_anchor(CONTENT, "s1", "b9", None) == Anchor("s1", "b9", None, orphaned=True)
    gone = new_anchor(CONTENT, None, "b2", NEW_WAY)
    assert (gone.block_id, gone.orphaned) == ("b1", False)  # it stands in the block before
    other = Quote(text="an old way that nobody remembers")
    assert new_anchor(CONTENT, None, "b2", other) == Anchor("s1", "b2", other, orphaned=True)


@pytest.mark.parametrize(
    ("section", "block", "quote", "error"),
    [
        ("s9", None, None, NotFound),
        (None, "b9", None, NotFound),
        ("s1", None, NEW_WAY, MalformedInput),
        (None, "b1", Quote(text=" \n"), MalformedInput),
        (None, "b1", Quote(text="x" * 5_001), InputTooLarge),
    ],
)
def test_a_place_that_never_was_is_refused(
    section: str | None, block: str | None, quote: Quote | None, error: type[Exception]
) -> None:
    with pytest.raises(error):
        new_anchor(CONTENT, section, block, quote)


def test_a_comment_follows_its_block_and_waits_for_what_is_gone() -> None:
    anchor = Anchor("s1", "b3")
    assert place(anchor, CONTENT) == Anchor("s2", "b3")
    gone = place(Anchor("s1", "b9"), CONTENT)
    assert gone == Anchor("s1", "b9", None, orphaned=True)
    back = Content({"s1"}, [("b9", "s1", "Here again.")])
    assert place(gone, back) == Anchor("s1", "b9")
    assert place(Anchor("s9"), CONTENT).orphaned
    assert not place(Anchor(), CONTENT).orphaned


def test_a_quote_is_searched_in_its_section_and_in_what_was_touched() -> None:
    blocks = [("b2", "s1", "It is quick."), ("b4", "s2", "We propose a new way to cook rice.")]
    anchor = Anchor("s1", "b1", NEW_WAY)
    assert place(anchor, Content({"s1", "s2"}, blocks)).orphaned
    found = place(anchor, Content({"s1", "s2"}, blocks, {"b4"}))
    assert (found.section_id, found.block_id, found.orphaned) == ("s2", "b4", False)


def test_other_surroundings_show_nobody_anything_new() -> None:
    before = new_anchor(CONTENT, None, "b1", NEW_WAY)
    after = place(before, Content({"s1"}, [("b1", "s1", "Today we propose a new way to cook rice.")]))
    assert before != after
    assert after.shown() == before.shown()
    assert place(before, Content({"s1"}, [])).shown() != before.shown()


def test_a_lost_quote_is_searched_only_where_something_happened_since() -> None:
    lost = Anchor("s1", "b0", Quote(text="the very words that went away"), orphaned=True)
    found = [("b1", "s1", "Here are the very words that went away."), ("b2", "s1", "Others.")]
    first, second = (Content({"s1"}, found, [touched]) for touched in ("b1", "b2"))
    assert place(lost, second).orphaned
    assert place(lost, first).block_id == "b1"
    assert place(replace(lost, orphaned=False), second).block_id == "b1"


def test_looking_for_many_long_quotes_ends_and_keeps_what_stands_where_it_stood() -> None:
    long = [" ".join(f"**word{n}x{m}**" for m in range(200)) for n in range(400)]
    content = Content({"s1"}, [(f"b{n}", "s1", f"word0x0 {n}") for n in range(300)], ["b1", "b9"])
    for text in long:
        place(Anchor("s1", "b1", Quote(text=text)), content)
    assert content.effort.left <= 0
    assert not place(Anchor("s1", "b1", Quote(text="word0x0 1")), content).orphaned
    assert place(Anchor("s1", "b9", Quote(text="word0x0 1")), content).orphaned
