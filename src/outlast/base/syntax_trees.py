"""Parses a text with tree-sitter, within a budget. No input or output.

A grammar may backtrack in a text: the time of one parse can grow with the square of its length, or without end.
So what the parser reads and does is counted, and a parse that takes too many steps is stopped.

Bounds: the `Budget` of the caller (a byte read and an operation of the parser are a step each), and processor time, as
some of these operations take a time that grows with what was read before.
"""

import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tree_sitter import Language, Tree

_CHUNK: Final = 128  # bytes that the parser is given at a time
_OPERATIONS: Final = 100  # of the parser between two checks of the budget


class TooManySteps(Exception):
    """Reading a text takes more steps, or more time, than it may."""


class Budget:
    """The steps that reading a text may take: at most `most`. `spent` counts them, up to that."""

    def __init__(self, most: int) -> None:
        self.most, self.spent = most, 0

    def spend(self, steps: int = 1) -> None:
        if steps > self.most - self.spent:
            self.spent = self.most
            raise TooManySteps
        self.spent += steps


def parse_within(language: "Language", data: bytes, budget: Budget, most_cpu_s: float) -> "Tree":
    """The tree of a text; what the grammar does not know is in it as errors. Raises TooManySteps beyond the budget or
    `most_cpu_s` seconds of this thread's processor time. It holds the interpreter: call it in a thread."""
    left, until = budget.most - budget.spent, time.thread_time() + most_cpu_s
    spent = 0

    def given(offset: int, _point: object) -> bytes:
        nonlocal spent
        spent += _CHUNK
        return data[offset : offset + _CHUNK] if spent <= left else b""

    def stops(_offset: int, _has_error: bool) -> bool:
        nonlocal spent
        spent += _OPERATIONS
        return spent > left or time.thread_time() > until

    from tree_sitter import Parser

    try:
        tree = Parser(language).parse(given, progress_callback=stops)
    except ValueError:  # it was stopped: nothing is left
        budget.spent = budget.most
        raise TooManySteps from None
    budget.spend(spent)
    return tree
