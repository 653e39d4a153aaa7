"""Where screens lie and how large they are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.apps.screens.placement import (
    FARTHEST,
    GAP,
    HEIGHT,
    MAX_HEIGHT,
    MAX_WIDTH,
    MIN_SIDE,
    PER_ROW,
    WIDTH,
    Box,
    checked_box,
    free_spot,
    overlap,
    spot_beside,
)
from outlast.base.errors import MalformedInput

near = st.integers(-6_000, 6_000)
anywhere = st.integers(-FARTHEST, FARTHEST)
widths, heights = st.integers(MIN_SIDE, MAX_WIDTH), st.integers(MIN_SIDE, MAX_HEIGHT)
boxes = st.builds(Box, near, near, widths, heights)
far_boxes = st.builds(Box, anywhere, anywhere, widths, heights)
canvases = st.lists(st.one_of(boxes, far_boxes), max_size=12)


def test_the_first_screen_lies_at_the_origin_and_rows_are_filled_before_new_ones_begin():
    taken: list[Box] = []
    for _ in range(PER_ROW + 1):
        taken.append(free_spot(taken))
    assert [(box.x, box.y) for box in taken] == [
        *((column * (WIDTH + GAP), 0) for column in range(PER_ROW)),
        (0, HEIGHT + GAP),
    ]


def test_a_gap_that_somebody_left_is_filled_first():
    full = [Box(column * (WIDTH + GAP), 0) for column in range(PER_ROW)]
    assert free_spot([box for box in full if box is not full[1]]) == full[1]


@given(canvases, widths, heights)
def test_a_new_screen_overlaps_none_and_lies_on_the_canvas(taken: list[Box], width: int, height: int):
    spot = free_spot(taken, width, height)
    assert (spot.width, spot.height) == (width, height)
    assert not any(overlap(spot, box, GAP) for box in taken)
    assert checked_box(spot) == spot


@given(st.lists(boxes, max_size=8), st.integers(-1_000, 1_000), st.integers(-1_000, 1_000))
def test_where_the_others_lie_is_where_a_new_one_goes(taken: list[Box], right: int, down: int):
    moved = [Box(box.x + right, box.y + down, box.width, box.height) for box in taken]
    here, there = free_spot(taken), free_spot(moved)
    expected = (here.x + right, here.y + down) if taken else (0, 0)
    assert (there.x, there.y) == expected


@given(st.one_of(boxes, far_boxes), canvases)
def test_a_copy_is_as_large_and_overlaps_none(source: Box, others: list[Box]):
    taken = [source, *others]
    spot = spot_beside(source, taken)
    assert (spot.width, spot.height) == (source.width, source.height)
    assert not any(overlap(spot, box, GAP) for box in taken)
    assert checked_box(spot) == spot


def test_a_copy_lies_right_of_its_original_else_below():
    source = Box(100, 50, 400, 300)
    right = spot_beside(source, [source])
    assert (right.x, right.y) == (100 + 400 + GAP, 50)
    below = spot_beside(source, [source, right])
    assert (below.x, below.y) == (100, 50 + 300 + GAP)


@given(boxes, boxes)
def test_overlapping_is_mutual(one: Box, other: Box):
    assert overlap(one, other) == overlap(other, one)
    assert overlap(one, one)


@pytest.mark.parametrize(
    ("box", "field"),
    [
        (Box(FARTHEST + 1, 0), "x"),
        (Box(0, -FARTHEST - 1), "y"),
        (Box(0, 0, MIN_SIDE - 1), "width"),
        (Box(0, 0, MAX_WIDTH + 1), "width"),
        (Box(0, 0, WIDTH, MIN_SIDE - 1), "height"),
        (Box(0, 0, WIDTH, MAX_HEIGHT + 1), "height"),
    ],
)
def test_a_box_beyond_the_bounds_is_refused_by_name(box: Box, field: str):
    with pytest.raises(MalformedInput) as refused:
        checked_box(box)
    assert refused.value.fields["field"] == field
