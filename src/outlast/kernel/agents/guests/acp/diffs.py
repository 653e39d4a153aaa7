"""The diffs of one result, which together cost the event loop some 50 ms at most. Pure.

`difflib` is cubic at worst: 1,000 lines against 199 of the same take seconds. So only what lies between the first and
the last change is compared, and only if it is small; else all of it is shown as removed and added.
"""

import re
from collections.abc import Sequence
from difflib import unified_diff
from typing import Final

MAX_LINES: Final = 2_000  # of all texts; of further ones, the lines are only counted
MAX_STEPS: Final = 250_000  # of all comparisons, at worst
CONTEXT: Final = 3
_PLACES: Final = re.compile(r"@@ -(\d+)(.*) \+(\d+)(.*) @@")


class Diffs:
    """The budget of one result."""

    def __init__(self) -> None:
        self._lines, self._steps = MAX_LINES, MAX_STEPS

    def text(self, path: str, old: str, new: str) -> str:
        """A unified diff, or how many lines there were and are."""
        counts = _count(old), _count(new)
        if sum(counts) > self._lines:
            return f"{path}: {counts[0]} lines before, {counts[1]} after"
        self._lines -= sum(counts)
        before, after = _split(old), _split(new)
        first, most = 0, min(counts)
        while first < most and before[first] == after[first]:
            first += 1
        same = 0
        while same < most - first and before[-1 - same] == after[-1 - same]:
            same += 1
        removed, added = before[first : len(before) - same], after[first : len(after) - same]
        steps = len(removed) * len(added) * min(len(removed), len(added))
        if steps > self._steps:
            places = f"@@ -{first + 1},{len(removed)} +{first + 1},{len(added)} @@"
            heads = f"--- a{path}", f"+++ b{path}", places
            return "\n".join([*heads, *(f"-{line}" for line in removed), *(f"+{line}" for line in added)])
        self._steps -= steps
        start, more = max(0, first - CONTEXT), max(0, same - CONTEXT)
        texts = before[start : len(before) - more], after[start : len(after) - more]
        lines = unified_diff(*texts, f"a{path}", f"b{path}", n=CONTEXT, lineterm="")
        return "\n".join(_moved(line, start) if line.startswith("@@") else line for line in lines)


def _count(text: str) -> int:
    return text.count("\n") + (text != "" and not text.endswith("\n"))


def _split(text: str) -> Sequence[str]:
    return text.removesuffix("\n").split("\n") if text else []


def _moved(places: str, by: int) -> str:
    found = _PLACES.fullmatch(places)
    assert found is not None
    old, old_rest, new, new_rest = found.groups()
    return f"@@ -{int(old) + by}{old_rest} +{int(new) + by}{new_rest} @@"
