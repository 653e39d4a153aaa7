"""The only writer of a running run's log.

Facts are committed before they are shown (`record`); deltas and the parts that they begin are shown at once and saved
by the flusher within `save_interval_s` (`stream`). Numbers are reserved ahead: a reservation is committed before any of
its numbers is sent, so an attempt that starts above the reservation never uses a number twice. Every write names its
attempt and is refused (`FenceLost`) once another attempt has begun.
"""

import logging
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

import anyio
import orjson
import sqlalchemy as sa

from outlast.base.clock import Clock, iso
from outlast.base.errors import FenceLost, OutlastError, StorageUnavailable
from outlast.db.database import Database, Tx
from outlast.kernel.runs.tables import runs
from outlast.kernel.streams.channel import Channel
from outlast.kernel.streams.hub import Hub
from outlast.kernel.streams.live.memory import MemoryLive
from outlast.kernel.streams.live.port import Live
from outlast.kernel.streams.log_store import Line, NamedEvent, encode, encode_all, save

T = TypeVar("T")
StreamedDelta = tuple[str, str, str]  # event name, part id, text
Streamed = StreamedDelta | NamedEvent  # a delta, or the beginning of its part
log: Final = logging.getLogger("outlast.streams")
RESERVE: Final = 5_000  # numbers reserved ahead; gaps in the numbers cost nothing
QUICK_SAVE_S: Final = 0.1  # the save interval of text that followers on other nodes see only once it is saved
LOW_WATER: Final = 2_000  # with fewer left, the next save reserves more, and is done early
_DELTA_LINE: Final = (
    b'{"id":"%b:%d","event":"%b","data":{"part_id":"%b","delta":%b},"timestamp":"%b","sequenceNumber":%d}'
)


# Built once: building a statement takes longer than running it.
_OWN: Final = runs.c.id == sa.bindparam("run")
_HELD: Final = sa.and_(_OWN, runs.c.attempt == sa.bindparam("held_by"), runs.c.leg == "held")
_CHECK: Final = sa.select(runs.c.id).where(_HELD).with_for_update()
_SAVED: Final[dict[str, Any]] = {"seq_saved": sa.bindparam("end"), "seq_reserved": sa.bindparam("reserved_to")}
_ADVANCE: Final = sa.update(runs).where(_OWN).values(_SAVED)
_ADVANCE_HELD: Final = sa.update(runs).where(_HELD).values(_SAVED)


