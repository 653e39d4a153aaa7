"""The demo model's summary of a conversation: sentences of its real messages, picked by simple rules."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import unescape
from typing import Final

from outlast.kernel.models.protocol import ModelRequest, TextPiece
from outlast_demo.lines import Line, Say

_CONVERSATION: Final = re.compile(r'<document(-\d+)? kind="conversation" title="([^"]*)"')
_DECIDED: Final = re.compile(
    r"\b(?:decid\w*|agreed?|let's|we will|we'll|go with|settled|accepted|approved?|yes|chosen?|use)\b", re.IGNORECASE
)
MAX_LINES: Final = 6
CHARS: Final = 200
DEMO: Final = "*I am the demo model. These are sentences from the conversation, picked by simple rules.*"


@dataclass(frozen=True, slots=True)
class Said:
    by: str
    role: str
    text: str


def is_summary(request: ModelRequest) -> bool:
    """True if the request asks for the summary of a conversation."""
    return _CONVERSATION.search(_asked(request)) is not None


def summary_lines(request: ModelRequest) -> Sequence[Line]:
    """The summary. Deterministic; never raises."""
    asked = _asked(request)
    found = _CONVERSATION.search(asked)
    assert found is not None
    mark, title = found[1] or "", unescape(found[2])
    said = [
        Said(unescape(one[2]), one[1], one[3])
        for one in re.finditer(
            rf'<quote{mark} number="\d+" role="(\w+)" by="([^"]*)">\n(.*?)\n</quote{mark}>', asked, re.DOTALL
        )
    ]
    proposed = re.search(
        rf"^\[PROPOSED EDITS\]\n<proposals{mark}>\n(.*?)\n</proposals{mark}>\n\n\[REQUEST\]",
        asked,
        re.DOTALL | re.MULTILINE,
    )
    people = [one for one in said if one.role == "user"]
    sections = [
        ("What it is about", _about(title, said)),
        ("Decided", [f"- {one.by}: {_short(line)}" for one in people for line in _sentences(one) if _decides(line)]),
        ("Done", _done(said, proposed[1] if proposed else "")),
        ("Open", _open(said, proposed[1] if proposed else "")),
    ]
    text = "\n\n".join(f"## {heading}\n" + "\n".join(lines[:MAX_LINES]) for heading, lines in sections if lines)
    return [Say(f"{text}\n\n{DEMO}\n")]


def _about(title: str, said: Sequence[Said]) -> list[str]:
    people = sorted({one.by for one in said if one.role == "user"})
    first = next((_short(one.text) for one in said if one.role == "user"), "")
    count = f"{len(said)} message{'' if len(said) == 1 else 's'}"
    lines = [f"“{title}”: {count}" + (f", with {', '.join(people)}." if people else ".")]
    return [*lines, f"It began with: “{first}”"] if first else lines


def _done(said: Sequence[Said], proposed: str) -> list[str]:
    lines = [line for line in proposed.splitlines() if "accepted" in line or "rejected" in line]
    calls = [call for one in said for call in re.findall(r"^\[(\w+): done\]$", one.text, re.MULTILINE)]
    called = [f"- `{name}` was called {_times(calls.count(name))}" for name in dict.fromkeys(calls)]
    answers = [one for one in said if one.role == "assistant" and _sentences(one)]
    return [*lines, *called, *([f"- Last answer: {_short(_sentences(answers[-1])[0])}"] if answers else [])]


def _open(said: Sequence[Said], proposed: str) -> list[str]:
    waiting = [line for line in proposed.splitlines() if "waiting" in line]
    last_answer = max((at for at, one in enumerate(said) if one.role == "assistant"), default=-1)
    questions = [
        f"- {'The agent' if one.role == 'assistant' else one.by}: {_short(line)}"
        for at, one in enumerate(said)
        for line in _sentences(one)
        if line.endswith("?") and (one.role == "assistant" or at > last_answer)
    ]
    return [*waiting, *questions[-MAX_LINES:]]


def _decides(line: str) -> bool:
    return not line.endswith("?") and _DECIDED.search(line) is not None


def _sentences(one: Said) -> list[str]:
    """The sentences of a message, without list markers, calls, and lines that end with a colon."""
    lines = [re.sub(r"^\s*(?:[-*+>]|\d+[.)]|#+)\s+", "", line) for line in one.text.splitlines()]
    plain = [" ".join(line.replace("*", "").split()) for line in lines if not line.startswith("[")]
    found = [sentence.strip() for line in plain for sentence in re.split(r"(?<=[.!?])\s+", line)]
    return [sentence for sentence in found if sentence and not sentence.endswith(":")]


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= CHARS else f"{line[: CHARS - 1]}…"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _asked(request: ModelRequest) -> str:
    last = next((one for one in reversed(request.messages) if one.role == "user"), None)
    return "\n".join(piece.text for piece in last.pieces if isinstance(piece, TextPiece)) if last is not None else ""
