"""Generated Markdown: every kind of block, also where CommonMark has its corners, and documents made of it."""

from __future__ import annotations

from hypothesis import strategies as st

LINES = st.sampled_from(
    [
        "",
        "",
        " ",
        "plain words",
        "zwei Wörter · 数 🙂",
        "  indented a little",
        "    indented code",
        "\tindented by a tab",
        "# Heading",
        "## Heading with `code`",
        "### closed ###",
        "# ends with #",
        "#",
        "####### seven",
        "#no heading",
        "setext",
        "===",
        "---",
        "- item",
        "- item two",
        "* other item",
        "  - nested item",
        "    continued",
        "1. one",
        "2. two",
        "1) other one",
        "- ```",
        "-",
        "> quote",
        "> # heading in a quote",
        "> ```",
        "lazy",
        "```",
        "```py",
        "~~~",
        "~~~~ sh",
        "  ```",
        "# not a heading, if in code",
        "| a | b |",
        "|---|---|",
        "| c | d |",
        "***",
        "* * *",
        "___",
        "<div>",
        "</div>",
        "<!-- comment",
        "-->",
        "<!-- -->",
        "<!-- whole -->",
        "<!-->",
        "<script>",
        "</script>",
        "<pre>",
        "</pre>",
        "<?php",
        "?>",
        "<!DOCTYPE html",
        "<![CDATA[",
        "]]>",
        "<b>inline</b> html",
        "[link]: https://example.org",
        "[link]: https://example.org 'title'",
        "[unfinished]:",
        "  [indented]: /url",
        "[link]",
        "![image](a.png)",
        "trailing spaces  ",
        "back\\",
        "\\# escaped",
        "&amp;",
        "\u00a0",
        "\u2028",
        "a\x0bb",
        "\x0c",
        "+ plus",
        "+",
        "10. ten",
        "0) zero",
    ]
)
ENDS = st.sampled_from(["\n", "\n", "\n", "\r\n", "\r", "\n\n"])


@st.composite
def markdown_texts(draw: st.DrawFn, most_lines: int = 12) -> str:
    """Lines that mean something to Markdown, in any order, or any text at all."""
    if draw(st.integers(0, 9)) == 0:
        return draw(st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=60))
    lines = draw(st.lists(st.tuples(LINES, ENDS), max_size=most_lines))
    return "".join(line + end for line, end in lines)