class RunWriter:
    """Writes the log of one run for one attempt. Created by the worker after its claim; `open` before its first write,
    `close` when the leg ends. Once a newer attempt has opened its writer in this process, this one shows nothing more.

    `saved` is the last number in the database before the claim, `next_seq` the first after it, `reserved` the last one
    reserved. `shown`: lines that the claim has saved, the first of them numbered `next_seq`.
    """

    def __init__(
        self, db: Database, hub: Hub, clock: Clock, run_id: str, attempt: int, saved: int, next_seq: int, reserved: int,
        shown: Sequence[Line] = (),
    ) -> None:  # fmt: skip
        self.run_id = run_id
        self.attempt = attempt
        self._db, self._hub, self._clock = db, hub, clock
        self._seq = next_seq + len(shown)
        self._first = shown
        self._reserved = reserved
        self._saved = saved
        self._channel = Channel(run_id)  # not the hub's, until `open`
        self._unsaved: list[Line] = []
        self._held: list[Streamed] = []  # what waits for a commit
        self._recording = False
        self._failed = False  # a record failed: this attempt may show nothing more
        self._turn = anyio.Lock()
        self.hurry: Callable[[], None] = lambda: None  # asks the flusher for an early save: few numbers are left
        self._stamp = (0.0, b"")

    def open(self) -> None:
        """Become the one writer of the run in this process."""
        self._channel = self._hub.write(self.run_id, self._saved, self.attempt)
        self._show(self._first)

    @property
    def dirty(self) -> bool:
        return bool(self._unsaved or self._held)

    def stream(self, items: Sequence[Streamed]) -> None:
        """Show deltas and the parts that they belong to at once (or right after the current commit), with one wake-up
        for all. Never blocks; saved within the save interval."""
        if self._failed:
            return
        # Also beyond the reservation: a number that is shown but not reserved could be used again after a kill.
        if self._recording or self._held or self._seq + len(items) > self._reserved + 1:
            self._held.extend(items)
        else:
            self._publish([self._encode(item) for item in items])
        if self._reserved - self._seq < LOW_WATER:
            self.hurry()

    async def record(self, events: Sequence[NamedEvent], change: Callable[[Tx], T], last: bool = False) -> T:
        """Save the streamed text, these facts, and `change`, in one fenced transaction; then show the facts.

        `events` may be a list that `change` adds to. `last`: the leg ends with this record, and no further numbers stay
        reserved. Raises `FenceLost` if another attempt owns the run, `StorageUnavailable` or `DiskFull` if nothing was
        saved, or the error of `change`; then this writer records nothing more. If it is cancelled after it has begun,
        it finishes first.
        """
        async with self._turn:
            if self._failed:
                raise StorageUnavailable(f"An earlier save of attempt {self.attempt} failed.", run_id=self.run_id)
            self._recording = True  # these facts take the next numbers: deltas wait for the commit
            unsaved, self._unsaved = self._unsaved, []
            shown: list[Line] = []

            def commit(tx: Tx) -> T:
                self._check_fence(tx)  # and locks the row: a takeover came before, or waits
                result = change(tx)
                lines = encode_all(self.run_id, self._seq, events, tx.now)
                save(tx, self.run_id, unsaved + lines)
                end = self._seq + len(lines) - 1
                reserved = end if last else self._reserve(end)
                tx.execute(_ADVANCE, {"run": self.run_id, "end": end, "reserved_to": reserved})
                if self._db.dialect == "postgresql":
                    tx.ring(self.run_id)  # other processes read these lines from the database
                shown[:] = lines  # of the last try: a lost connection runs this function again
                tx.after_commit(lambda: self._committed(shown, reserved))
                return result

            try:
                # Shielded: after a cancel in the middle it would be unknown which numbers are used.
                with anyio.CancelScope(shield=True):
                    result = await self._db.write(commit)
            except BaseException:  # it may be committed: these numbers may be used, so this attempt uses no more
                self._failed = True
                raise
            finally:
                self._recording = False
            self._release_held()
            return result

    def _reserve(self, end: int) -> int:
        return end + RESERVE if self._reserved - end < LOW_WATER else self._reserved

    def _committed(self, lines: list[Line], reserved: int) -> None:
        self._seq += len(lines)  # only now: after a failed commit these numbers would not be used
        self._reserved = reserved
        self._channel.trim(self._seq - 1)
        self._show(lines)

    async def flush(self) -> None:
        """Save the text streamed until now. Text that streams meanwhile is shown as usual, and left to the next flush:
        a fast model never keeps one running. Raises and may be cancelled as `record`."""
        async with self._turn:
            if not self.dirty or self._failed:
                return
            unsaved, self._unsaved = self._unsaved, []
            end = self._seq - 1  # text streamed during the commit has higher numbers
            reserved = self._reserve(end)

            def commit(tx: Tx) -> None:
                values = {"run": self.run_id, "held_by": self.attempt, "end": end, "reserved_to": reserved}
                if not tx.execute(_ADVANCE_HELD, values).rowcount:
                    raise self._fence_lost()
                save(tx, self.run_id, unsaved)
                if self._db.dialect == "postgresql":
                    tx.ring(self.run_id)
                tx.after_commit(lambda: self._flushed(end, reserved))

            try:
                await self._db.write(commit)
            except BaseException:  # as in `record`
                self._failed = True
                raise
            self._release_held()

    def _flushed(self, end: int, reserved: int) -> None:
        self._reserved = reserved
        self._channel.trim(end)

    def close(self) -> None:
        """The leg has ended: followers continue from the database. Unsaved deltas are dropped (a cut step is asked
        again)."""
        self._hub.unwrite(self.run_id, self.attempt)

    def _check_fence(self, tx: Tx) -> None:
        if tx.execute(_CHECK, {"run": self.run_id, "held_by": self.attempt}).scalar() is None:
            raise self._fence_lost()

    def _fence_lost(self) -> FenceLost:
        return FenceLost(f"Attempt {self.attempt} no longer holds this run.", run_id=self.run_id)

    def _encode(self, item: Streamed) -> Line:
        seq = self._seq
        self._seq += 1
        if len(item) == 2:
            return seq, encode(self.run_id, seq, *item, self._timestamp().decode())
        event, part_id, text = item
        return seq, _DELTA_LINE % (
            self.run_id.encode(), seq, event.encode(), part_id.encode(), orjson.dumps(text), self._timestamp(), seq,
        )  # fmt: skip

    def _timestamp(self) -> bytes:
        tick = self._clock.monotonic()
        if tick - self._stamp[0] >= 0.001 or not self._stamp[1]:
            self._stamp = (tick, iso(self._clock.now()).encode())
        return self._stamp[1]

    def _publish(self, lines: list[Line]) -> None:
        self._unsaved.extend(lines)
        self._show(lines)

    def _show(self, lines: Sequence[Line]) -> None:
        if self._channel.generation == self.attempt:  # otherwise a newer attempt in this process shows the run
            self._channel.publish(lines)

    def _release_held(self) -> None:
        room = self._reserved - self._seq + 1
        ready, self._held = self._held[:room], self._held[room:]
        if ready:
            self._publish([self._encode(item) for item in ready])
        if self._held:
            self.hurry()


