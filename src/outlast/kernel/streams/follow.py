"""Everything after a cursor, then live: one code path for replay and for watching.

The iterators return ready server-sent-event frames, several joined into one chunk if several are due. They hold no lock
and no queue: a slow reader only reads its own pages later. `there` is the version of a channel at which its thread or
project was seen to exist: at any other version, an empty read may mean that it was deleted.

Cursors: a run's is its last event's number; a thread's is `T` or `T~run_id:N` (T its own log, N in the run that is
being shown) and opaque to clients; a project's is a number.
"""

import re
from collections.abc import AsyncIterator, Callable
from typing import Final, NamedTuple

import orjson
import sqlalchemy as sa

from outlast.base.errors import CursorUnknown
from outlast.base.lookups import demand_found
from outlast.base.records import dataclass
from outlast.db.database import Database, Tx
from outlast.kernel.projects.tables import projects
from outlast.kernel.runs.tables import runs
from outlast.kernel.streams.channel import NOTHING, Channel, Direct
from outlast.kernel.streams.fold import fold_deltas
from outlast.kernel.streams.hub import Hub, fresh
from outlast.kernel.streams.log_store import (
    PAGE_BLOCKS,
    PAGE_BYTES,
    Line,
    count_after,
    read_after,
    read_all,
    write_appended,
)
from outlast.kernel.streams.sse import event_frame, event_frames
from outlast.kernel.threads.tables import threads

FOLD_BEYOND: Final = 2_000  # events: a client further behind gets snapshots of parts instead of their deltas
_THREAD_CURSOR = re.compile(r"(\d{1,18})(?:~(run_[0-9a-z]{26}):(\d{1,18}))?")
Push = Callable[[bytes], bool]  # sends a chunk to a connection; False: not now
_ENDED_MARK = b'"event":"stream.ended"'


@dataclass(frozen=True, slots=True)
class ThreadCursor:
    """A follower's place in a thread: the number in the thread's own log, and the shown run with the number in its
    log."""

    seq: int
    run_id: str | None = None
    run_seq: int = 0

    def __str__(self) -> str:
        return f"{self.seq}~{self.run_id}:{self.run_seq}" if self.run_id else str(self.seq)


def parse_number(cursor: str) -> int:
    """A run's or project's cursor. Raises `CursorUnknown`."""
    if not cursor.isascii() or not cursor.isdigit() or len(cursor) > 18:
        raise CursorUnknown("The cursor is not from this stream.", cursor=cursor[:80])
    return int(cursor)


def parse_thread_cursor(cursor: str) -> ThreadCursor:
    """A thread's cursor. Raises `CursorUnknown`."""
    match = _THREAD_CURSOR.fullmatch(cursor)
    if match is None:
        raise CursorUnknown("The cursor is not from this stream.", cursor=cursor[:80])
    return ThreadCursor(int(match[1]), match[2], int(match[3] or 0))


class RunLog(NamedTuple):
    """The state of a run's log, and its owners."""

    id: str
    project_id: str
    thread_id: str
    leg: str
    seq_saved: int
    seq_reserved: int


class Page(NamedTuple):
    """The next lines of a run's log, whether these are all there are, and whether no more will follow."""

    lines: list[Line]
    is_all: bool
    ended: bool


def first_page(tx: Tx, run: RunLog, after: int) -> Page | None:
    """The first page after this cursor, or None if nothing is left."""
    if run.leg == "ended" and after >= run.seq_saved:
        return None
    return _page(tx, run.id, after, ended=run.leg == "ended")


def check_run_cursor(run: RunLog, after: int) -> None:
    """Refuse a cursor that cannot come from this run. Raises `CursorUnknown`."""
    if after > run.seq_reserved:  # not `seq_saved`: deltas are shown before they are saved
        raise CursorUnknown(f"The cursor {after} is beyond the run's last event ({run.seq_reserved}).", run_id=run.id)


def check_thread_cursor(tx: Tx, thread_id: str, cursor: ThreadCursor) -> None:
    """Refuse a cursor that cannot come from this thread. Raises `CursorUnknown`, `NotFound`."""
    last = demand_found(tx.value(threads.c.log_seq, {"id": thread_id}), "This thread does not exist.", id=thread_id)
    if cursor.seq > last:
        raise CursorUnknown(f"The cursor is beyond the thread's last event ({last}).", thread_id=thread_id)
    if cursor.run_id is not None:
        run = tx.find(RunLog, runs, {"id": cursor.run_id})
        if run is None or run.thread_id != thread_id:
            raise CursorUnknown("The cursor names a run of another thread.", thread_id=thread_id)
        check_run_cursor(run, cursor.run_seq)


