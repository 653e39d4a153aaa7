"""Limits the number of streams, and other open answers, of one user or one address."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from outlast.base.errors import RateLimited

FULL_RETRY_S: Final = 5.0


class StreamPlaces:
    """In memory, for one server process. `most`: for each user or address (0 for any number)."""

    def __init__(self, most: int = 0) -> None:
        self._most = most
        self._taken: Counter[str] = Counter()

    @contextmanager
    def taken(self, holder: str, per: str = "user") -> Iterator[None]:
        """Count one more stream of this holder while the context is open; "" is not counted. Raises `RateLimited` at
        the limit."""
        if holder and self._most and self._taken[holder] >= self._most:
            raise RateLimited(
                f"{self._most} streams of one {per} are open, which is the limit.",
                hint="Close streams that you do not need, or raise limits.streams_per_user.",
                retry_after_s=FULL_RETRY_S,
                limit=self._most,
                per=per,
            )
        self._taken[holder] += 1
        try:
            yield
        finally:
            self._taken[holder] -= 1
            if not self._taken[holder]:
                del self._taken[holder]
