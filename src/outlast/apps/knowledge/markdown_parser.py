"""Parse Markdown: the sections below its headings, and the blocks of each. Pure.

A block is a paragraph, a list, a table or a piece of code.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Final, Literal

from outlast.base.records import dataclass

HEADING_CHARS: Final = 300
LINE_CHARS: Final = 2_000  # a longer line is text, whatever it looks like
FENCE: Final = re.compile(r"[ \t]*(?:>[ \t]*)*(`{3,}|~{3,})([^\n]*)\Z")
ITEM: Final = re.compile(r"[ \t]*(?:[-*+]|\d+[.)])[ \t]")
_RAW_CHARS: Final = 1_000  # of a heading with its markup

_ATX: Final = re.compile(r" {0,3}(#{1,6})(?=[ \t]|\Z)")
_SETEXT: Final = re.compile(r" {0,3}(=+|-{2,})[ \t]*\Z")
_PLAIN_LINE: Final = re.compile(r" {0,3}(?!\d{1,9}[.)][ \t])[^\s#>|*+\-<`~].*\S")
_FRONT_MATTER: Final = re.compile(r"\A---[ \t]*\n(.*?\n)(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_TITLE: Final = re.compile(r"^title:[ \t]*+(\S.*)$", re.MULTILINE)
_EXPLICIT_ID: Final = re.compile(r"\{#([\w:.-]++)[^{}]*+\}[ \t]*+\Z")
_ANCHOR: Final = re.compile(r"<a(\s[^<>]*+)>", re.IGNORECASE)
_ANCHOR_NAME: Final = re.compile(r"""(?:id|name)=["']?([\w:.-]+)""", re.IGNORECASE)
_TAG: Final = re.compile(r"</?[a-zA-Z][^<>]*+>")
_IMAGE: Final = re.compile(r"!\[([^\]]*)\]\([^)]*\)")
_LINK: Final = re.compile(r"\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])")
_MARKS: Final = re.compile(r"(\*\*|__|`)(.*?)\1")
_NOT_IN_SLUG: Final = re.compile(r"[^\w\- ]")
_INDENTED: Final = re.compile(r"(?: {4}|\t)")
_TABLE_RULE: Final = re.compile(r"[ \t]*+\|?+[ \t]*+:?-++:?+[ \t]*+(?:\|[ \t]*+:?-++:?+[ \t]*+)*+\|?+[ \t]*+\Z")
_COMMENT: Final = re.compile(r"[ \t]*<!--(?:.*?)-->[ \t]*\Z", re.DOTALL)

Kind = Literal["text", "code", "table"]


@dataclass(slots=True)
class Section:
    """The content below one heading: `path` is the chain of headings down to it."""

    path: tuple[str, ...]
    url: str
    lines: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Block:
    kind: Kind
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


def read_sections(text: str, url: str, title: str) -> Iterator[Section]:
    """The sections with text, in order. The first heading of a path is `title`, or that of the front matter, if the
    text has none of its own."""
    plain = text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    front = _FRONT_MATTER.match(plain)
    if front is not None:
        plain = plain[front.end() :]
        named = _TITLE.search(front[1])
        title = named[1].strip().strip("\"'") if named and not title else title
    stack: list[tuple[int, str]] = []
    seen: dict[str, int] = {}
    section = Section((title,) if title else (), url)
    for level, raw, body in _headed(plain.split("\n")):
        if level:
            if section.lines:
                yield section
            heading = plain_heading(raw)
            fragment = _fragment(raw, heading, seen)
            stack = [*((at, name) for at, name in stack if at < level), (level, heading)]
            names = [name for _, name in stack if name]
            own_title = any(at == 1 for at, _ in stack)
            path = names if own_title or not title else [title, *names]
            is_title = level == 1 and len(seen) == 1
            section = Section(tuple(path), url if is_title or not fragment else f"{url}#{fragment}")
        section.lines += body
    if section.lines:
        yield section


def read_blocks(lines: Sequence[str]) -> list[Block]:
    """The blocks in order, without the empty lines between them and without comments."""
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


def plain_heading(text: str) -> str:
    """A heading without its markup, on one line."""
    text = _EXPLICIT_ID.sub("", text[:_RAW_CHARS])
    text = _LINK.sub(r"\1", _IMAGE.sub(r"\1", text))
    text = _MARKS.sub(r"\2", _TAG.sub("", text))
    return " ".join(text.replace("\\", "").split())[:HEADING_CHARS]


