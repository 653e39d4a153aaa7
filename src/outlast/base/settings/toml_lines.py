"""The line number of each key of a TOML text. `tomllib` gives values without positions; error messages need both."""

import re
import tomllib
from typing import Final

Path = tuple[str | int, ...]

_KEY: Final = re.compile(r"""\s*("(?:[^"\\]|\\.)*"|'[^']*'|[A-Za-z0-9_-]+)\s*(\.?)""")


def key_lines(text: str) -> dict[Path, int]:
    """Line numbers (from 1) by key path; an entry of `[[name]]` carries its index: `("models", 0, "id")`.

    `text` is valid TOML. Keys inside an inline table or an array have no line of their own: ask for their parent.
    """
    lines: dict[Path, int] = {}
    counts: dict[Path, int] = {}
    table: Path = ()
    value: list[str] = []  # the lines so far of a value that continues on the next line
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), start=1):
        stripped = line.strip()
        if value:
            pass
        elif not stripped or stripped.startswith("#"):
            continue
        elif stripped.startswith("["):
            table = _header(stripped, counts)
            lines.setdefault(table, number)
            continue
        else:
            lines.setdefault((*table, *_keys(line)), number)
        value = [] if _is_whole([*value, line]) else [*value, line]
    return lines


def line_of(lines: dict[Path, int], path: Path) -> int | None:
    """The line of `path`, or of the nearest key above it that has one."""
    return next((lines[path[:end]] for end in range(len(path), 0, -1) if path[:end] in lines), None)


def _is_whole(lines: list[str]) -> bool:
    try:
        tomllib.loads("\n".join(lines))
    except tomllib.TOMLDecodeError:
        return False
    return True


def _header(line: str, counts: dict[Path, int]) -> Path:
    many = line.startswith("[[")
    keys = _keys(line.lstrip("["))
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


def _keys(text: str) -> tuple[str, ...]:
    """The dotted key at the start of `text`."""
    keys: list[str] = []
    position = 0
    while match := _KEY.match(text, position):
        word = match.group(1)
        keys.append(word[1:-1] if word[0] in "\"'" else word)
        position = match.end()
        if not match.group(2):
            break
    return tuple(keys)
