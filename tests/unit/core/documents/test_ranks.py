"""Places between places."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from outlast.core.documents.ranks import between, between_all, spread


@given(st.lists(st.tuples(st.integers(0, 1_000_000), st.integers(1, 5)), max_size=80))
def test_there_is_always_room_between_two(steps: list[tuple[int, int]]):
    ranks: list[str] = []
    for place, count in steps:
        at = place % (len(ranks) + 1)
        low, high = ranks[at - 1] if at else None, ranks[at] if at < len(ranks) else None
        ranks[at:at] = between_all(low, high, count)
        assert ranks == sorted(set(ranks))
        assert not any(rank.endswith("0") for rank in ranks)


def test_ranks_at_either_end_stay_short():
    last = first = spread(1)[0]
    for _ in range(5000):
        last, first = between(last, None), between(None, first)
    assert len(last) <= 5
    assert len(first) <= 5


def test_many_things_get_short_ranks_at_once():
    ranks = spread(10_000)
    assert ranks == sorted(set(ranks))
    assert max(map(len, ranks)) <= 5
    assert spread(0) == []