def slug(heading: str) -> str:
    """The fragment of a heading, as GitHub makes it."""
    return _NOT_IN_SLUG.sub("", heading.lower()).replace(" ", "-")


def _fence_end(lines: Sequence[str], at: int) -> int:
    """The line after the code whose opening fence is at `at`; `at` itself if there is none. Unclosed code
    extends to the end."""
    opening = FENCE.match(lines[at])
    if opening is None or (opening[1][0] == "`" and "`" in opening[2]):
        return at
    for end in range(at + 1, len(lines)):
        closing = FENCE.match(lines[end])
        if (
            closing is not None
            and closing[1][0] == opening[1][0]
            and len(closing[1]) >= len(opening[1])
            and not closing[2].strip()
        ):
            return end + 1
    return len(lines)


def _headed(lines: Sequence[str]) -> Iterator[tuple[int, str, list[str]]]:
    """(level, heading as written, the lines below it); level 0 before the first heading."""
    level, heading, body = 0, "", list[str]()
    at = 0
    while at < len(lines):
        end = _opaque_end(lines, at)
        found = None if end > at else _heading_at(lines, at, body)
        if found is None:
            end = max(end, at + 1)
            body += lines[at:end]
            at = end
            continue
        yield level, heading, body
        level, heading, taken = found
        body = []
        at += taken
    yield level, heading, body


def _heading_at(lines: Sequence[str], at: int, before: Sequence[str]) -> tuple[int, str, int] | None:
    """(level, heading as written, number of its lines), if one begins here."""
    if len(lines[at]) > LINE_CHARS:
        return None
    atx = _ATX.match(lines[at])
    if atx is not None:
        return len(atx[1]), _without_closing(lines[at][atx.end() :].strip(" \t")), 1
    if at + 1 < len(lines) and _PLAIN_LINE.fullmatch(lines[at]) and (not before or not before[-1].strip()):
        under = _SETEXT.match(lines[at + 1])
        if under is not None and "|" not in lines[at]:
            return 1 if under[1][0] == "=" else 2, lines[at].strip(), 2
    return None


def _without_closing(heading: str) -> str:
    """A heading without trailing number signs."""
    text = heading.rstrip("#")
    return text.rstrip(" \t") if text != heading and text.endswith((" ", "\t")) else heading


def _opaque_end(lines: Sequence[str], at: int) -> int:
    """The end of a heading-free construct that begins here (fenced code, a comment). Else `at`."""
    end = _fence_end(lines, at)
    if end > at or not lines[at].lstrip().startswith("<!--"):
        return end
    return next((end + 1 for end in range(at, len(lines)) if "-->" in lines[end]), len(lines))


def _fragment(raw: str, heading: str, seen: dict[str, int]) -> str:
    stated = _stated_id(raw)
    name = stated or slug(heading)
    count = seen.get(name, 0)
    seen[name] = count + 1
    return f"{name}-{count}" if count and not stated else name


def _stated_id(raw: str) -> str:
    """The fragment that a heading states: `{#id}` behind it, or an anchor in it; empty if it states none."""
    stated = _EXPLICIT_ID.search(raw)
    if stated is not None:
        return stated[1]
    names = (_ANCHOR_NAME.search(anchor[1]) for anchor in _ANCHOR.finditer(raw))
    return next((name[1] for name in names if name is not None), "")


def _block_end(lines: Sequence[str], at: int) -> tuple[int, Kind]:
    end = _fence_end(lines, at)
    if end > at:
        return end, "code"
    end = at + 1
    if _INDENTED.match(lines[at]) and not ITEM.match(lines[at]):  # such code continues over empty lines
        while end < len(lines) and (not lines[end].strip() or _INDENTED.match(lines[end])):
            end += 1
        return end, "code"
    if "|" in lines[at] and at + 1 < len(lines) and "-" in lines[at + 1] and _TABLE_RULE.match(lines[at + 1]):
        end = at + 2
        while end < len(lines) and "|" in lines[end]:
            end += 1
        return end, "table"
    while end < len(lines) and lines[end].strip() and _fence_end(lines, end) == end:
        end += 1
    return end, "text"
