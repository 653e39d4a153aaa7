"""The text around a person's message in a page's prompt, from the most to the least stable. Pure.

    [SANDBOX MODULES] → HTML → [RECENT CHANGES] → [RELEVANT PAST CONTEXT] → [NOW]

All of it is fixed when a run begins, so every turn of the run starts with the same prompt, and a provider's cache
stays valid for it; up to the HTML often from one run to the next too.
"""

from collections.abc import Sequence
from typing import Final

from outlast.apps.pages.agent.html_budget import within
from outlast.base.records import dataclass

SAID_CHARS: Final = 400
HTML: Final = "HTML:"
RECENT: Final = "[RECENT CHANGES]"
PAST: Final = "[RELEVANT PAST CONTEXT]"
NOW: Final = "[NOW]"


@dataclass(frozen=True, slots=True)
class Found:
    """The state at the start of a run: the page and its `version`, the section of its modules, the latest changes
    (oldest first) and the older ones that were recalled. The run's journal stores it, by the names of its fields."""

    page_id: str
    version: int
    modules_told: str = ""
    recent: Sequence[str] = ()
    recalled: Sequence[str] = ()


def message_of(found: Found, html: str, now: str, most_chars: int) -> str:
    """The message for the run's model, at most about `most_chars` long: only the page is cut if it is too
    long, never the rest."""
    before = [found.modules_told] if found.modules_told else []
    recent = [f"{number}. {line}" for number, line in enumerate(found.recent, start=1)]
    after = [*_section(RECENT, recent), *_section(PAST, [f"- {line}" for line in found.recalled])]
    after.append(f"{NOW}\n{now}")
    room = most_chars - sum(len(section) + 2 for section in (*before, *after))
    page = f"{HTML}\n{within(html, max(room, most_chars // 4))}"
    return "\n\n".join([*before, page, *after])


def _section(heading: str, lines: Sequence[str]) -> list[str]:
    return ["\n".join([heading, *lines])] if lines else []
