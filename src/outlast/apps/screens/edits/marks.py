"""Marks: the start of an element in a file, counted as in JavaScript compilers."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from outlast.apps.screens.edits.syntax import LINE_END, SOURCES
from outlast.base.errors import MalformedInput, PathRefused

MAX_MARK_CHARS: Final = 600
_MARK: Final = re.compile(r"(?P<path>.+):(?P<line>[1-9]\d{0,6}):(?P<column>\d{1,7})", re.DOTALL)
_OUTSIDE: Final = frozenset({"node_modules", ".next", ".vite", "dist", ".git"})


@dataclass(frozen=True, slots=True, order=True)
class Mark:
    """An element's first character: `line` from 1, `column` from 0 in UTF-16 units."""

    path: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}"


def parse_mark(text: str) -> Mark:
    """Raises `MalformedInput` for an invalid mark or one with more than `MAX_MARK_CHARS`, `PathRefused` for a file that
    is not the project's own."""
    found = _MARK.fullmatch(text) if len(text) <= MAX_MARK_CHARS else None
    if found is None:
        raise MalformedInput(
            "This is not a place in a source file.", hint="Write a place as path:line:column.", field="loc"
        )
    path = found["path"]
    parts = path.split("/")
    if path.startswith("/") or "\0" in path or "\\" in path or {"", ".", ".."} & set(parts):
        raise PathRefused(f"The path {path!r} is not relative to the project.", path=path)
    if not path.endswith(SOURCES) or _OUTSIDE & set(parts):
        raise PathRefused(
            f"{path!r} is not one of the project's own components.",
            hint=f"Only {' and '.join(SOURCES)} files of the project can be edited by hand.",
            path=path,
        )
    return Mark(path, int(found["line"]), int(found["column"]))


def byte_at(text: str, line_starts: Sequence[int], line: int, column: int) -> int | None:
    """The byte of `text` (as UTF-8) at which that line and column begin, or None if there is no such place."""
    if line > len(line_starts):
        return None
    start = line_starts[line - 1]
    units = LINE_END.split(text[start:], maxsplit=1)[0].encode("utf-16-le", "surrogatepass")
    if column * 2 > len(units):
        return None
    try:
        before = units[: column * 2].decode("utf-16-le")
    except UnicodeDecodeError:  # in the middle of a character
        return None
    return len(text[:start].encode()) + len(before.encode())


def place_at(source: bytes, byte: int) -> tuple[int, int]:
    """Line and column of the first byte of a character."""
    before = source[:byte].decode()
    ends = list(LINE_END.finditer(before))
    start = ends[-1].end() if ends else 0
    return len(ends) + 1, len(before[start:].encode("utf-16-le")) // 2
