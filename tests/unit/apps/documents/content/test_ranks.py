"""Places between places."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from outlast.apps.documents.content.ranks import LONGEST, between_all, filled, spread


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
        (last,), (first,) = between_all(last, None, 1), between_all(None, first, 1)
    assert len(last) <= 5
    assert len(first) <= 5


def test_many_things_get_short_ranks_at_once():
    ranks = spread(10_000)
    assert ranks == sorted(set(ranks))
    assert max(map(len, ranks)) <= 5
    assert spread(0) == []


@given(st.lists(st.integers(0, 40), max_size=12))
def test_ranks_are_filled_in_beside_those_that_stay(missing: list[int]):
    kept = spread(len(missing))
    wanted = [one for rank, count in zip(kept, missing, strict=True) for one in [*[""] * count, rank]]
    made = filled([*wanted, "", ""])
    assert made == sorted(set(made))
    assert [after for before, after in zip(wanted, made, strict=False) if before] == kept


def test_thousands_of_things_at_an_end_without_room_get_short_ranks():
    last = spread(10_000)[-1]
    for made in (between_all(last, None, 5_000), between_all(None, spread(10_000)[0], 5_000)):
        assert made == sorted(set(made))
        assert max(map(len, made)) <= 12


def test_ranks_that_would_be_too_long_are_spread_anew():
    low = "i" * LONGEST
    made = filled([low, "", low + "1"])
    assert made == spread(3)
