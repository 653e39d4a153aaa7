"""Checks of sizes and rates. Pure."""

import unicodedata
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from outlast.base.errors import InputTooLarge, MalformedInput, RateLimited

WINDOW: Final = timedelta(seconds=60)


def clean(text: str) -> str:
    """Text that every database can store: without NUL characters and lone surrogates."""
    if "\x00" in text:
        text = text.replace("\x00", "")
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def is_blank(text: str) -> bool:
    """True if nothing is visible: only spaces, control and invisible formatting characters."""
    return all(c.isspace() or unicodedata.category(c) in ("Cc", "Cf") for c in text)


def check_bytes(what: str, size: int, limit: int) -> None:
    """Raise `InputTooLarge` for `what` (words for people) of more than `limit` bytes."""
    if size > limit:
        raise InputTooLarge(
            f"{what} has {size:,} bytes; at most {limit:,} are accepted.",
            hint="Make it smaller, or ask the operator to raise the limit in [limits].",
            what=what,
            size_bytes=size,
            limit_bytes=limit,
        )


def checked_markdown(text: str, limit_chars: int, hint: str | None = None) -> str:
    """The cleaned text. Raises `InputTooLarge` above `limit_chars` characters."""
    if len(text) > limit_chars:
        raise InputTooLarge(
            f"A text has {len(text):,} characters; at most {limit_chars:,} are accepted at once.",
            hint=hint,
            size_chars=len(text),
            limit_chars=limit_chars,
        )
    return clean(text)


def check_count(what: str, count: int, limit: int) -> None:
    """Raise `InputTooLarge` for more than `limit` of something."""
    if count > limit:
        raise InputTooLarge(
            f"{count} {what} were sent; at most {limit} are accepted.", what=what, count=count, limit=limit
        )


def checked_line(what: str, text: str, limit_chars: int) -> str:
    """A title or a name: cleaned, on one line, without spaces around it. Raises `MalformedInput` when nothing is left
    and `InputTooLarge` above `limit_chars` characters."""
    line = " ".join(clean(text).split())
    if is_blank(line):
        raise MalformedInput(f"{what} is empty.", hint="Write at least one character.", what=what)
    if len(line) > limit_chars:
        raise InputTooLarge(
            f"{what} has {len(line):,} characters; at most {limit_chars:,} are accepted.",
            what=what,
            size_chars=len(line),
            limit_chars=limit_chars,
        )
    return line


def check_rate(what: str, recent: Sequence[datetime], limit: int, now: datetime, *, things: str = "runs") -> None:
    """Raise `RateLimited` when `limit` of these moments (oldest first) are within the last minute, with the seconds
    until one of them leaves it. `limit` 0 turns it off."""
    within = [moment for moment in recent if moment > now - WINDOW]
    if not limit or len(within) < limit:
        return
    wait = (within[-limit] + WINDOW - now).total_seconds()
    raise RateLimited(
        f"{limit} {things} a minute are allowed per {what}.",
        retry_after_s=round(max(wait, 0.001), 3),
        limit=limit,
        per=what,
    )
