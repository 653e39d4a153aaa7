"""The times at which sources of documentation are read again. Pure."""

from datetime import datetime, timedelta
from typing import Final

RETRY: Final = timedelta(minutes=15)
MAX_RETRY: Final = timedelta(hours=6)


def due_after(now: datetime, refresh_hours: float) -> datetime | None:
    """The time to read a source again, or None for only on request."""
    return now + timedelta(hours=refresh_hours) if refresh_hours else None


def retry_at(now: datetime, read_at: datetime | None = None, retry_after_s: float | None = None) -> datetime:
    """The time to retry a source that could not be read: soon, and later the longer ago the last good reading was."""
    if retry_after_s is not None:
        return now + timedelta(seconds=min(max(retry_after_s, 60), 86_400))
    return now + (RETRY if read_at is None else min(max(RETRY, (now - read_at) / 4), MAX_RETRY))