def check_project_cursor(tx: Tx, project_id: str, after: int) -> None:
    last = demand_found(tx.value(projects.c.log_seq, {"id": project_id}), "This project does not exist.", id=project_id)
    if after > last:
        raise CursorUnknown(f"The cursor is beyond the project's last event ({last}).", project_id=project_id)


class _Cursor(NamedTuple):
    log_seq: int
    active_run_id: str | None


def thread_cursor(tx: Tx, thread_id: str) -> str:
    """The cursor to follow a thread from after reading it whole: it replays the active run from its start."""
    write_appended(tx)
    row = demand_found(tx.find(_Cursor, threads, {"id": thread_id}), "This thread does not exist.", id=thread_id)
    return str(ThreadCursor(row.log_seq, row.active_run_id))


async def follow_run(
    db: Database, hub: Hub, run_id: str, after: int, push: Push | None = None, page: Page | None = None
) -> AsyncIterator[bytes]:
    """Frames of one run after `after`, until its stream has ended. `page`: what `first_page` has read there.

    With `push`, live frames are sent there as long as it accepts them (they are not yielded then); it is only called
    while this iterator is being awaited.
    """
    with hub.listen(run_id) as channel:
        reader = _RunReader(db, channel, run_id, after, push, page)
        while not reader.done():
            version = channel.version  # before the read, as in all loops here: a ring during it is not missed
            body = await reader.read(b"")
            if body:
                yield body
            if reader.is_current and not reader.done():
                await reader.wait(version, b"")


async def follow_thread(
    db: Database, hub: Hub, thread_id: str, cursor: ThreadCursor, push: Push | None = None
) -> AsyncIterator[bytes]:
    """Frames of a thread and its runs after `cursor`, until it is deleted. Check the cursor first
    (`check_thread_cursor`); `push` as for `follow_run`.

    Order: a run's events in their order, the thread's in theirs; a fact that makes another run the active one comes
    only after the previous run's `stream.ended`. The cursor keeps naming a run that has ended until another one
    is named, so that later facts of the thread that still name it do not show it again.
    """
    with hub.listen(thread_id) as own:
        seen, whispered = cursor.seq, NOTHING
        shown = (cursor.run_id, cursor.run_seq) if cursor.run_id is not None else None
        there = -1
        while True:
            if shown is not None:
                async for body, reached, run_seq in _follow_active(db, hub, own, thread_id, seen, *shown, push):
                    seen, shown = reached, (shown[0], run_seq)
                    if body:
                        yield body
            named = None
            while named is None:
                version = own.version
                lines = await db.read(read_after, thread_id, seen)
                body, seen, named = _thread_frames(lines, seen, shown, False)
                if body:
                    yield body
                if own.whispers is not whispered:
                    body, whispered = fresh(own.whispers, whispered), own.whispers
                    if body:
                        yield body
                if lines:
                    there = version
                elif version != there and await db.read(_is_gone, threads, thread_id):
                    return
                else:
                    there = version
                    await own.wait(version)
            shown = (named, 0)


async def follow_project(db: Database, hub: Hub, project_id: str, after: int) -> AsyncIterator[bytes]:
    """Frames of a project's log after `after`, until it is deleted. Check the cursor first
    (`check_project_cursor`)."""
    there, whispered = -1, NOTHING
    with hub.listen(project_id) as channel:
        while True:
            version = channel.version
            lines = await db.read(read_after, project_id, after)
            if channel.whispers is not whispered:
                body, whispered = fresh(channel.whispers, whispered), channel.whispers
                if body:
                    yield body
            if lines:
                after, there = lines[-1][0], version
                yield event_frames(b"", lines)
            elif version != there and await db.read(_is_gone, projects, project_id):
                return
            else:
                there = version
                await channel.wait(version)


async def _follow_active(
    db: Database, hub: Hub, own: Channel, thread_id: str, seen: int, run_id: str, run_seq: int, push: Push | None
) -> AsyncIterator[tuple[bytes, int, int]]:
    """The thread while one run is shown, until the run's stream has ended: (frames, number seen in the thread's log,
    number seen in the run's log)."""
    whispered = NOTHING
    with hub.listen(run_id) as channel:
        channel.link(own)  # one wait for both: the thread's news wakes followers of the run
        try:
            reader = _RunReader(db, channel, run_id, run_seq, push)
            thread_version = -1
            while not reader.done():
                version = channel.version
                prefix = b"%d~%b:" % (seen, run_id.encode())
                body = await reader.read(prefix)
                if body:
                    yield body, seen, reader.after
                if reader.done():
                    break
                if not reader.is_current:
                    continue
                if own.version != thread_version:
                    thread_version = own.version
                    lines = await db.read(read_after, thread_id, seen)
                    body, seen, follower = _thread_frames(lines, seen, (run_id, reader.after), True)
                    if body:
                        yield body, seen, reader.after
                    if own.whispers is not whispered:
                        shown, whispered = fresh(own.whispers, whispered), own.whispers
                        if shown:
                            yield shown, seen, reader.after
                    if body or follower:
                        continue
                await reader.wait(version, prefix)
        finally:
            channel.unlink(own)


