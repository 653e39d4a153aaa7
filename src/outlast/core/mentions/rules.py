"""Who is named in a text. Pure."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

AGENT: Final = "agent"
"""Stands for the agent where a user's id would stand, and is its name in texts."""
LINE_CHARS: Final = 200

_CODE: Final = re.compile(
    r"^[^\S\n]*(?P<fence>`{3,}|~{3,})[^\n]*(?:\n.*?)??(?:\n[^\S\n]*(?P=fence)[`~]*[^\S\n]*$|\Z)"
    r"|(?<!`)(?P<ticks>`+)(?!`)[^\n]*?(?<!`)(?P=ticks)(?!`)",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Named:
    """Whom a text names: users (each once, in the order of the text), and whether the agent."""

    users: tuple[str, ...] = ()
    agent: bool = False


def find_names(text: str, members: Sequence[tuple[str, str]], chosen: Sequence[str] = ()) -> Named:
    """Whom a text names among `members` (user id, name): `@Name`, the longest name that fits, in any case, not inside
    a word or in code. `@agent` is the agent. `chosen` are ids that the writer picked: of several members of one name
    only those count, and they are named even where the text does not show it."""
    picked = {user_id for user_id, _ in members} & set(chosen)
    by_name: dict[str, list[str]] = {}
    for user_id, name in members:
        by_name.setdefault(_folded(name), []).append(user_id)
    by_name.pop("", None)
    found: list[str] = []
    agent = False
    if "@" in text:
        for name in _after_ats(text, [*by_name, AGENT]):
            agent = agent or name == AGENT
            same = by_name.get(name, []) if name != AGENT else []
            found += [user_id for user_id in same if user_id in picked] or same
    found += [user_id for user_id in chosen if user_id in picked]
    return Named(tuple(dict.fromkeys(found)), agent)


def one_line(text: str, limit_chars: int = LINE_CHARS) -> str:
    """The beginning of a text, on one line."""
    line = " ".join(text[: 4 * limit_chars].split())
    return (
        line if len(line) <= limit_chars and len(text) <= 4 * limit_chars else line[: limit_chars - 1] + "…"
    )


def without_agent(text: str) -> str:
    """A text without the `@agent` that it begins with: what the agent is asked."""
    return re.sub(rf"^\s*@{AGENT}\b[\s,:]*", "", text, count=1, flags=re.IGNORECASE)


def _after_ats(text: str, names: Sequence[str]) -> list[str]:
    """The names (folded) that follow an @, in the order of the text."""
    longest_first = sorted(set(names), key=lambda name: (-len(name), name))
    pattern = "|".join(re.escape(name).replace(r"\ ", r"\s") for name in longest_first)
    prose = _CODE.sub(" ", _folded_text(text))
    return [" ".join(hit[1].split()) for hit in re.finditer(rf"(?<![\w@/.])@({pattern})(?!\w)", prose)]


def _folded(name: str) -> str:
    return " ".join(unicodedata.normalize("NFC", name).casefold().split())


def _folded_text(text: str) -> str:
    return re.sub(r"[^\S\n]+", " ", unicodedata.normalize("NFC", text).casefold())
