"""When earlier messages are summarized, and how many of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.kernel.compactions.rules import count_covered, is_crowded, may_try

SIZES = st.lists(st.integers(0, 1_000), min_size=1, max_size=40)


@pytest.mark.parametrize(
    ("used", "left_out", "dropped", "undone", "crowded"),
    [
        (80, False, False, False, False),
        (81, False, False, False, True),
        (10, True, False, False, True),
        (10, False, True, False, True),
        # A user wants the messages themselves: only what has no room at all is summarized.
        (100, True, False, True, False),
        (10, False, True, True, True),
    ],
)
def test_messages_are_summarized_before_they_would_be_left_out(
    used: int, left_out: bool, dropped: bool, undone: bool, crowded: bool
) -> None:
    assert is_crowded(used, 100, left_out=left_out, dropped=dropped, undone=undone) is crowded


@pytest.mark.parametrize(
    ("sizes", "most_size", "most", "covered"),
    [
        ([10], 100, 5, 1),
        ([10, 10, 10, 10], 20, 5, 2),
        ([10, 10, 10, 10], 100, 1, 3),
        ([10, 10, 10, 10], 100, 0, 4),
        ([10, 90, 10, 10], 30, 5, 2),
        ([10, 10, 10, 10], 1_000, 50, 1),
    ],
)
def test_the_oldest_are_covered_and_as_many_of_the_newest_as_fit_are_kept(
    sizes: list[int], most_size: float, most: int, covered: int
) -> None:
    assert count_covered(sizes, most_size, most) == covered


@given(SIZES, st.integers(0, 5_000), st.integers(0, 50))
def test_something_is_covered_and_the_rest_fits(sizes: list[int], most_size: int, most: int) -> None:
    covered = count_covered(sizes, most_size, most)
    kept = sizes[covered:]
    assert 1 <= covered <= len(sizes)
    assert sum(kept) <= most_size or not kept
    assert len(kept) <= most
    # No more is covered than must be: one more would not fit, or is the oldest.
    assert covered == 1 or len(kept) == most or sum(sizes[covered - 1 :]) > most_size


def test_a_failed_compaction_is_tried_again_before_a_later_turn_but_not_forever() -> None:
    assert may_try([], 1)
    assert not may_try([1], 1)
    assert may_try([1, 2], 3)
    assert not may_try([1, 2, 3], 4)
