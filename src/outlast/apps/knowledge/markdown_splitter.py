"""Markdown cut into passages: at its headings, then at the seams between its blocks. Pure.

Code is never cut, and the sentence that introduces it stays with it; a table that is cut repeats its header; a
paragraph is cut between sentences.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from outlast.apps.knowledge.markdown_parser import FENCE, ITEM, Block, read_blocks, read_sections
from outlast.apps.knowledge.passages import BETWEEN, Cut, page_of

RULES: Final = "2"  # raised when the same text would be cut differently
MAX_CODE_CHARS: Final = 32_000  # longer code is not an example; it is cut between lines
INTRODUCTION_CHARS: Final = 400
SMALL_CHARS: Final = 120
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+")


def cut_markdown(text: str, url: str, passage_chars: int, title: str = "") -> list[Cut]:
    """The passages of a Markdown text, in its order.

    Each is below one heading; its `heading` is the chain of headings above it, beginning with `title` if the text has
    none of its own. It is at most about `passage_chars` long, unless a block of code is longer. `url` gets the
    heading's fragment, as GitHub and most generators make them, or the one that `{#id}` states. Sections without text
    give none.
    """
    found: list[Cut] = []
    for section in read_sections(text, page_of(url), title):
        heading, pieces = BETWEEN.join(section.path), _join_pieces(read_blocks(section.lines), passage_chars)
        found += [Cut(heading, body, section.url) for body in pieces]
    return found


def _join_pieces(blocks: Sequence[Block], most: int) -> list[str]:
    """Texts of at most about `most` characters with the blocks, each once and in order; longer only for
    code."""
    pieces: list[str] = []
    for unit in (part for group in _units(blocks) for part in _parts(group, most)):
        together = pieces and len(pieces[-1]) + 2 + len(unit) <= most
        small = pieces and len(unit) <= SMALL_CHARS and len(pieces[-1]) + len(unit) <= most + SMALL_CHARS
        if together or small:
            pieces[-1] += f"\n\n{unit}"
        else:
            pieces.append(unit)
    return pieces


def _units(blocks: Sequence[Block]) -> Iterator[tuple[Block, ...]]:
    """Units that stay together: a block, or code with the short text that introduces it."""
    at = 0
    while at < len(blocks):
        first, then = blocks[at], blocks[at + 1 : at + 2]
        introduces = first.kind == "text" and len(first.text) <= INTRODUCTION_CHARS
        unit = (first, *then) if introduces and then and then[0].kind == "code" else (first,)
        yield unit
        at += len(unit)


def _parts(unit: tuple[Block, ...], most: int) -> Iterator[str]:
    text = "\n\n".join(block.text for block in unit)
    last = unit[-1]
    if len(text) <= (MAX_CODE_CHARS if last.kind == "code" else most):
        yield text
    elif last.kind == "code":
        yield from (block.text for block in unit[:-1])
        yield from _cut_code(last)
    elif last.kind == "table":
        yield from _cut_table(last, most)
    else:
        yield from _cut_text(last, most)


def _cut_code(block: Block) -> Iterator[str]:
    fenced = FENCE.match(block.lines[0]) is not None
    head, foot = (block.lines[0], block.lines[-1]) if fenced else ("", "")
    inner = block.lines[1:-1] if fenced else block.lines
    for lines in _packed(inner, MAX_CODE_CHARS):
        yield "\n".join((head, *lines, foot)) if fenced else "\n".join(lines)


def _cut_table(block: Block, most: int) -> Iterator[str]:
    head, rows = block.lines[:2], block.lines[2:]
    room = max(most - sum(len(line) + 1 for line in head), most // 2)
    for lines in _packed(rows, room):
        yield "\n".join((*head, *lines))


def _cut_text(block: Block, most: int) -> Iterator[str]:
    is_list = any(ITEM.match(line) for line in block.lines)
    pieces, between = (block.lines, "\n") if is_list else (_SENTENCE.split(block.text), " ")
    short = [part for piece in pieces for part in _hard_cut(piece, most)]
    for some in _packed(short, most):
        yield between.join(some).rstrip()


def _hard_cut(text: str, most: int) -> Iterator[str]:
    """Cut at spaces if there are any."""
    start = 0
    while len(text) - start > most:
        at = text.rfind(" ", start + most // 2, start + most)
        at = at if at > start else start + most
        yield text[start:at]
        start = at
        while start < len(text) and text[start].isspace():
            start += 1
    yield text[start:]


def _packed(lines: Sequence[str], most: int) -> Iterator[list[str]]:
    some: list[str] = []
    size = 0
    for line in lines:
        if some and size + len(line) + 1 > most:
            yield some
            some, size = [], 0
        some.append(line)
        size += len(line) + 1
    if some:
        yield some
