"""Places between places: short texts that sort as the things do, so that moving one thing changes one row. Pure.

A rank is a fraction between 0 and 1, written in base 36 without its point: "i" is one half. None ends in "0".
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, TypeVar

from outlast.apps.documents.content.tree import Block, Section

R = TypeVar("R", Section, Block)

DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"
LONGEST: Final = 40  # characters; a longer one is the sign that its neighbours are to be spread anew
_BASE: Final = len(DIGITS)
_WIDTH: Final = 4  # digits in which ends are extended
_STEP: Final = _BASE * 2


def between(low: str | None, high: str | None) -> str:
    """A rank after `low` and before `high` (None: there is nothing on that side). `low` must be below `high`."""
    if low is not None and high is None:
        return _beyond(low, _STEP) or _middle(low, None)
    if high is not None and low is None:
        return _beyond(high, -_STEP) or _middle("", high)
    return _middle(low or "", high)


def between_all(low: str | None, high: str | None, count: int) -> list[str]:
    """`count` ranks in order, after `low` and before `high`."""
    if count <= 0:
        return []
    if low is None and high is None:
        return spread(count)
    if count == 1:
        return [between(low, high)]
    if low is not None and high is None and _beyond(low, _STEP * count) is not None:
        return [_beyond(low, _STEP * place) or "" for place in range(1, count + 1)]
    middle = _middle(low or "", high)
    half = (count - 1) // 2
    return [*between_all(low or "", middle, half), middle, *between_all(middle, high, count - 1 - half)]


def filled(ranks: Sequence[str]) -> list[str]:
    """The ranks of things in order, with new ones in the place of empty texts. Where one became too long, all are
    spread anew."""
    made: list[str] = []
    missing = 0
    for rank in [*ranks, None]:
        if rank == "":
            missing += 1
            continue
        made += between_all(made[-1] if made else None, rank, missing)
        missing = 0
        if rank is not None:
            made.append(rank)
    return made if all(len(rank) <= LONGEST for rank in made) else spread(len(made))


def with_ranks(things: Sequence[R]) -> list[R]:
    """Those with a rank keep it where ranks ascend; the others get one between."""
    ranks, low = list[str](), ""
    for thing in things:
        ranks.append(thing.rank if thing.rank > low else "")
        low = ranks[-1] or low
    return [
        thing if thing.rank == rank else replace(thing, rank=rank)
        for thing, rank in zip(things, filled(ranks), strict=True)
    ]


def spread(count: int) -> list[str]:
    """`count` ranks in order, evenly over everything, with room before, between and behind."""
    width = 1
    while _BASE**width < (count + 1) * _BASE:
        width += 1
    return [_written((place + 1) * _BASE**width // (count + 1), width) for place in range(count)]


def _beyond(rank: str, step: int) -> str | None:
    """A rank a step away, short however often this is done; None: there is no room on that side."""
    value = int(rank[:_WIDTH].ljust(_WIDTH, "0") or "0", _BASE) + step
    return _written(value, _WIDTH) if 0 < value < _BASE**_WIDTH else None


def _middle(low: str, high: str | None) -> str:
    made = ""
    for place in range(max(len(low), len(high or "")) + 2):
        first = DIGITS.index(low[place]) if place < len(low) else 0
        last = _BASE
        if high is not None:
            last = DIGITS.index(high[place]) if place < len(high) else 0
        if last - first > 1:
            return made + DIGITS[(first + last) // 2]
        made += DIGITS[first]
        if last > first:
            high = None
    raise ValueError(f"There is no rank between {low!r} and {high!r}.")


def _written(value: int, width: int) -> str:
    digits = ""
    for _ in range(width):
        value, digit = divmod(value, _BASE)
        digits = DIGITS[digit] + digits
    return digits.rstrip("0")