def _thread_frames(
    lines: list[Line], seen: int, shown: tuple[str, int] | None, live: bool
) -> tuple[bytes, int, str | None]:
    """Frames of a thread's own lines, up to a line that makes another run than `shown` the active one: while the shown
    run is `live`, without that line, otherwise with it. Returns the frames, the number seen, and that run."""
    frames: list[bytes] = []
    for seq, line in lines:
        named = _active_run(line)
        other = named is not None and (shown is None or named != shown[0])
        if other and live:
            return b"".join(frames), seen, named
        if named is not None and other:
            shown = (named, 0)
        cursor = ThreadCursor(seq, *shown) if shown is not None else ThreadCursor(seq)
        frames.append(event_frame(str(cursor).encode(), line))
        seen = seq
        if other:
            return b"".join(frames), seen, named
    return b"".join(frames), seen, None


def _active_run(line: bytes) -> str | None:
    if b'"event":"thread.updated"' not in line:
        return None
    run_id: str | None = orjson.loads(line)["data"]["thread"]["active_run_id"]
    return run_id


class _RunReader:
    """Reads one run's log for one follower: from memory where the live tail covers its cursor, else from the
    database."""

    def __init__(
        self, db: Database, channel: Channel, run_id: str, after: int, push: Push | None, page: Page | None = None
    ) -> None:
        self._db, self._channel, self._run_id, self._push, self._page = db, channel, run_id, push, page
        self.after = after
        self.ended = False
        self.is_current = False  # the last read had all that was there

    def done(self) -> bool:
        return self.ended

    async def read(self, prefix: bytes) -> bytes:
        """The frames that are due now; empty if none is."""
        channel = self._channel
        first, self._page = self._page, None
        # Checked again each time: the writer may have changed.
        if first is None and channel.covers(self.after) and not (channel.is_still and channel.head <= self.after):
            self.is_current = True
            if channel.head <= self.after:
                return b""
            self.after, body = channel.chunk(self.after, prefix)
            self.ended = channel.ended
            return body
        page = await self._db.read(_read_on, self._run_id, self.after) if first is None else first
        lines, is_all, self.ended = page
        if lines:
            self.after = lines[-1][0]
        if channel.writing:
            self.is_current = is_all and channel.head <= self.after  # else the tail is not saved yet
        else:
            # The first page was read before this follower listened: nothing rings for what was written in between.
            more_in_memory = channel.head > self.after and channel.covers(self.after)
            self.is_current = is_all and first is None and not more_in_memory
        if not lines:
            return b""
        self.ended = self.ended or _ENDED_MARK in lines[-1][1]
        return event_frames(prefix, lines)

    async def wait(self, version: int, prefix: bytes) -> None:
        """Wait until there is something to read; frames pushed meanwhile count as read."""
        if self._push is None:
            await self._channel.wait(version)
            return
        direct = Direct(self._push, prefix, self.after)
        try:
            await self._channel.wait(version, direct)
        finally:
            self.after = direct.after


def _is_gone(tx: Tx, table: sa.Table, owner_id: str) -> bool:
    return not tx.exists(table, {"id": owner_id})


def _read_on(tx: Tx, run_id: str, after: int) -> Page:
    # The end is read before the lines: of what is written between the two, nothing may be taken for read.
    return _page(tx, run_id, after, ended=tx.value(runs.c.leg, {"id": run_id}) in (None, "ended"))


def _page(tx: Tx, run_id: str, after: int, *, ended: bool) -> Page:
    lines, is_all = _read_folded(tx, run_id, after)
    return Page(lines, is_all, is_all and ended)


def _read_folded(tx: Tx, run_id: str, after: int) -> tuple[list[Line], bool]:
    lines = read_after(tx, run_id, after)
    is_all = len(lines) < PAGE_BLOCKS and sum(len(line) for _, line in lines) < PAGE_BYTES
    if (is_all and len(lines) <= FOLD_BEYOND) or count_after(tx, run_id, after) <= FOLD_BEYOND:
        return lines, is_all
    return [line for line in fold_deltas(read_all(tx, run_id)) if line[0] > after], True