class Flusher:
    """Saves the streamed text of this process's writers, every `interval_s` while there is something to save; every
    `QUICK_SAVE_S` that of runs for which `live` needs it."""

    def __init__(self, interval_s: float, live: Live | None = None) -> None:
        self._interval_s = interval_s
        self._live = live or MemoryLive()
        self._live.on_urgent(self._hurry_up)
        self._writers: set[RunWriter] = set()
        self._work = anyio.Event()
        self._hurry = anyio.Event()

    def add(self, writer: RunWriter) -> None:
        writer.hurry = self._hurry_up
        self._writers.add(writer)
        self._work.set()

    def remove(self, writer: RunWriter) -> None:
        self._writers.discard(writer)

    async def run(self) -> None:
        """Until cancelled. Without an active run it only waits."""
        while True:
            await self._work.wait()
            saved_at = anyio.current_time()
            while self._writers:
                soon = {writer for writer in self._writers if self._live.saves_soon(writer.run_id)}
                with anyio.move_on_after(min(QUICK_SAVE_S, self._interval_s) if soon else self._interval_s):
                    await self._hurry.wait()
                now = anyio.current_time()
                if not soon or self._hurry.is_set() or now - saved_at >= self._interval_s:
                    soon, saved_at = self._writers, now
                self._hurry = anyio.Event()  # before the saves: a request during one is not missed
                async with anyio.create_task_group() as group:
                    for writer in [writer for writer in soon if writer.dirty]:
                        group.start_soon(_flush, writer)
            self._work = anyio.Event()

    def _hurry_up(self) -> None:
        self._hurry.set()


async def _flush(writer: RunWriter) -> None:
    """The leg handles a failed flush, whatever the error, and no other run is affected: its next record fails the same
    way and the run is resumed."""
    try:
        await writer.flush()
    except Exception as error:
        trace = None if isinstance(error, OutlastError | OSError) else error  # only for our bugs
        log.warning("streamed text not saved", extra={"run_id": writer.run_id}, exc_info=trace)
