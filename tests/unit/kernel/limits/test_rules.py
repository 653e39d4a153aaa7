"""Sizes and rates."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.base.errors import InputTooLarge, MalformedInput, RateLimited
from outlast.kernel.limits.rules import check_bytes, check_count, check_rate, checked_line, clean, is_blank

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


def ago(*seconds: float) -> list[datetime]:
    return [NOW - timedelta(seconds=s) for s in seconds]


def test_the_limit_itself_is_accepted_and_one_byte_more_is_refused_with_figures() -> None:
    check_bytes("The message", 10, 10)
    with pytest.raises(InputTooLarge, match="The message has 11 bytes; at most 10") as refused:
        check_bytes("The message", 11, 10)
    assert refused.value.fields == {"what": "The message", "size_bytes": 11, "limit_bytes": 10}


def test_too_many_of_something_are_refused() -> None:
    check_count("images", 8, 8)
    with pytest.raises(InputTooLarge, match="9 images"):
        check_count("images", 9, 8)


@pytest.mark.parametrize(
    ("given_text", "kept"),
    [("  My  plan ", "My plan"), ("two\nlines", "two lines"), ("nul\x00l", "null"), ("half\ud800", "half?")],
)
def test_a_line_is_cleaned(given_text: str, kept: str) -> None:
    assert checked_line("The title", given_text, 200) == kept


def test_an_empty_line_and_a_long_one_are_refused() -> None:
    with pytest.raises(MalformedInput, match="The title is empty"):
        checked_line("The title", " \n\x00 ", 200)
    with pytest.raises(InputTooLarge, match="201 characters"):
        checked_line("The title", "x" * 201, 200)


@given(st.text(st.characters(codec=None, exclude_categories=[])))
def test_cleaned_text_can_always_be_stored(text: str) -> None:
    assert b"\x00" not in clean(text).encode("utf-8")


@pytest.mark.parametrize("recent", [[], ago(59), ago(61, 60, 59)])
def test_below_the_rate_a_run_starts(recent: list[datetime]) -> None:
    check_rate("user", recent, 2, NOW)


def test_zero_is_no_limit() -> None:
    check_rate("user", ago(*range(50, 0, -1)), 0, NOW)


def test_at_the_rate_the_error_says_when_the_next_run_may_start() -> None:
    with pytest.raises(RateLimited, match="2 runs a minute are allowed per user") as refused:
        check_rate("user", ago(50, 40, 10), 2, NOW)
    assert refused.value.retry_after_s == 20  # then the run 40 s ago has left the window, and one remains


@pytest.mark.parametrize("text", ["", " \n\t", "\u200b\u200b", "\u202e \ufeff", "\x07"])
def test_text_that_nobody_can_see_is_blank(text: str) -> None:
    assert is_blank(text)
    with pytest.raises(MalformedInput):
        checked_line("The title", text, 10)


@pytest.mark.parametrize("text", ["a", "\u200bx", "👩\u200d👧", "。", "\u0301"])
def test_text_that_shows_anything_is_not_blank(text: str) -> None:
    assert not is_blank(text)
