"""Titles, anchors, texts."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.base.errors import MalformedInput, ThreadArchived
from outlast.kernel.threads.rules import (
    ANCHOR_BYTES,
    ANCHOR_DEPTH,
    ID_CHARS,
    TITLE_CHARS,
    checked_anchor,
    demand_open,
    document_of,
    text_of,
    title_from,
)

TYPES = ("document", "section", "comment", "screen", "page", "selection")


def _nested(depth: int) -> Any:
    return [_nested(depth - 1)] if depth else "deep"


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Hello there", "Hello there"),
        ("\n\n  ## Plan   the trip \nDay one", "Plan the trip"),
        ("> quoted", "quoted"),
        ("   \n\t", "New thread"),
        ("", "New thread"),
        (
            "Please look into the numbers of the third quarter, and compare them",
            "Please look into the numbers of the third quarter, and…",
        ),
        ("x" * 80, "x" * 59 + "…"),
    ],
)
def test_a_title_is_the_first_line_with_words(text: str, title: str) -> None:
    assert title_from(text) == title


@given(st.text())
def test_a_title_always_fits_on_one_line(text: str) -> None:
    title = title_from(text)
    assert 0 < len(title) <= TITLE_CHARS
    assert len(title.splitlines()) == 1


@pytest.mark.parametrize(
    "anchor",
    [None, {"type": "section", "id": "sec_1"}, {"type": "selection", "text": "chosen words", "document_id": "doc_1"}],
)
def test_an_anchor_is_kept_as_it_is(anchor: Any) -> None:
    assert checked_anchor(anchor, TYPES) == anchor


@pytest.mark.parametrize(
    ("anchor", "reason"),
    [
        ("section", "whose type is one of"),
        ({}, "whose type is one of"),
        ({"type": "planet"}, "whose type is one of"),
        ({"type": "section", "id": 7}, "The anchor's id must be a string"),
        ({"type": "section", "text": None}, "The anchor's text must be a string"),
        ({"type": "section", "extra": {1, 2}}, "plain JSON"),
        ({"type": "selection", "text": "x" * ANCHOR_BYTES}, "at most 20,000"),
        ({"type": "document", "id": "d" * (ID_CHARS + 1)}, "id must be a string of at most 40"),
        ({"type": "section", "document_id": "d" * (ID_CHARS + 1)}, "document_id must be a string of at most 40"),
        ({"type": "selection", "block_id": ["blk_1"]}, "block_id must be a string"),
        ({"type": "section", "extra": _nested(ANCHOR_DEPTH)}, "more than 20 levels"),
    ],
)
def test_an_anchor_that_is_none_is_refused_with_the_reason(anchor: Any, reason: str) -> None:
    with pytest.raises(MalformedInput, match=reason):
        checked_anchor(anchor, TYPES)


def test_an_anchor_holds_only_texts_that_every_database_can_hold() -> None:
    odd = {"type": "selection", "text": "a\x00b\ud800", "id": "sec_\x001", "n\x00ame": [{"deep": "\udfff"}]}
    clean = {"type": "selection", "text": "ab?", "id": "sec_1", "name": [{"deep": "?"}]}
    assert checked_anchor(odd, TYPES) == clean


@pytest.mark.parametrize("kind", ["screen", "page"])
def test_only_anchors_in_documents_lead_to_one(kind: str) -> None:
    assert document_of({"type": kind, "id": "x", "document_id": "doc_1"}) is None
    assert document_of({"type": "selection", "document_id": "doc_1"}) == "doc_1"


def test_an_archived_thread_accepts_nothing_new() -> None:
    demand_open("open", "thr_1")
    with pytest.raises(ThreadArchived):
        demand_open("archived", "thr_1")


def test_the_text_of_a_message_is_its_text_parts() -> None:
    parts = [
        {"type": "text", "text": "one"},
        {"type": "reasoning", "text": "hidden"},
        {"type": "tool_call", "tool": "terminal"},
        {"type": "text", "text": "two"},
    ]
    assert text_of(parts) == "one\ntwo"
