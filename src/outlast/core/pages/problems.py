"""How the agent is told what it wrote wrongly. Pure."""

from typing import Final

SHOWN_CHARS: Final = 120


class Refused(Exception):
    """A patch cannot be applied; its text says why, for the agent. Never leaves the room."""


def said(line: str, what: str) -> str:
    """A problem with a line: its beginning, so that the agent knows which, and what is wrong."""
    shown = line if len(line) <= SHOWN_CHARS else f"{line[:SHOWN_CHARS]}…"
    return f"The line {shown} was not taken: {what}."
