"""Retry delays. Pure: durations are in seconds, `share` is a random number from 0 to 1."""

from typing import Final

RESTART_S: Final = (1.0, 2.0, 5.0, 10.0, 20.0, 40.0, 60.0)
"""Pauses before a service is restarted; the last one repeats."""
STEADY_S: Final = 5.0
"""A service that has run for this long since its last failure is up again."""
RETRY_S: Final = (1.0, 5.0, 30.0, 120.0, 600.0)
"""Pauses before the first, second … retry of a failed item. When the last retry fails too, the item is set aside: after
six failures in a row, with five pauses between them."""
JITTER: Final = 0.2


def restart_delay_s(failures: int, share: float) -> float:
    """The pause before a service is restarted after `failures` failures in a row (1 or more); at most 60 s."""
    return min(jittered(_nth(RESTART_S, failures), share), RESTART_S[-1])


def failures_in_a_row(before: int, lived_s: float) -> int:
    """The number of failures in a row, with the one after a life of `lived_s`: a long enough life starts a new row."""
    return 1 if lived_s >= STEADY_S else before + 1


def retry_delay_s(failures: int, share: float) -> float:
    """The pause before an item is retried after `failures` in a row (1 or more); at most 12 minutes."""
    return jittered(_nth(RETRY_S, failures), share)


def is_exhausted(failures: int) -> bool:
    """True if an item with this many failures in a row must be set aside."""
    return failures > len(RETRY_S)


def jittered(delay_s: float, share: float) -> float:
    """The delay, moved by up to 20 % either way, so that simultaneous failures are not retried simultaneously."""
    return delay_s * (1 - JITTER + 2 * JITTER * share)


def _nth(delays: tuple[float, ...], count: int) -> float:
    return delays[min(count, len(delays)) - 1]
