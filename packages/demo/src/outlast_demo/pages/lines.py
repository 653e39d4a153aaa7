"""Lines of a page's agent, as parts of the demo model's turns."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import orjson

from outlast_demo.lines import Write

PIECE_CHARS: Final = 160  # of a line in one delta: an 8 kB page takes about a second
ROWS_A_LINE: Final = 4


def prose(text: str) -> Write:
    """One line for users, shown in the thread."""
    return Write(" ".join(text.split()) + "\n", 24)


def patches(found: Sequence[Mapping[str, Any]]) -> list[Write]:
    return [_line({"type": "patches", "patches": list(found)})] if found else []


def full(html: str, title: str) -> Write:
    return _line({"type": "full", "html": html, "title": title})


def stats(**figures: float | str) -> Write:
    return _line({"type": "stats", **figures})


def modules(found: Sequence[Mapping[str, Any]]) -> Write:
    return _line({"type": "code_modules", "modules": list(found)})


def summary(asked: str, done: str) -> Write:
    """The entry for this request in the page's history."""
    return _line({"type": "summary", "text": f"{asked} → {done}"})


def _line(value: Mapping[str, Any]) -> Write:
    return Write(orjson.dumps(value).decode() + "\n", PIECE_CHARS)
