"""Markdown in and out."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from outlast.apps.documents.content.markdown_parse import Part, Piece, cut, one_line
from outlast.apps.documents.content.markdown_render import heading_line, join
from tests.markdown_texts import markdown_texts


def out(parts: list[Part]) -> str:
    return join([(part, part.pieces) for part in parts])


def solid(parts: list[Part]) -> list[Part]:
    """Without a first section that has nothing in it, which no document keeps."""
    return parts if parts[0].pieces else parts[1:]


@given(markdown_texts())
def test_a_text_that_was_written_out_is_read_as_the_same_sections_and_blocks(text: str):
    parts = cut(text)
    assert cut(out(parts)) == parts


@given(st.lists(markdown_texts(4), max_size=8), st.randoms(use_true_random=False))
def test_blocks_in_any_order_stay_the_same_blocks(texts: list[str], random):
    parts = [part for text in texts for part in solid(cut(text))]
    pieces = [piece for part in parts for piece in part.pieces]
    random.shuffle(pieces)
    headed = [Part(part.heading, part.level, ()) for part in parts if part.level]
    random.shuffle(headed)
    mixed = [Part("", 0, tuple(pieces[: len(pieces) // 2])), *headed]
    mixed[-1] = Part(mixed[-1].heading, mixed[-1].level, (*mixed[-1].pieces, *pieces[len(pieces) // 2 :]))
    assert cut(out(mixed)) == [_as_read(part, at) for at, part in enumerate(mixed)]


def _as_read(part: Part, at: int) -> Part:
    """Front matter that does not stand at the start is code."""
    return replace(
        part,
        pieces=tuple(
            Piece("code", join([(Part("x", 1, ()), [piece])]).split("\n\n", 1)[1].removesuffix("\n"))
            if piece.kind == "front_matter" and (at, place) != (0, 0)
            else piece
            for place, piece in enumerate(part.pieces)
        ),
    )


FRONT_LINES = st.text(
    alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\x00\r\n"), max_size=20
) | st.sampled_from(
    ["name: fastapi", "# no heading", "- item", "", "  - tag", "```", "[link]: /url", "| a |", "key: |"]
)


@given(
    st.lists(FRONT_LINES.filter(lambda line: line.rstrip(" \t") not in ("---", "...")), max_size=8),
    st.sampled_from(["---", "...", "--- ", "...\t"]),
    markdown_texts(),
)
def test_front_matter_comes_back_as_it_was_written(lines: list[str], end: str, text: str):
    assume(not lines or lines[0].strip(" \t"))
    front = "\n".join(["---", *lines, end])
    parts = cut(f"{front}\n\n{text}")
    assert parts[0].pieces[0] == Piece("front_matter", front)
    assert out(parts).startswith(f"{front}\n")
    assert cut(out(parts)) == parts


def test_a_file_with_front_matter_is_exported_byte_for_byte():
    text = "---\nname: fastapi\ndescription: >\n  Long,\n\n  with a gap\n---\n\n# Title\n\nText.\n"
    assert out(cut(text)) == text
    assert out(cut("---\n---\n\nText.\n")) == "---\n---\n\nText.\n"


@pytest.mark.parametrize("text", ["---\n\na: b\n\n---", "---\na: b", "----\na: b\n---", "x\n\n---\na: b\n---"])
def test_a_rule_is_no_front_matter(text: str):
    assert "front_matter" not in [piece.kind for part in cut(text) for piece in part.pieces]


def test_front_matter_that_stands_elsewhere_is_written_as_code():
    front = Piece("front_matter", "---\na: ```` b\n---")
    after_text = out([Part("", 0, (Piece("paragraph", "text"), front))])
    assert after_text == "text\n\n`````yaml\n---\na: ```` b\n---\n`````\n"
    assert out([Part("H", 1, (front,))]).startswith("# H\n\n`````yaml\n---")


@given(markdown_texts())
def test_each_block_alone_is_that_block(text: str):
    for part in cut(text):
        for piece in part.pieces:
            assert cut(piece.markdown) == [Part("", 0, (piece,))]


@given(
    st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=30),
    st.integers(1, 6),
)
def test_any_heading_comes_back(text: str, level: int):
    heading = one_line(text)
    assert cut(heading_line(heading, level)) == [Part("", 0, ()), Part(heading, level, ())]


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("a\n\nb", ["paragraph", "paragraph"]),
        ("```py\n# no heading\n\n\n```", ["code"]),
        ("~~~\n```\n~~~", ["code"]),
        ("    x\n\n    y", ["code"]),
        ("- a\n  - b\n\n    c\n- d", ["list"]),
        ("- a\n* b", ["list", "list"]),
        ("1. a\n1) b", ["list", "list"]),
        ("|a|b|\n|-|-|\n|c|d|", ["table"]),
        ("> # a\n> b\nlazy", ["quote"]),
        ("***", ["rule"]),
        ("<div>\n\ninside\n\n</div>", ["html", "paragraph", "html"]),
        ("<!-- a\n\nb -->", ["html"]),
        ("[a]: /x\n[b]: /y\ntext", ["paragraph", "paragraph"]),
    ],
)
def test_a_block_is_what_commonmark_calls_one(text: str, kinds: list[str]):
    (part,) = cut(text)
    assert [piece.kind for piece in part.pieces] == kinds


def test_the_lines_of_a_block_are_kept_as_they_were_written():
    text = "- a\n\n\n  b   \n-   c"
    assert cut(text)[0].pieces == (Piece("list", text),)


def test_a_setext_heading_is_written_with_marks():
    assert out(cut("Title\n=====\n\nand\nmore\n---")) == "# Title\n\n## and more\n"


def test_line_ends_of_every_system_are_read():
    assert cut("# A\r\n\r\ntext\rmore") == [Part("", 0, ()), Part("A", 1, (Piece("paragraph", "text\nmore"),))]


def test_what_is_never_closed_gets_an_end():
    assert cut("```py\nx = 1")[0].pieces == (Piece("code", "```py\nx = 1\n```"),)
    assert cut("<!-- open")[0].pieces == (Piece("html", "<!-- open\n-->"),)
    assert cut("<script>\nlet x")[0].pieces == (Piece("html", "<script>\nlet x\n</script>"),)


def test_two_lists_stay_two_by_an_empty_comment_between_them():
    text = out([Part("", 0, (Piece("list", "- a"), Piece("list", "- b"), Piece("code", "    c")))])
    assert text == "- a\n\n<!-- -->\n\n- b\n\n<!-- -->\n\n    c\n"
    assert [piece.markdown for piece in cut(text)[0].pieces] == ["- a", "- b", "    c"]
