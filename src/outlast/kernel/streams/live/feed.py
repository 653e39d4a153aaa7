"""Fills the channel of a run that is followed here and written elsewhere: one reader for all its followers."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from outlast.db.database import Database, Tx
from outlast.kernel.runs.tables import runs
from outlast.kernel.streams.channel import Channel
from outlast.kernel.streams.live.tail import Entry, Tail
from outlast.kernel.streams.log_store import Line, read_after

ENDED: Final = "ended"


class RunState(NamedTuple):
    """The run as its row has it."""

    attempt: int
    leg: str
    seq_saved: int
    seq_reserved: int


class Feed:
    """One channel's feed. `is_stopped` once the channel has no followers, or a writer here."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self.run_id = channel.stream_id
        self.tail: Tail | None = None  # until its first read
        self.is_stopped = False
        self.is_reading = False
        self.again = False  # news came during a read
        self.has_asked = False  # the database was asked for what the transport lacks

    async def read(self, db: Database) -> bool:
        """Take in what is new in the database; True if there is more. The feed stops at the run's end: its followers
        read the rest themselves. Raises `StorageUnavailable`."""
        tail = self.tail
        if tail is None:
            state = await db.read(_state_of, self.run_id)
            if not self.is_stopped:
                self._begin(state)
            return self.tail is not None  # again: nothing rang here for what was saved in between
        state, lines, is_all = await db.read(_read_on, self.run_id, tail.ask())
        if self.is_stopped:
            return False
        if state is None or (is_all and state.leg == ENDED):
            self.stop()
            self.channel.publish_on([line for line in lines if line[0] > tail.head])
            self.channel.close()
            return False
        self._show(tail.saved(state.attempt, state.seq_reserved, lines))
        self.channel.trim(state.seq_saved)
        return not is_all

    def arrived(self, entries: Sequence[Entry]) -> None:
        """Lines from the transport, which may be any."""
        if self.tail is not None and not self.is_stopped:
            self._show(self.tail.arrived(entries))

    def stop(self) -> None:
        self.is_stopped = True

    def _begin(self, state: RunState | None) -> None:
        if state is None or state.leg == ENDED:
            self.stop()
            self.channel.ring()
            return
        self.tail = Tail(state.seq_saved, state.attempt, state.seq_reserved)
        self.channel.feed(state.seq_saved)

    def _show(self, lines: list[Line]) -> None:
        if lines:
            self.channel.publish_on(lines)


def _state_of(tx: Tx, run_id: str) -> RunState | None:
    return tx.find(RunState, runs, {"id": run_id})


def _read_on(tx: Tx, run_id: str, after: int) -> tuple[RunState | None, list[Line], bool]:
    # The row before the lines: of what is written between the two, nothing may be taken for read.
    state = _state_of(tx, run_id)
    if state is None or state.seq_saved <= after:
        return state, [], True
    lines = read_after(tx, run_id, after)
    return state, lines, not lines or lines[-1][0] >= state.seq_saved
