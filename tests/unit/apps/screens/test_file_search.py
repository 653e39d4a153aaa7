"""What a search finds in an app's files."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.apps.screens.file_search import SEARCHED_BYTES, SHOWN_CHARS, checked_query, hits_in
from outlast.apps.screens.shapes import CodeHitAnswer
from outlast.base.errors import MalformedInput


def test_a_long_line_is_shown_around_the_hit():
    line = "a" * 1_000 + "NEEDLE" + "b" * 1_000
    (hit,) = hits_in("a.txt", line.encode(), "needle")
    assert "NEEDLE" in hit.text
    assert len(hit.text) == SHOWN_CHARS + 2
    assert (hit.text[0], hit.text[-1]) == ("…", "…")


def test_what_is_no_text_or_too_long_is_not_searched():
    assert list(hits_in("a", b"hello\0", "hello")) == []
    assert list(hits_in("a", b"hello\xff", "hello")) == []
    assert list(hits_in("a", b"hello " * SEARCHED_BYTES, "hello")) == []


@given(
    st.lists(st.text(alphabet="abAB \t<", max_size=12), max_size=12), st.text(alphabet="abAB", min_size=1, max_size=3)
)
def test_exactly_the_lines_that_hold_the_query_are_found(lines: list[str], query: str):
    found = list(hits_in("a.txt", "\n".join(lines).encode(), query))
    expected = [
        CodeHitAnswer(path="a.txt", line=number, text=line)
        for number, line in enumerate(lines, start=1)
        if query.lower() in line.lower()
    ]
    assert found == expected


@pytest.mark.parametrize("query", ["", "  ", "a\nb", "x" * 201])
def test_a_search_needs_something_to_look_for(query: str):
    with pytest.raises(MalformedInput):
        checked_query(query)
