"""Parses a text with tree-sitter, within a budget. No input or output.

A grammar may backtrack: the time of one parse can grow with the square of the text's length, or without bound. So the
steps of the parser are counted, and a parse that takes too many is stopped.

Bounds: the `Budget` of the caller (a byte read and an operation of the parser are a step each), and processor time, as
some of these operations take longer the more was read before.
"""

import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tree_sitter import Language, Tree

_CHUNK: Final = 128  # bytes that the parser is given at a time
_OPERATIONS: Final = 100  # of the parser between two checks of the budget


class TooManySteps(Exception):
    """Parsing a text exceeds its budget of steps or time."""


class Budget:
    """A budget of at most `most` steps for parsing a text. `spent` counts them, up to that."""

    def __init__(self, most: int) -> None:
        self.most, self.spent = most, 0

    def spend(self, steps: int = 1) -> None:
        if steps > self.most - self.spent:
            self.spent = self.most
            raise TooManySteps
        self.spent += steps


def parse_within(language: "Language", data: bytes, budget: Budget, most_cpu_s: float) -> "Tree":
    """The tree of a text; text that the grammar does not know becomes error nodes. Raises TooManySteps beyond the
    budget or `most_cpu_s` seconds of this thread's processor time. It holds the interpreter: call it in a thread."""
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
    except ValueError:  # it was stopped: there is no tree
        budget.spent = budget.most
        raise TooManySteps from None
    budget.spend(spent)
    return tree
