"""Moments and JSON go into both databases and come back the same."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.db.columns import Json, UtcTime

TIMES, JSON = UtcTime(), Json()
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


@given(st.datetimes(timezones=st.just(UTC)))
def test_a_moment_comes_back_to_the_microsecond(moment: datetime) -> None:
    assert TIMES.process_result_value(TIMES.process_bind_param(moment, None), None) == moment


@given(st.datetimes(timezones=st.just(UTC)), st.datetimes(timezones=st.just(UTC)))
def test_moments_are_stored_so_that_they_sort(one: datetime, other: datetime) -> None:
    stored = [TIMES.process_bind_param(moment, None) or 0 for moment in (one, other)]
    assert (stored[0] < stored[1]) == (one < other)


def test_another_time_zone_is_the_same_moment() -> None:
    here = datetime(2030, 1, 1, 2, tzinfo=timezone(timedelta(hours=2)))
    assert TIMES.process_bind_param(here, None) == TIMES.process_bind_param(datetime(2030, 1, 1, tzinfo=UTC), None)


def test_a_moment_without_a_zone_is_a_mistake() -> None:
    with pytest.raises(TypeError):
        TIMES.process_bind_param(datetime(2030, 1, 1), None)  # noqa: DTZ001 - that is the point


@given(VALUES)
def test_json_comes_back_and_never_holds_a_nul(value: object) -> None:
    stored = JSON.process_bind_param(value, None)
    assert stored is None or "\0" not in stored
    assert JSON.process_result_value(stored, None) == value
