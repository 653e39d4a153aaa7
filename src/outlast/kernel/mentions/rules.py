"""Finds the users named in a text. Pure."""

import re
import unicodedata
from collections.abc import Collection, Sequence
from typing import Final

from outlast.base.records import dataclass

AGENT: Final = "agent"
"""The agent's id in place of a user's id, and its name in texts."""
LINE_CHARS: Final = 200

_FENCE: Final = re.compile(r" ?(`{3,}|~{3,})")
_TICKS: Final = re.compile(r"`+")
_AT: Final = re.compile(r"(?<![\w@/.])@")
_IN_WORD: Final = re.compile(r"\w")
_BLANKS: Final = re.compile(r"[^\S\n ][^\S\n]*| [^\S\n]+")  # all but a single space, which replaces them


@dataclass(frozen=True, slots=True)
class Named:
    """The names in a text: users (each once, in the order of the text), and whether it names the agent."""

    users: tuple[str, ...] = ()
    agent: bool = False


def find_names(text: str, members: Sequence[tuple[str, str]], chosen: Sequence[str] = ()) -> Named:
    """The users that a text names among `members` (user id, name): `@Name`, the longest name that fits, in any case,
    not inside a word or in code. `@agent` is the agent. `chosen` are ids that the writer picked: of several members
    with one name only those count, and they are named even if the text does not show it. Bounds: the text is a message
    or comment (`limits.message_bytes` at most); steps grow with its length, 100 KB take 25 ms."""
    picked = {user_id for user_id, _ in members} & set(chosen)
    by_name: dict[str, list[str]] = {}
    for user_id, name in members:
        by_name.setdefault(_folded(name), []).append(user_id)
    by_name.pop("", None)
    by_name[AGENT] = []  # no member, whatever their name
    named = _after_ats(text, by_name) if "@" in text else []
    found: list[str] = []
    for name in named:
        found += [user_id for user_id in by_name[name] if user_id in picked] or by_name[name]
    found += [user_id for user_id in chosen if user_id in picked]
    return Named(tuple(dict.fromkeys(found)), AGENT in named)


def still_chosen(named: Sequence[str], old: Sequence[str], new: Sequence[str]) -> list[str]:
    """The users to pick when a text that `named` them is rewritten: users named without being in the old text (`old`
    are those in it, by name alone), and users who are in the `new` text too, perhaps as one of several with that
    name."""
    return [user_id for user_id in named if user_id not in old or user_id in new]


def one_line(text: str, limit_chars: int = LINE_CHARS) -> str:
    """The beginning of a text, on one line."""
    line = " ".join(text[: 4 * limit_chars].split())
    return line if len(line) <= limit_chars and len(text) <= 4 * limit_chars else line[: limit_chars - 1] + "…"


def without_agent(text: str) -> str:
    """A text without its leading `@agent`: the request to the agent."""
    return re.sub(rf"^\s*@{AGENT}\b[\s,:]*", "", text, count=1, flags=re.IGNORECASE)


def _after_ats(text: str, names: Collection[str]) -> list[str]:
    """The names (folded) that follow an @, in the order of the text. The time grows only with the text's length, for
    any text."""
    lengths: dict[str, list[int]] = {}  # by first character: how long the names are, the longest first
    for name, size in sorted({(name[0], len(name)) for name in names}, key=lambda one: -one[1]):
        lengths.setdefault(name, []).append(size)
    known, found, reached = set(names), list[str](), 0
    prose = _without_code(_folded_text(text)).replace("\n", " ")
    for at in _AT.finditer(prose):
        start = at.end()
        sizes = lengths.get(prose[start : start + 1], []) if at.start() >= reached else []
        for size in sizes:
            if prose[start : start + size] in known and not _IN_WORD.match(prose, start + size):
                found.append(prose[start : start + size])
                reached = start + size
                break
    return found


def _without_code(text: str) -> str:
    """A text (folded) without code fences and inline code."""
    kept: list[str] = []
    fence: str | None = None
    for line in text.split("\n"):
        if fence is not None:
            if line.lstrip().startswith(fence) and not line.strip().removeprefix(fence).strip("`~"):
                fence = None
        elif opened := _FENCE.match(line):
            fence = opened[1]
            kept.append(" ")
        else:
            kept.append(_without_ticked(line) if "`" in line else line)
    return "\n".join(kept)


def _without_ticked(line: str) -> str:
    """A line without text between two equally long runs of backticks."""
    runs = [(run.start(), run.end()) for run in _TICKS.finditer(line)]
    closer, later = dict[int, int](), dict[int, int]()  # of each run, the next one of its length
    for place in range(len(runs) - 1, -1, -1):
        size = runs[place][1] - runs[place][0]
        closer[place] = later.get(size, -1)
        later[size] = place
    kept: list[str] = []
    at = place = 0
    while place < len(runs):
        if closer[place] >= 0:
            kept.append(line[at : runs[place][0]])
            place = closer[place]
            at = runs[place][1]
        place += 1
    return " ".join([*kept, line[at:]])


def _folded(name: str) -> str:
    return " ".join(unicodedata.normalize("NFC", name).casefold().split())


def _folded_text(text: str) -> str:
    return _BLANKS.sub(" ", unicodedata.normalize("NFC", text).casefold())
