"""Messages for agents about rejected lines, and for people about changes. Pure."""

from collections.abc import Sequence
from typing import Final

from outlast.apps.pages.shapes import Patch, VersionKind

SHOWN_CHARS: Final = 120


class Refused(Exception):
    """An agent's input was rejected; the text gives the reason, for the agent. Never leaves the pages app."""


def said(line: str, what: str) -> str:
    """A problem with a line: its beginning, to identify it, and the reason."""
    shown = line if len(line) <= SHOWN_CHARS else f"{line[:SHOWN_CHARS]}…"
    return f"The line {shown} was rejected: {what}."


def too_large(size: int, most: int) -> str:
    """The message for a page that has, or would have, too many bytes."""
    return (
        f"The page would have {size:,} bytes; at most {most:,} are allowed. Show less at once: a part of the list, "
        "fewer points in a chart"
    )


def summary_of(kind: VersionKind, patches: Sequence[Patch] = (), base: int | None = None) -> str:
    """The one-line summary for a page's history."""
    if kind == "patches":
        places = list(dict.fromkeys(patch.at for patch in patches))
        shown = ", ".join(places[:3]) + (f" and {len(places) - 3} more" if len(places) > 3 else "")
        changes = "1 change" if len(patches) == 1 else f"{len(patches)} changes"
        return f"{changes} at {shown}"
    told: dict[VersionKind, str] = {
        "undo": f"Went back to version {base}",
        "restore": f"Restored version {base}",
        "created": "Page created",
        "copy": "Copied from another page",
        "full": "Rewrote the whole page",
    }
    return told[kind]
