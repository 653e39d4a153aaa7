"""Words and snippets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.kernel.threads.search_index import SNIPPET_CHARS, snippet, words_of


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Hello, World!", ["hello", "world"]),
        ("Crème brûlée, NAÏVE Straße", ["creme", "brulee", "naive", "strasse"]),
        ("src/outlast/app.py --flag", ["src", "outlast", "app", "py", "flag"]),
        ("run_time snake_case", ["run", "time", "snake", "case"]),
        ("東京へ行く", ["東", "京", "へ", "行", "く"]),
        ("한글 test", ["한", "글", "test"]),
        ("' \" ) OR * : & | ! <->", ["or"]),
        ("", []),
    ],
)
def test_texts_are_cut_into_plain_words(text: str, words: list[str]) -> None:
    assert words_of(text) == words


@given(st.text())
def test_words_are_safe_in_both_query_languages(text: str) -> None:
    for word in words_of(text):
        assert word
        assert not set(word) & set(" '\"\\:*&|!()<>·_\x00")


def test_a_snippet_shows_the_words_around_the_hit() -> None:
    text = "begin " * 30 + "here lies the Treasure of the isle " + "end " * 60
    shown = snippet(text, ["treas"])
    assert "here lies the Treasure of the isle" in shown
    assert shown.startswith("… begin")
    assert shown.endswith("…")


def test_a_short_text_is_its_own_snippet() -> None:
    assert snippet("one\n two", ["two"]) == "one two"


@given(st.text(), st.lists(st.text(min_size=1), max_size=3))
def test_a_snippet_is_one_short_line(text: str, wanted: list[str]) -> None:
    shown = snippet(text, wanted)
    assert len(shown) <= SNIPPET_CHARS + 4
    assert len(shown.splitlines()) <= 1
