"""Messages for agents about rejected lines and pages. Pure."""

from typing import Final

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
