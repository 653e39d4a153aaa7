"""Ids in an order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.apps.documents.content.chains import Chain
from tests.steps import assert_nearly_linear


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 30)), max_size=60))
def test_a_chain_is_a_list_that_is_found_by_what_is_in_it(steps: list[tuple[bool, int]]):
    chain, told = Chain("x"), list[str]()
    for number, (put, place) in enumerate(steps):
        if put or not told:
            at = place % (len(told) + 1)
            chain.put(str(number), told[at - 1] if at else None)
            told.insert(at, str(number))
        else:
            chain.take(told.pop(place % len(told)))
        assert list(chain) == told
        assert (chain.first, chain.last) == ((told[0], told[-1]) if told else (None, None))


@given(st.integers(0, 12), st.integers(0, 12))
def test_a_chain_splits_anywhere(length: int, at: int):
    ids = [str(number) for number in range(length)]
    at = min(at, length)
    chain = Chain("x", ids)
    head, tail = chain.split(ids[at - 1] if at else None)
    assert (list(head), list(tail)) == (ids[:at], ids[at:])
    assert chain in (head, tail)


@pytest.mark.parametrize("at_front", [True, False])
def test_splitting_on_and_on_at_an_end_takes_few_steps(at_front: bool) -> None:
    def splitting(count: int) -> None:
        chain = Chain("x", map(str, range(count)))
        for number in range(count):
            head, tail = chain.split(str(number if at_front else count - 1 - number))
            chain = tail if at_front else head
            if not at_front and chain.last is not None:
                chain.take(chain.last)

    assert_nearly_linear(lambda count: lambda: splitting(count), 100, 800)
