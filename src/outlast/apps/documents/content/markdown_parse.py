"""Markdown into sections and blocks. Pure.

The cuts are where CommonMark (with GFM's tables) sees top-level blocks; the lines between them are kept as written. An
unclosed fence or comment is closed, or it would swallow the text inserted behind it. `<!-- -->` alone is no block:
`markdown_render.py` writes it where two blocks would merge otherwise. Front matter, which CommonMark does not know, is
a block of its own at the start of a text.

Bounds: the caller's (`documents.text_chars` of a document); time grows with the length, 100 KB take 40 ms: cut in a
thread, before the transaction.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Final, Literal

from outlast.base.records import dataclass

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

BlockKind = Literal["paragraph", "list", "code", "table", "quote", "rule", "html", "front_matter"]
APART: Final = "<!-- -->"
_BLANK: Final = " \t"  # an empty line in CommonMark has nothing else
_KINDS: Final[dict[str, BlockKind]] = {
    "bullet_list_open": "list",
    "ordered_list_open": "list",
    "fence": "code",
    "code_block": "code",
    "table_open": "table",
    "blockquote_open": "quote",
    "hr": "rule",
    "html_block": "html",
}
_HTML_ENDS: Final = (
    (re.compile(r"<(script|pre|style|textarea)(?=[\s>]|$)", re.IGNORECASE), None),
    (re.compile(r"<!--"), "-->"),
    (re.compile(r"<\?"), "?>"),
    (re.compile(r"<!\[CDATA\["), "]]>"),
    (re.compile(r"<![A-Za-z]"), ">"),
)
_LAST_TAG: Final = re.compile(r"</(script|pre|style|textarea)>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Piece:
    """One block of a text."""

    kind: BlockKind
    markdown: str


@dataclass(frozen=True, slots=True)
class Part:
    """A heading and the blocks below it. Level 0 (only the first part): the blocks before the first heading."""

    heading: str
    level: int
    pieces: tuple[Piece, ...]


def cut(markdown: str) -> list[Part]:
    """A text as sections. The first is of level 0, and may be empty (no blocks); all others begin with a heading."""
    text = tidy(markdown)
    lines = text.split("\n")
    end = _end_of_front_matter(lines)
    heading, level, pieces = "", 0, list[Piece]()
    if end:
        pieces.append(Piece("front_matter", "\n".join(lines[:end])))
    parts: list[Part] = []
    for found in _top("\n".join(lines[end:]), lines[end:]):
        if isinstance(found, Piece):
            pieces.append(found)
        else:
            parts.append(Part(heading, level, tuple(pieces)))
            (heading, level), pieces = found, []
    return [*parts, Part(heading, level, tuple(pieces))]


class Cuts:
    """A cache of parsed texts, so that a transaction finds them ready: parsing a long text takes a while, and other
    writers would wait for it. It grows with each text parsed through it; use one per request."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Part, ...]] = {}

    def cut(self, markdown: str) -> tuple[Part, ...]:
        """As `cut`."""
        text = tidy(markdown)
        known = self._known.get(text)
        if known is None:
            known = self._known[text] = tuple(cut(text))
        return known


def tidy(markdown: str) -> str:
    """Line ends as LF, no empty lines at start and end."""
    lines = markdown.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    first, last = 0, len(lines)
    while last > first and not lines[last - 1].strip(_BLANK):
        last -= 1
    while first < last and not lines[first].strip(_BLANK):
        first += 1
    return "\n".join(lines[first:last])


def one_line(heading: str) -> str:
    """A heading's text, on one line."""
    return " ".join(line.strip() for line in re.split(r"[\r\n]+", heading)).strip()


def _end_of_front_matter(lines: Sequence[str]) -> int:
    """The number of lines of the front matter: `---`, lines of which the first is not empty, `---` or `...`; 0 if there
    is none. An empty line behind `---` makes it a thematic break."""
    if len(lines) < 2 or lines[0].rstrip(_BLANK) != "---" or not lines[1].strip(_BLANK):
        return 0
    ends = (at for at, line in enumerate(lines[1:], start=2) if line.rstrip(_BLANK) in ("---", "..."))
    return next(ends, 0)


def _top(text: str, lines: list[str]) -> Iterator[Piece | tuple[str, int]]:
    """The top-level blocks in order; headings as (text, level)."""
    reached, tokens = 0, list["Token"]()
    _parser().block.parse(text, _parser(), {}, tokens)
    for place, token in enumerate(tokens):
        if token.level or token.map is None or token.nesting < 0:
            continue
        start, end = token.map
        yield from _definitions(lines[reached:start])
        reached = max(reached, end)
        if token.type == "heading_open":
            yield one_line(tokens[place + 1].content), int(token.tag[1])
        else:
            yield from _piece(token, lines[start:end])
    yield from _definitions(lines[reached:])


def _piece(token: "Token", lines: list[str]) -> Iterator[Piece]:
    while lines and not lines[-1].strip(_BLANK):
        lines.pop()
    source = "\n".join(lines)
    if not source.strip() or source.strip() == APART:
        return
    kind = _KINDS.get(token.type, "paragraph")
    if token.type == "fence":
        source = _closed_fence(source, token.markup)
    elif kind == "html":
        source = _closed_html(source)
    yield Piece(kind, source)


def _definitions(lines: list[str]) -> Iterator[Piece]:
    """Link definitions, which the parser removes. They are blocks like others, in their place."""
    for group in re.split(r"\n(?:[ \t]*\n)+", "\n".join(lines)):
        source = tidy(group)
        if source.strip():
            yield Piece("paragraph", source)


def _closed_fence(source: str, markup: str) -> str:
    first, *inner = source.split("\n")
    if inner:
        last = inner[-1]
        mark = last.strip()
        if len(last) - len(last.lstrip(" ")) < 4 and mark.strip(markup[0]) == "" and len(mark) >= len(markup):
            return source
    return f"{source}\n{' ' * (len(first) - len(first.lstrip(' ')))}{markup}"


def _closed_html(source: str) -> str:
    begun = source.lstrip()
    for opening, end in _HTML_ENDS:
        opened = opening.match(begun)
        if opened is None:
            continue
        if end is None:
            return source if _LAST_TAG.search(source) else f"{source}\n</{opened[1].lower()}>"
        return source if end in begun[opened.end() :] or end in begun else f"{source}\n{end}"
    return source


@cache
def _parser() -> "MarkdownIt":
    """A parser that finds blocks and does not parse inside them. It keeps no state between texts."""
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").enable("table")
