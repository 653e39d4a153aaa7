"""What a server says about the progress of a call, as output of the call."""

from collections.abc import Callable
from typing import Final

MOST_LINES: Final = 200  # of one call
MAX_CHARS: Final = 300


class Progress:
    """Shows it with `show`, each line once in a row, until `is_over`: then the call's leg has ended."""

    def __init__(self, show: Callable[[str], None]) -> None:
        self._show, self._left, self._last, self.is_over = show, MOST_LINES, "", False

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        of = f"{progress:g}" if total is None else f"{progress:g} of {total:g}"
        self.say(f"{message} ({of})" if message else of)

    def say(self, text: str) -> None:
        """Show a line."""
        line = " ".join(text.split())[:MAX_CHARS]
        if not self.is_over and self._left and line and line != self._last:
            self._left, self._last = self._left - 1, line
            self._show(f"{line}\n")
