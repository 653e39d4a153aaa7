"""The line that sums up a run."""

from __future__ import annotations

from typing import Any

import pytest

from outlast.kernel.library.summary_line import DONE_CHARS, first_sentence, quoted, summary_line


def text(*texts: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": one} for one in texts]


@pytest.mark.parametrize(
    ("parts", "found"),
    [
        ([], ""),
        (text("  \n"), ""),
        (text("Let me look.", "Two files. More follows."), "Two files."),
        (text("## Result\n\nIt works."), "Result"),
        (text("- **Done**: all"), "Done**: all"),
        ([{"type": "tool_call", "tool": "terminal"}], ""),
        (text("x" * 999), "x" * (DONE_CHARS - 1) + "…"),
    ],
)
def test_the_first_sentence_of_the_last_text_says_what_was_done(parts: list[dict[str, Any]], found: str) -> None:
    assert first_sentence(parts) == found


def test_a_line_names_request_and_result() -> None:
    assert summary_line("show\nissues", "listed 12") == '"show issues" → listed 12'
    assert summary_line("show issues", "") == '"show issues"'
    assert len(quoted("x" * 999)) == 242
