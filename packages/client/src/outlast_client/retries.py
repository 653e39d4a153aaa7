"""The retry policy for refused and broken requests."""

import random
from dataclasses import dataclass
from typing import Final

from outlast_client.errors import TryLater

REFUSALS: Final = frozenset({429, 503})
"""Statuses of requests that the server refused without any effect."""


@dataclass(frozen=True, slots=True)
class Retries:
    """A request is sent at most `tries` times. Pauses double from `first_pause_s` to `longest_pause_s`, minus a random
    part of up to half; a longer pause that the server asks for is respected up to `patience_s`. A stream that was
    connected before reconnects until `patience_s` have passed without a response."""

    tries: int = 5
    first_pause_s: float = 0.5
    longest_pause_s: float = 15.0
    patience_s: float = 300.0

    def pause_s(self, failures: int, asked_s: float | None) -> float:
        """The pause after this many failures in a row, 1 or more."""
        grown = min(self.first_pause_s * 2.0 ** min(failures - 1, 30), self.longest_pause_s)
        return max(grown * (0.5 + random.random() / 2), min(asked_s or 0.0, self.patience_s))


class Attempts:
    """Counts the failures of one request. `is_repeatable`: repeating it after a lost response changes nothing twice."""

    def __init__(self, retries: Retries, *, is_repeatable: bool) -> None:
        self._retries = retries
        self._is_repeatable = is_repeatable
        self._failures = 0

    def pause_s(self, error: TryLater) -> float:
        """Seconds to wait before the next attempt. Raises `error` if there are no more attempts."""
        self._failures += 1
        was_refused = error.status in REFUSALS
        is_early = (error.retry_after_s or 0.0) <= self._retries.patience_s
        if self._failures < self._retries.tries and is_early and (was_refused or self._is_repeatable):
            return self._retries.pause_s(self._failures, error.retry_after_s)
        raise error
