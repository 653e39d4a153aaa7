"""The positions and sizes of screens on a canvas. Pure.

Measures are CSS pixels of the canvas; y grows downwards. A screen's frame has its title above it, inside the gap.
"""

from collections.abc import Sequence
from itertools import count
from typing import Final, NamedTuple

from outlast.base.errors import MalformedInput

WIDTH: Final = 1280
HEIGHT: Final = 800
MIN_SIDE: Final = 240
MAX_WIDTH: Final = 3840
MAX_HEIGHT: Final = 4320
FARTHEST: Final = 10_000_000  # from the middle of the canvas, in each direction
MAX_MOVES: Final = 500  # screens that one request places
GAP: Final = 120  # between automatically placed screens, room for a title; the same in the web app: canvas/placement.ts
PER_ROW: Final = 4


class Box(NamedTuple):
    """A screen's frame on the canvas."""

    x: int
    y: int
    width: int = WIDTH
    height: int = HEIGHT


def checked_box(box: Box) -> Box:
    """The box, if it is on the canvas and large enough to be visible. Raises `MalformedInput`."""
    _within("x", box.x, -FARTHEST, FARTHEST)
    _within("y", box.y, -FARTHEST, FARTHEST)
    _within("width", box.width, MIN_SIDE, MAX_WIDTH)
    _within("height", box.height, MIN_SIDE, MAX_HEIGHT)
    return box


def placed(spot: Box, x: int | None, y: int | None) -> Box:
    """The box at the given coordinates; a missing one is that of `spot`. Raises `MalformedInput`."""
    return checked_box(spot._replace(x=spot.x if x is None else x, y=spot.y if y is None else y))


def overlap(one: Box, other: Box, gap: int = 0) -> bool:
    """True if two boxes cover a common point, or are nearer than `gap`."""
    return (
        one.x < other.x + other.width + gap
        and other.x < one.x + one.width + gap
        and one.y < other.y + other.height + gap
        and other.y < one.y + one.height + gap
    )


def free_spot(taken: Sequence[Box], width: int = WIDTH, height: int = HEIGHT) -> Box:
    """The next free place for a new screen: in rows of four from the upper left corner of the existing ones, left to
    right, top to bottom, never nearer than `GAP` to another."""
    left = min((box.x for box in taken), default=0)
    top = min((box.y for box in taken), default=0)
    if max(abs(left), abs(top)) > FARTHEST // 2:  # rows from there could run off the canvas
        left = top = 0
    for row in count():
        for column in range(PER_ROW):
            box = Box(left + column * (width + GAP), top + row * (height + GAP), width, height)
            if _is_free(box, taken):
                return box
    raise AssertionError("unreachable: a finite number of boxes leaves a row free")


def spot_beside(source: Box, taken: Sequence[Box]) -> Box:
    """The place of a copy of a screen: right of it, below it, else the next free place. Of the same size."""
    right = Box(source.x + source.width + GAP, source.y, source.width, source.height)
    below = Box(source.x, source.y + source.height + GAP, source.width, source.height)
    for box in (right, below):
        if max(abs(box.x), abs(box.y)) <= FARTHEST and _is_free(box, taken):
            return box
    return free_spot(taken, source.width, source.height)


def _is_free(box: Box, taken: Sequence[Box]) -> bool:
    return not any(overlap(box, other, GAP) for other in taken)


def _within(name: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise MalformedInput(f"{name} is {value:,}; it must be between {least:,} and {most:,} pixels.", field=name)
