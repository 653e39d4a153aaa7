"""Counts what a function does, in steps instead of seconds: the lines of Python that it runs, ours and of libraries.
What C does in one line (a regular expression, a native parser) is not seen."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def steps_of(work: Callable[[], object]) -> int:
    """Lines of Python run by one call of `work`. It may raise: an input refused is an input dealt with."""
    count = 0

    def line(_frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return line

    before = sys.gettrace()
    sys.settrace(line)
    try:
        work()
    except Exception:  # counted all the same
        pass
    finally:
        sys.settrace(before)
    return count


def assert_nearly_linear(
    work: Callable[[int], Callable[[], object]], smaller: int, larger: int, beside: int = 2_000
) -> None:
    """`work(n)` gives the call that reads an input of size n: from `smaller` to `larger` its steps may grow as n·log n
    does; `beside`: so many more, as where a budget bounds them."""
    few, many = steps_of(work(smaller)), steps_of(work(larger))
    growth = larger / smaller * (larger.bit_length() / smaller.bit_length())
    assert many <= 1.3 * growth * few + beside, f"{few} steps for {smaller}, {many} for {larger}"
