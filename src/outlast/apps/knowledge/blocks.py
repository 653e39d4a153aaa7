"""The blocks of a piece of Markdown, and how they are packed into pieces of a length. Pure.

A block is a paragraph, a list, a table or a piece of code. Code is never cut, and the sentence that introduces it stays
with it; a table that is cut repeats its head; a paragraph is cut between sentences.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

MAX_CODE_CHARS: Final = 32_000  # longer code is no example any more; it is cut between lines
INTRODUCTION_CHARS: Final = 400
SMALL_CHARS: Final = 120

_FENCE: Final = re.compile(r"[ \t]*(?:>[ \t]*)*(`{3,}|~{3,})([^\n]*)\Z")
_INDENTED: Final = re.compile(r"(?: {4}|\t)")
_ITEM: Final = re.compile(r"[ \t]*(?:[-*+]|\d+[.)])[ \t]")
_TABLE_RULE: Final = re.compile(r"[ \t]*+\|?+[ \t]*+:?-++:?+[ \t]*+(?:\|[ \t]*+:?-++:?+[ \t]*+)*+\|?+[ \t]*+\Z")
_COMMENT: Final = re.compile(r"[ \t]*<!--(?:.*?)-->[ \t]*\Z", re.DOTALL)
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+")

Kind = Literal["text", "code", "table"]


@dataclass(frozen=True, slots=True)
class Block:
    kind: Kind
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


def fence_end(lines: Sequence[str], at: int) -> int:
    """The line after the code whose opening fence is at `at`; `at` itself if there is none. Code that is not closed
    extends to the end."""
    opening = _FENCE.match(lines[at])
    if opening is None or (opening[1][0] == "`" and "`" in opening[2]):
        return at
    for end in range(at + 1, len(lines)):
        closing = _FENCE.match(lines[end])
        if (
            closing is not None
            and closing[1][0] == opening[1][0]
            and len(closing[1]) >= len(opening[1])
            and not closing[2].strip()
        ):
            return end + 1
    return len(lines)


def read_blocks(lines: Sequence[str]) -> list[Block]:
    """The blocks in their order, without the empty lines between them and without comments."""
    blocks: list[Block] = []
    at = 0
    while at < len(lines):
        if not lines[at].strip():
            at += 1
            continue
        end, kind = _block_end(lines, at)
        last = end
        while not lines[last - 1].strip():
            last -= 1
        block = Block(kind, tuple(lines[at:last]))
        if not _COMMENT.match(block.text):
            blocks.append(block)
        at = end
    return blocks


def join_pieces(blocks: Sequence[Block], most: int) -> list[str]:
    """Texts of at most about `most` characters that hold the blocks, each once and in order; longer only where code
    is."""
    pieces: list[str] = []
    for unit in (part for group in _units(blocks) for part in _parts(group, most)):
        together = pieces and len(pieces[-1]) + 2 + len(unit) <= most
        small = pieces and len(unit) <= SMALL_CHARS and len(pieces[-1]) + len(unit) <= most + SMALL_CHARS
        if together or small:
            pieces[-1] += f"\n\n{unit}"
        else:
            pieces.append(unit)
    return pieces


def _block_end(lines: Sequence[str], at: int) -> tuple[int, Kind]:
    end = fence_end(lines, at)
    if end > at:
        return end, "code"
    if _INDENTED.match(lines[at]) and not _ITEM.match(lines[at]):
        return _indented_end(lines, at), "code"
    if "|" in lines[at] and at + 1 < len(lines) and "-" in lines[at + 1] and _TABLE_RULE.match(lines[at + 1]):
        end = at + 2
        while end < len(lines) and "|" in lines[end]:
            end += 1
        return end, "table"
    end = at + 1
    while end < len(lines) and lines[end].strip() and fence_end(lines, end) == end:
        end += 1
    return end, "text"


def _indented_end(lines: Sequence[str], at: int) -> int:
    """Code by indentation continues over empty lines."""
    end = at + 1
    while end < len(lines) and (not lines[end].strip() or _INDENTED.match(lines[end])):
        end += 1
    while not lines[end - 1].strip():
        end -= 1
    return end


def _units(blocks: Sequence[Block]) -> Iterator[tuple[Block, ...]]:
    """What stays together: a block, or code with the short text that introduces it."""
    waiting: Block | None = None
    for block in blocks:
        if waiting is not None:
            if block.kind == "code":
                yield waiting, block
                waiting = None
                continue
            yield (waiting,)
            waiting = None
        if block.kind == "text" and len(block.text) <= INTRODUCTION_CHARS:
            waiting = block
        else:
            yield (block,)
    if waiting is not None:
        yield (waiting,)


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
    fenced = _FENCE.match(block.lines[0]) is not None
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
    if any(_ITEM.match(line) for line in block.lines):
        pieces: Sequence[str] = block.lines
        between = "\n"
    else:
        pieces, between = _SENTENCE.split(block.text), " "
    short = [part for piece in pieces for part in _hard_cut(piece, most)]
    for some in _packed(short, most):
        yield between.join(some).rstrip()


def _hard_cut(text: str, most: int) -> Iterator[str]:
    """At spaces where there are any."""
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
