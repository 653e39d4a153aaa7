"""When sources of documentation are read again. Pure."""

from datetime import datetime, timedelta
from typing import Final

RETRY: Final = timedelta(minutes=15)
MAX_RETRY: Final = timedelta(hours=6)


def due_after(
    now: datetime,
    refresh_hours: float,
    *,
    failed: bool,
    read_at: datetime | None = None,
    retry_after_s: float | None = None,
) -> datetime | None:
    """When to read a source again; None: only on request. A failure is retried soon, and later the longer ago the last
    good reading was."""
    refresh = timedelta(hours=refresh_hours)
    if not failed:
        return now + refresh if refresh else None
    wait = RETRY if read_at is None else min(max(RETRY, (now - read_at) / 4), MAX_RETRY)
    if retry_after_s is not None:
        wait = max(timedelta(seconds=min(retry_after_s, 86_400)), timedelta(minutes=1))
    return now + wait
