"""Sections and blocks into Markdown: blank lines between them, `#` before headings. Pure.

`markdown_parse.cut` of the output gives the same headings and blocks again. Two neighbours that would merge
(a list behind a list, indented code behind a list) are separated by an empty comment, as CommonMark recommends.
Front matter counts only at the very start; elsewhere it is written as code.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from outlast.apps.documents.content.markdown_parse import APART, Part, Piece
from outlast.apps.documents.content.tree import Block, Section

_MARKER: Final = re.compile(r" {0,3}(?:([-+*])|\d{1,9}([.)]))(?=[ \t\n]|$)")
_TICKS: Final = re.compile("`+")
_LOOKS_CLOSED: Final = re.compile(r"(?:^|[ \t])#+[ \t]*$")

Text = Block | Piece  # a block, or text that will become one
Headed = Section | Part


def join(sections: Iterable[tuple[Headed, Sequence[Text]]]) -> str:
    """The whole text, ending with a line end; empty if there are no sections."""
    texts: list[str] = []
    for section, blocks in sections:
        if section.level:
            texts.append(heading_line(section.heading, section.level))
        if blocks:
            texts.append(_join_blocks(blocks, at_start=not texts))
    return "\n\n".join(texts) + "\n" if texts else ""


def _join_blocks(blocks: Sequence[Text], *, at_start: bool) -> str:
    """Blocks as one text, without a final line end."""
    texts: list[str] = []
    before: Text | None = None
    for block in blocks:
        if before is not None and _would_merge(before, block):
            texts.append(APART)
        is_first = at_start and before is None
        texts.append(_as_code(block.markdown) if block.kind == "front_matter" and not is_first else block.markdown)
        before = block
    return "\n\n".join(texts)


def _as_code(front_matter: str) -> str:
    longest = max(map(len, _TICKS.findall(front_matter)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}yaml\n{front_matter}\n{fence}"


def heading_line(heading: str, level: int) -> str:
    """A heading as Markdown. One that ends with `#` gets closing marks too, or it would lose its own."""
    marks = "#" * level
    if _LOOKS_CLOSED.search(heading):
        return f"{marks} {heading} {marks}"
    return f"{marks} {heading}".rstrip()


def _would_merge(before: Text, block: Text) -> bool:
    indented = block.markdown[:1] in (" ", "\t")
    if before.kind == "list":
        return indented or (block.kind == "list" and _marker(before) == _marker(block))
    return indented and _is_indented_code(before) and _is_indented_code(block)


def _is_indented_code(block: Text) -> bool:
    return block.kind == "code" and not block.markdown.lstrip(" ").startswith(("```", "~~~"))


def _marker(block: Text) -> str:
    found = _MARKER.match(block.markdown)
    return "" if found is None else (found[1] or found[2])
