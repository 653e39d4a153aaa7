"""What a node shows of a run that another one writes, whatever its transport loses, repeats, delays and reorders."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from outlast.kernel.streams.live.redis_entries import entry_fields, entry_of
from outlast.kernel.streams.live.tail import MOST_LINES, Entry, Tail
from outlast.kernel.streams.log_store import Line

RESERVE = 12


def lines(first: int, last: int, generation: int = 1) -> list[Line]:
    return [(seq, b"%d/%d" % (generation, seq)) for seq in range(first, last + 1)]


def waits(tail: Tail) -> bool:
    return tail.wants_database


def test_the_next_lines_are_shown_and_others_wait_for_the_database() -> None:
    tail = Tail(10, 1, 100)
    assert tail.arrived([Entry(1, lines(11, 12))]) == lines(11, 12)
    assert tail.arrived([Entry(1, lines(15, 16))]) == []
    assert waits(tail)
    assert tail.place == (1, 16)
    assert tail.ask() == 12
    assert tail.saved(1, 100, lines(13, 13)) == lines(13, 13)
    assert waits(tail)
    assert tail.saved(1, 100, lines(14, 15)) == lines(14, 16)
    assert not waits(tail)
    assert tail.place == (1, 16)


def test_a_repeated_or_overlapping_entry_shows_only_what_is_new() -> None:
    tail = Tail(10, 1, 100)
    assert tail.arrived([Entry(1, lines(9, 11)), Entry(1, lines(11, 11)), Entry(1, lines(10, 13))]) == lines(11, 13)


def test_an_older_attempt_is_never_shown_after_a_newer_one() -> None:
    tail = Tail(10, 1, 100)
    tail.saved(2, 200, lines(101, 103, 2))
    assert tail.arrived([Entry(1, lines(104, 105))]) == []
    assert not waits(tail)


def test_a_newer_attempt_is_shown_once_the_database_names_it() -> None:
    tail = Tail(10, 1, 100)
    assert tail.arrived([Entry(2, lines(103, 104, 2))]) == []
    assert waits(tail)
    tail.ask()
    assert tail.saved(2, 200, lines(101, 102, 2)) == lines(101, 104, 2)


def test_what_the_database_does_not_confirm_is_dropped() -> None:
    tail = Tail(10, 1, 20)
    assert tail.arrived([Entry(1, lines(11, 21)), Entry(3, lines(11, 12, 3))]) == []
    tail.ask()
    assert tail.saved(1, 20, []) == []
    assert not waits(tail)


def test_what_came_while_the_database_was_asked_is_not_dropped_yet() -> None:
    tail = Tail(10, 1, 20)
    tail.ask()
    tail.arrived([Entry(1, lines(11, 21))])
    assert tail.saved(1, 20, []) == []
    assert waits(tail)
    tail.ask()
    assert tail.saved(1, 40, []) == lines(11, 21)


def test_only_so_many_lines_wait() -> None:
    tail = Tail(0, 1, 1 << 40)
    for first in range(2, 3 * MOST_LINES, 1_000):
        tail.arrived([Entry(1, lines(first, first + 999))])
    assert sum(len(entry.lines) for entry in tail._pending) <= MOST_LINES
    tail.ask()
    assert tail.saved(1, 1 << 40, lines(1, 3 * MOST_LINES))[-1][0] >= 3 * MOST_LINES


def test_an_entry_of_redis_is_read_as_it_was_written_and_nothing_else_is() -> None:
    some = [(7, b'{"a":1}'), (8, b"{}")]
    names = entry_fields(some)
    fields = {str(names[0]).encode(): str(names[1]).encode(), str(names[2]).encode(): bytes(names[3])}  # type: ignore[arg-type]
    assert entry_of(b"3-8", fields) == Entry(3, some)
    assert entry_of(b"3-9", fields) is None
    assert entry_of(b"x-8", fields) is None
    assert entry_of(b"3-8", {}) is None


class Machine(RuleBasedStateMachine):
    """A writer with its attempts, a database, a transport that keeps every entry, and a reader."""

    @initialize()
    def begin(self) -> None:
        self.generation, self.seq, self.reserved = 1, 1, RESERVE
        self.saved: list[Line] = []
        self.unsaved: list[Line] = []
        self.sent: list[Entry] = []
        self.zombie: tuple[int, int, int] | None = None  # an older attempt: generation, next number, reserved
        self.shown: list[Line] = []
        self.tail = Tail(0, 1, RESERVE)
        self.asking: tuple[int, int, list[Line]] | None = None

    @rule(count=st.integers(1, 4))
    def write(self, count: int) -> None:
        room = self.reserved - self.seq + 1
        new = lines(self.seq, self.seq + min(count, room) - 1, self.generation)
        if new:
            self.seq += len(new)
            self.unsaved += new
            self.sent.append(Entry(self.generation, new))

    @rule()
    def save(self) -> None:
        self.saved += self.unsaved
        self.unsaved = []
        self.reserved = max(self.reserved, self.seq - 1 + RESERVE)

    @rule()
    def take_over(self) -> None:
        """The next attempt, above everything that was reserved; what was not saved is lost, and the old one lives."""
        self.zombie = self.generation, self.seq, self.reserved
        self.generation, self.seq, self.unsaved = self.generation + 1, self.reserved + 1, []
        self.reserved += RESERVE
        first = lines(self.seq, self.seq, self.generation)  # `run.started`, saved before it is shown
        self.saved += first
        self.sent.append(Entry(self.generation, first))
        self.seq += 1

    @precondition(lambda self: self.zombie is not None)
    @rule(count=st.integers(1, 3))
    def write_late(self, count: int) -> None:
        assert self.zombie is not None
        generation, seq, reserved = self.zombie
        new = lines(seq, min(seq + count - 1, reserved), generation)
        if new:
            self.sent.append(Entry(generation, new))
            self.zombie = generation, seq + len(new), reserved

    @precondition(lambda self: self.sent)
    @rule(data=st.data())
    def receive(self, data: st.DataObject) -> None:
        at = data.draw(st.lists(st.integers(0, len(self.sent) - 1), min_size=1, max_size=4))
        self._show(self.tail.arrived([self.sent[one] for one in at]))

    @precondition(lambda self: self.sent)
    @rule(count=st.integers(1, 3))
    def receive_newest(self, count: int) -> None:
        self._show(self.tail.arrived(self.sent[-count:]))

    @precondition(lambda self: self.asking is None)
    @rule()
    def ask(self) -> None:
        after = self.tail.ask()
        self.asking = self.generation, self.reserved, [line for line in self.saved if line[0] > after]

    @precondition(lambda self: self.asking is not None)
    @rule()
    def be_answered(self) -> None:
        assert self.asking is not None
        answer, self.asking = self.asking, None
        self._show(self.tail.saved(*answer))

    def _show(self, new: list[Line]) -> None:
        for seq, body in new:
            assert int(body.split(b"/")[0]) >= self._newest_shown(), "an older attempt after a newer one"
            assert seq <= self.reserved
            self.shown.append((seq, body))

    def _newest_shown(self) -> int:
        return int(self.shown[-1][1].split(b"/")[0]) if self.shown else 0

    @invariant()
    def numbers_rise(self) -> None:
        numbers = [seq for seq, _ in getattr(self, "shown", [])]
        assert numbers == sorted(set(numbers))

    def teardown(self) -> None:
        if not hasattr(self, "tail"):
            return
        self.save()
        if self.asking is not None:
            self.be_answered()
        self.ask()
        self.be_answered()
        assert set(self.saved) <= set(self.shown), "everything that was saved is shown"


TestAnyOrder = Machine.TestCase
