"""The checksum of a table tells tables apart, and does not depend on the order of rows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.db.row_sums import RowSum, canonical

VALUES = st.none() | st.booleans() | st.integers() | st.text() | st.binary() | st.floats(allow_nan=False)
ROWS = st.lists(st.tuples(VALUES, VALUES, VALUES), max_size=6)


def sum_of(rows: list[tuple[object, ...]]) -> tuple[int, str]:
    found = RowSum()
    for row in rows:
        found.add(row)
    return found.rows, found.hex


def as_stored(value: object) -> tuple[str, object]:
    """Kind and value: booleans are numbers, and -0.0 is another real number than 0.0."""
    if isinstance(value, bool):
        value = int(value)
    return type(value).__name__, repr(value)


@given(rows=ROWS, others=ROWS)
def test_the_checksum_is_that_of_the_rows_in_any_order(
    rows: list[tuple[object, ...]], others: list[tuple[object, ...]]
) -> None:
    def in_order(chosen: list[tuple[object, ...]]) -> list[str]:
        return sorted(repr([as_stored(value) for value in row]) for row in chosen)

    assert sum_of(rows) == sum_of(rows[::-1])
    assert (sum_of(rows) == sum_of(others)) == (in_order(rows) == in_order(others))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([("ab", "c")], [("a", "bc")]),
        ([("1",)], [(1,)]),
        ([(b"a",)], [("a",)]),
        ([(None,)], [("",)]),
        ([("a",)], [("a",), ("a",)]),
        ([("a",), ("a",)], []),
    ],
)
def test_rows_that_differ_have_another_checksum(one: list[tuple[object, ...]], other: list[tuple[object, ...]]) -> None:
    assert sum_of(one) != sum_of(other)


def test_a_boolean_is_the_number_that_sqlite_has_in_its_place() -> None:
    assert (canonical(True), canonical(False)) == (canonical(1), canonical(0))


def test_a_value_that_no_database_returns_is_refused() -> None:
    with pytest.raises(TypeError, match="complex"):
        canonical(1j)
