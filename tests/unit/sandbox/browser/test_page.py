"""What a browser tells of a page, as texts for people and models."""

from __future__ import annotations

from typing import Any

import pytest

from outlast_sandbox.browser.page import (
    MAX_TEXTS,
    READ_CHARS,
    TEXT_CHARS,
    Seen,
    as_status,
    console_text,
    exception_text,
)


@pytest.mark.parametrize(
    ("details", "text"),
    [
        (
            {"text": "Uncaught", "exception": {"description": "TypeError: no\n    at draw (app/page.tsx:3:1)"}},
            "Uncaught TypeError: no\n    at draw (app/page.tsx:3:1)",
        ),
        (
            {"text": "Uncaught (in promise)", "exception": {"value": "plain words"}, "url": "/x.js", "lineNumber": 4},
            "Uncaught (in promise) plain words (/x.js:5)",
        ),
        (
            {
                "text": "Uncaught",
                "exception": {
                    "description": "Error: late\n    at Page (http://localhost:3000/app/page.tsx:3:1)\n"
                    "    at render (http://localhost:3000/.vite/deps/react-dom_client.js:1:1)\n"
                    "    at main (http://localhost:3000/main.tsx:1:1)"
                },
            },
            (
                "Uncaught Error: late\n    at Page (http://localhost:3000/app/page.tsx:3:1)\n"
                "    at main (http://localhost:3000/main.tsx:1:1)"
            ),
        ),
        ({"text": "Uncaught SyntaxError: bad", "url": "/x.js"}, "Uncaught SyntaxError: bad  (/x.js:1)"),
        ({}, "Uncaught"),
    ],
)
def test_what_was_thrown_is_told_with_its_stack_or_its_place(details: dict[str, Any], text: str) -> None:
    assert exception_text(details) == text


def words(*values: Any) -> list[dict[str, Any]]:
    return [{"type": "string" if isinstance(value, str) else "number", "value": value} for value in values]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (words("plain"), "plain"),
        (words("in %s at %d", "Page", 3, "more"), "in Page at 3 more"),
        (words("%cstyled", "color: red"), "styled"),
        (words("%s and %s", "one"), "one and %s"),
        (words(7, "%s"), "7 %s"),
        ([{"type": "object", "description": "Error: oh"}], "Error: oh"),
        ([], ""),
    ],
)
def test_console_errors_are_one_text_with_their_format_filled_in(arguments: list[dict[str, Any]], text: str) -> None:
    assert console_text(arguments) == text


def test_texts_are_kept_once_shortened_and_no_more_than_there_is_room_for() -> None:
    seen = Seen()
    for text in (" same ", "same", "", "x" * 5_000):
        seen.add(text)
    assert seen.errors == ["same", f"{'x' * (TEXT_CHARS - 1)}…"]
    for number in range(50):
        seen.add(f"error {number}", console=True)
    assert len(seen.console) == MAX_TEXTS


@pytest.mark.parametrize(
    ("said", "status"),
    [(200, 200), (404.0, 404), (0, None), (None, None), ("abc", None), ({"a": 1}, None), (10**400, None)],
)
def test_a_page_that_answers_for_the_browser_can_make_up_no_status(said: Any, status: int | None):
    assert as_status(said) == status


def test_texts_of_any_length_are_read_in_part_only():
    said = console_text([{"type": "string", "value": "%s" * 1_000_000}])
    assert len(said) <= READ_CHARS
