"""The line that sums up a run: request → result. Pure."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from outlast.kernel.mentions.rules import one_line

ARROW: Final = "→"
ASKED_CHARS: Final = 240
DONE_CHARS: Final = 240
_READ_CHARS: Final = 4_000  # of an answer
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s")
_MARKS: Final = "#>*-_ \t"  # of Markdown, before a line's text


def asked_text(parts: Sequence[Mapping[str, Any]]) -> str:
    """The text of a person's message."""
    return "\n\n".join(part["text"] for part in parts if part["type"] == "text" and part["text"].strip())


def summary_line(asked: str, done: str) -> str:
    """Request → result; only the request if there is no result."""
    return f"{quoted(asked)} {ARROW} {done}" if done else quoted(asked)


def quoted(text: str, most: int = ASKED_CHARS) -> str:
    line = " ".join(text.split())
    return f'"{line}"' if len(line) <= most else f'"{line[: most - 1]}…"'


def first_sentence(parts: Sequence[Mapping[str, Any]]) -> str:
    """The first sentence of an answer's last text, on one line; empty for an answer without text."""
    texts = [part["text"] for part in parts if part["type"] == "text" and part["text"].strip()]
    lines = texts[-1][:_READ_CHARS].splitlines() if texts else []
    line = next((text for line in lines if (text := line.strip(_MARKS))), "")
    return one_line(_SENTENCE.split(line, maxsplit=1)[0], DONE_CHARS)
