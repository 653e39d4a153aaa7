"""Which lines of a run a node may show that does not write it. Pure.

Lines come from the database, complete and in order, and from a transport that may lose, repeat, delay and reorder them.
A line of the transport is shown only as the next number after the last one, only if it is of the attempt that the
database names, and only if the database has reserved its number. All else waits for the database, or is dropped.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from outlast.kernel.streams.log_store import Line

MOST_LINES: Final = 20_000  # that wait for the database; it has them all within a save interval


class Entry(NamedTuple):
    """Consecutive lines of one attempt."""

    generation: int
    lines: Sequence[Line]


class Tail:
    """The place up to which lines were shown (`head`), and what is known of the run: the attempt (`generation`) and the
    last number that is reserved for it."""

    __slots__ = ("_asked", "_pending", "generation", "head", "reserved", "wants_database")

    def __init__(self, head: int, generation: int, reserved: int) -> None:
        self.head, self.generation, self.reserved = head, generation, reserved
        self.wants_database = False  # an entry waits for something that only the database knows
        self._pending: list[Entry] = []
        self._asked: list[Entry] = []

    @property
    def place(self) -> tuple[int, int]:
        """The attempt and number after which the transport is to be read next."""
        if self._pending:
            last = self._pending[-1]
            return last.generation, last.lines[-1][0]
        return self.generation, self.head

    def ask(self) -> int:
        """The database is about to be read above the number that this returns; `saved` brings what it said."""
        self._asked = list(self._pending)
        return self.head

    def arrived(self, entries: Sequence[Entry]) -> list[Line]:
        """The transport brought these; returns the lines to show now."""
        self._pending += [entry for entry in entries if entry.lines and entry.generation >= self.generation]
        shown = self._take()
        if sum(len(entry.lines) for entry in self._pending) > MOST_LINES:
            self._pending = []  # the database has them soon
        return shown

    def saved(self, generation: int, reserved: int, lines: Sequence[Line]) -> list[Line]:
        """The database has these lines, and names this attempt and reservation; returns the lines to show now. Entries
        that came before it was asked and that it does not confirm are not true: Redis may be older or newer than it."""
        self.generation, self.reserved = generation, reserved
        shown = [line for line in lines if line[0] > self.head]
        if shown:
            self.head = shown[-1][0]
        false = {id(entry) for entry in self._asked if entry.generation > generation or entry.lines[-1][0] > reserved}
        self._pending = [entry for entry in self._pending if id(entry) not in false]
        self._asked = []
        return shown + self._take()

    def _take(self) -> list[Line]:
        """Move `head` over the waiting entries that may be shown."""
        shown: list[Line] = []
        self.wants_database = False
        left: list[Entry] = []
        for entry in sorted(self._pending, key=lambda one: (one.generation, one.lines[0][0])):
            last = entry.lines[-1][0]
            if entry.generation < self.generation or last <= self.head:
                continue
            new = [line for line in entry.lines if line[0] > self.head]
            if entry.generation > self.generation or last > self.reserved or new[0][0] != self.head + 1:
                left.append(entry)
            else:
                shown += new
                self.head = last
        self._pending = left
        self.wants_database = bool(left)
        return shown
