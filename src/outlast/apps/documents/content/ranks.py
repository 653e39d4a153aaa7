"""Ranks between ranks: short texts that sort in the order of the things, so that a move changes one row. Pure.

A rank is a fraction between 0 and 1, written in base 36 without its point: "i" is one half. None ends in "0".
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, TypeVar

from outlast.apps.documents.content.tree import Block, Section

R = TypeVar("R", Section, Block)

DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"
LONGEST: Final = 40  # characters; a longer one makes its neighbours be spread again
_BASE: Final = len(DIGITS)
_WIDTH: Final = 4  # digits used to extend the ends
_STEP: Final = _BASE * 2


def between_all(low: str | None, high: str | None, count: int) -> list[str]:
    """`count` ranks in order, evenly after `low` and before `high` (None if nothing is on that side). `low` must be
    below `high`. At an end they are a step apart, so that they stay short however often things are added there."""
    if low is None and high is None:
        return spread(count)
    at_end = low is None or high is None
    longest = max(len(low or ""), len(high or ""), _WIDTH)
    for width in range(_WIDTH if at_end else 1, longest + len(str(count)) + 1):
        start, end = _value(low or "", width), _BASE**width if high is None else _value(high, width)
        if high is None:
            end = min(end, start + _STEP * (count + 1))
        elif low is None:
            start = max(start, end - _STEP * (count + 1))
        if end - start > count:
            return _evenly(start, end, count, width)
    raise ValueError(f"There is no rank between {low!r} and {high!r}.")


def filled(ranks: Sequence[str]) -> list[str]:
    """The ranks of things in order, with new ones for empty texts. If one became too long, all are spread again."""
    made: list[str] = []
    missing = 0
    for rank in [*ranks, None]:
        if rank == "":
            missing += 1
            continue
        if missing:
            made += between_all(made[-1] if made else None, rank, missing)
        missing = 0
        if rank is not None:
            made.append(rank)
    return made if all(len(rank) <= LONGEST for rank in made) else spread(len(made))


def with_ranks(things: Sequence[R]) -> list[R]:
    """Things keep their ranks where these ascend; the others get new ranks in between."""
    ranks, low = list[str](), ""
    for thing in things:
        ranks.append(thing.rank if thing.rank > low else "")
        low = ranks[-1] or low
    return [
        thing if thing.rank == rank else replace(thing, rank=rank)
        for thing, rank in zip(things, filled(ranks), strict=True)
    ]


def spread(count: int) -> list[str]:
    """`count` ranks in order, evenly over the whole range, with room before, between and behind."""
    width = 1
    while _BASE**width < (count + 1) * _BASE:
        width += 1
    return _evenly(0, _BASE**width, count, width)


def _evenly(start: int, end: int, count: int, width: int) -> list[str]:
    return [_written(start + (end - start) * place // (count + 1), width) for place in range(1, count + 1)]


def _value(rank: str, width: int) -> int:
    """The first `width` digits of a rank as a number."""
    return int(rank[:width].ljust(width, "0"), _BASE)


def _written(value: int, width: int) -> str:
    digits = ""
    for _ in range(width):
        value, digit = divmod(value, _BASE)
        digits = DIGITS[digit] + digits
    return digits.rstrip("0")
