"""When earlier messages are summarized, and which of them. Pure."""

from collections.abc import Sequence
from typing import Final

CROWDED: Final = 0.8  # of the budget: from here on the oldest messages are summarized
KEPT: Final = 0.5  # of the budget: what remains as it is
MANY: Final = 1 / 3  # of the budget: less than this has room beside all else that an agent tells its model
MAX_FAILURES: Final = 3  # failed compactions in one run; then it continues without


def is_crowded(used: int, budget: int, *, left_out: bool, dropped: bool, undone: bool) -> bool:
    """True if earlier messages are to be summarized. `used`: their size in the prompt, `budget`: their room;
    `left_out`: there are more than the limit; `dropped`: some had no room; `undone`: a user undid a compaction of
    them, so only a lack of room counts."""
    if undone:
        return dropped
    return left_out or dropped or used > CROWDED * budget


def count_covered(sizes: Sequence[int], most_size: float, most: int) -> int:
    """The number of items, oldest first, that a compaction covers: at least one, and so many that the rest has at most
    `most_size` together and `most` items."""
    kept, left = 0, most_size
    for size in reversed(sizes[1:]):
        left -= size
        if left < 0 or kept == most:
            break
        kept += 1
    return len(sizes) - kept


def may_try(failed_at: Sequence[int], step: int) -> bool:
    """False if a compaction has failed before this turn already, or too often in the run."""
    return len(failed_at) < MAX_FAILURES and step not in failed_at
