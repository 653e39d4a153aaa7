"""The lines that a page's agent writes, as turns of the demo model."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import orjson

from outlast_demo.lines import Write

PIECE_CHARS: Final = 160  # of a line in one delta: a page of 8 kB is written in about a second
ROWS_A_LINE: Final = 4


def prose(text: str) -> Write:
    """Words for people: one line, shown in the thread."""
    return Write(" ".join(text.split()) + "\n", 24)


def patches(found: Sequence[Mapping[str, Any]]) -> list[Write]:
    return [_line({"type": "patches", "patches": list(found)})] if found else []


def full(html: str, title: str) -> Write:
    return _line({"type": "full", "html": html, "title": title})


def stats(**told: float | str) -> Write:
    return _line({"type": "stats", **told})


def modules(found: Sequence[Mapping[str, Any]]) -> Write:
    return _line({"type": "code_modules", "modules": list(found)})


def summary(asked: str, done: str) -> Write:
    """What is remembered of the request."""
    return _line({"type": "summary", "text": f"{asked} → {done}"})


def _line(value: Mapping[str, Any]) -> Write:
    return Write(orjson.dumps(value).decode() + "\n", PIECE_CHARS)
