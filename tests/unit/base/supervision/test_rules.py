"""When what failed is tried again."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from outlast.base.supervision.rules import (
    RETRY_S,
    failures_in_a_row,
    is_exhausted,
    jittered,
    restart_delay_s,
    retry_delay_s,
)

shares = st.floats(0, 1)


@given(st.integers(1, 10_000), shares)
def test_a_service_is_restarted_at_most_every_minute_and_never_at_once(failures: int, share: float) -> None:
    assert 0.8 <= restart_delay_s(failures, share) <= 60


@given(st.floats(0.1, 1_000), shares)
def test_jitter_moves_a_delay_by_a_fifth_at_most(delay_s: float, share: float) -> None:
    assert 0.8 * delay_s - 1e-9 <= jittered(delay_s, share) <= 1.2 * delay_s + 1e-9


def test_a_steady_life_ends_the_row_of_failures() -> None:
    assert failures_in_a_row(7, 0.1) == 8
    assert failures_in_a_row(7, 5.0) == 1


def test_an_item_is_tried_again_five_times_further_and_further_apart() -> None:
    assert [retry_delay_s(failures, 0.5) for failures in range(1, 6)] == [1, 5, 30, 120, 600]
    assert [is_exhausted(failures) for failures in range(1, 7)] == [False] * len(RETRY_S) + [True]
