"""Texts written to keep the server busy: each is read in time that grows with its length alone."""

from __future__ import annotations

import pytest

from outlast.apps.knowledge.markdown_parser import LINE_CHARS, plain_heading, read_blocks
from outlast.apps.knowledge.markdown_splitter import cut_markdown

URL = "https://docs.example/page"
MANY = 200_000


@pytest.mark.parametrize(
    "line",
    [
        "# " + "<a id=" * MANY,
        "# " + "{#a" * MANY,
        "# " + "![" * MANY,
        "# a" + " #" * MANY + "b",
        "# a" + " " * MANY + "b",
        "| a |\n" + " " * MANY + "x-",
        "---\ntitle: a" + " " * MANY + "b\n---\ntext",
        "word" * MANY,
    ],
    ids=["anchors", "ids", "images", "signs", "spaces", "table", "front matter", "one word"],
)
def test_a_line_without_end_is_cut_at_once(line: str) -> None:
    assert cut_markdown(line + "\n\ntext", URL, 1600)


@pytest.mark.parametrize("piece", ["<a id=x", "{#a", "![", "[a](", "`", " #", "<b"])
def test_many_headings_full_of_broken_marks_are_read(piece: str) -> None:
    heading = "# a" + piece * ((LINE_CHARS - 10) // len(piece)) + "\n\ntext\n\n"
    assert len(cut_markdown(heading * 50, URL, 1600)) == 50


def test_a_line_that_is_too_long_for_a_heading_is_text() -> None:
    assert next(one.heading for one in cut_markdown("# " + "a " * LINE_CHARS, URL, 1600, "T")) == "T"


def test_code_that_is_never_closed_may_end_in_empty_lines() -> None:
    blocks = read_blocks(["```", "code", *[""] * MANY])
    assert [one.lines for one in blocks] == [("```", "code")]


@pytest.mark.parametrize(
    ("written", "read"),
    [("# A #", "A"), ("# A ##  ", "A"), ("# A#", "A#"), ("#  A  # B", "A # B"), ("# C# #", "C#"), ("#", "")],
)
def test_number_signs_behind_a_heading_are_no_part_of_it(written: str, read: str) -> None:
    assert [one.heading for one in cut_markdown(f"{written}\n\ntext", URL, 1600)] == [read]


def test_an_anchor_in_a_heading_names_its_fragment() -> None:
    text = '# T\n\n## <a class="x" name="there"></a>Here\n\ntext'
    assert [one.url for one in cut_markdown(text, URL, 1600)] == [f"{URL}#there"]
    assert plain_heading('<a id="b"></a>Here {#here}') == "Here"
