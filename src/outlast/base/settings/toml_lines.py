"""The line each key of a TOML text stands on. `tomllib` gives values without places; error messages need both."""

import re
from typing import Final

Path = tuple[str | int, ...]

_KEY: Final = re.compile(r"""\s*("(?:[^"\\]|\\.)*"|'[^']*'|[A-Za-z0-9_-]+)\s*(\.?)""")
_STRINGS: Final = re.compile(r'"""|\'\'\'|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|#.*|[\[\]{}]')


def key_lines(text: str) -> dict[Path, int]:
    """Line numbers (from 1) by key path; an entry of `[[name]]` carries its index: `("models", 0, "id")`.

    `text` is valid TOML. Keys inside an inline table or an array have no line of their own: ask for their parent.
    """
    lines: dict[Path, int] = {}
    counts: dict[Path, int] = {}
    table: Path = ()
    waiting = _Open()
    for number, line in enumerate(text.splitlines(), start=1):
        if waiting.inside:
            waiting.feed(line)
            continue
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        if stripped.startswith("["):
            table = _header(stripped, counts)
            lines.setdefault(table, number)
            continue
        keys, rest = _keys(line)
        lines.setdefault((*table, *keys), number)
        waiting.feed(rest.split("=", 1)[1])
    return lines


def line_of(lines: dict[Path, int], path: Path) -> int | None:
    """The line of `path`, or of the nearest key above it that has one."""
    return next((lines[path[:end]] for end in range(len(path), 0, -1) if path[:end] in lines), None)


class _Open:
    """Whether a value goes on in the next line: an open bracket or a multi-line string."""

    def __init__(self) -> None:
        self._depth = 0
        self._quote = ""

    @property
    def inside(self) -> bool:
        return bool(self._depth or self._quote)

    def feed(self, text: str) -> None:
        position = 0
        while position < len(text):
            if self._quote:
                end = text.find(self._quote, position)
                if end < 0:
                    return
                position, self._quote = end + 3, ""
                continue
            match = _STRINGS.search(text, position)
            if match is None:
                return
            position = match.end()
            self._take(match.group())

    def _take(self, token: str) -> None:
        if token in ('"""', "'''"):
            self._quote = token
        elif token in "[{":
            self._depth += 1
        elif token in "]}":
            self._depth -= 1


def _header(line: str, counts: dict[Path, int]) -> Path:
    many = line.startswith("[[")
    keys, _ = _keys(line.lstrip("["))
    path: Path = ()
    for key in keys[:-1] if many else keys:
        path = (*path, key)
        if path in counts:
            path = (*path, counts[path] - 1)
    if not many:
        return path
    path = (*path, keys[-1])
    counts[path] = counts.get(path, 0) + 1
    return (*path, counts[path] - 1)


def _keys(text: str) -> tuple[tuple[str, ...], str]:
    """The dotted key at the start of `text`, and what follows it."""
    keys: list[str] = []
    position = 0
    while match := _KEY.match(text, position):
        word = match.group(1)
        keys.append(word[1:-1] if word[0] in "\"'" else word)
        position = match.end()
        if not match.group(2):
            break
    return tuple(keys), text[position:]
