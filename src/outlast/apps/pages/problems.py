"""How agents are told what they wrote wrongly, and people what was changed. Pure."""

from collections.abc import Sequence
from typing import Final

from outlast.apps.pages.shapes import Patch, VersionKind

SHOWN_CHARS: Final = 120


class Refused(Exception):
    """What an agent wrote cannot be taken; its text says why, for the agent. Never leaves the room."""


def said(line: str, what: str) -> str:
    """A problem with a line: its beginning, so that the agent knows which, and what is wrong."""
    shown = line if len(line) <= SHOWN_CHARS else f"{line[:SHOWN_CHARS]}…"
    return f"The line {shown} was not taken: {what}."


def too_large(size: int, most: int) -> str:
    """The page, or what is to become one, has too many bytes."""
    return (
        f"The page would have {size:,} bytes; at most {most:,} are allowed. Show less at once: a part of the list, "
        "fewer points in a chart"
    )


def summary_of(kind: VersionKind, patches: Sequence[Patch] = (), base: int | None = None) -> str:
    """One line for a page's history."""
    if kind == "patches":
        places = list(dict.fromkeys(patch.at for patch in patches))
        shown = ", ".join(places[:3]) + (f" and {len(places) - 3} more" if len(places) > 3 else "")
        changes = "1 change" if len(patches) == 1 else f"{len(patches)} changes"
        return f"{changes} at {shown}"
    told: dict[VersionKind, str] = {
        "undo": f"Went back to version {base}",
        "restore": f"Restored version {base}",
        "created": "The page was made",
        "copy": "Copied from another page",
        "full": "The whole page was written anew",
    }
    return told[kind]
