"""One stream's live tail: memory that can be lost at any time without loss of data.

A channel keeps the encoded lines of one stream since a *base*; a follower whose cursor is at or above the base reads
from memory, any other from the database. One encoded chunk is shared by all followers at the same cursor.

Followers are woken at once when the channel is quiet, and at most every tick under load. One that is up to date is not
even woken: the chunk goes straight to its connection (`Direct`), for half the work of waking its task. It wakes for
other news, at the end of the stream, or when its connection does not accept the chunk at once.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from outlast.base.records import dataclass
from outlast.kernel.streams.log_store import Line
from outlast.kernel.streams.sse import event_frames

log: Final = logging.getLogger("outlast.streams")
TAIL_LINES: Final = 20_000  # kept in memory per live stream at most, about 5 MB
TICK_PER_FOLLOWER_S: Final = 0.00002
MIN_TICK_S: Final = 0.002
MAX_TICK_S: Final = 0.05
NOTHING: Final[Mapping[str, bytes]] = {}  # no whisper of any topic yet


@dataclass(slots=True)
class Direct:
    """A waiting follower's place (`after`, its frames' prefix) and the function that sends a chunk to its connection:
    `push` returns True if the connection accepted it."""

    push: Callable[[bytes], bool]
    prefix: bytes
    after: int


class Channel:
    """One stream's live tail and its waiting followers. Only ever touched on the event loop."""

    __slots__ = (
        "_chunks", "_first", "_lines", "_links", "_other_news", "_scheduled", "_seen", "_waiters", "_woken_at",
        "base", "carry", "ended", "fed", "followers", "generation", "head", "is_still", "stream_id", "version",
        "whispers", "writing",
    )  # fmt: skip

    def __init__(self, stream_id: str) -> None:
        self.stream_id = stream_id
        self.writing = False  # a writer in this process publishes here
        self.fed = False  # filled from a writer on another node (`live`)
        self.carry: Callable[[Sequence[Line]], None] | None = None  # takes the lines that are shown to other nodes
        self.generation = 0  # of that writer: any other publishes and closes nothing any more
        self.base = 0  # memory holds every line above this number; meaningful only while `writing` or `fed`
        self.head = 0
        self.ended = False  # the last line published ends the stream
        self.followers = 0
        self.version = 0  # grows with every ring, so that no ring between a read and a wait is missed
        self.is_still = False  # nothing has come for so long that followers look into the database as well
        self._seen = -1  # the version at the last look for channels that are still
        self.whispers = NOTHING  # by topic, the newest frame without a number (presence)
        self._links: list[Channel] = []  # channels that ring this one's followers too
        self._lines: list[Line] = []
        self._first = 0  # numbers are consecutive within `_lines`: index = seq - first
        self._chunks: dict[tuple[int, bytes], tuple[int, bytes]] = {}
        self._waiters: list[tuple[asyncio.Future[None], Direct | None]] = []
        self._other_news = False  # other than lines: every follower has to check
        self._woken_at = 0.0
        self._scheduled = False

    def open(self, base: int, generation: int) -> None:
        """A writer begins, and replaces any other: everything up to `base` is in the database."""
        self.writing, self.fed, self.carry, self.generation = True, False, None, generation
        self._begin(base)

    def feed(self, base: int) -> None:
        """Lines of a writer on another node come from now on: everything up to `base` is in the database."""
        self.fed = True
        self._begin(base)
        self.ring()  # followers that waited for the database are there, or read on from it

    def _begin(self, base: int) -> None:
        self.base, self.head, self.ended = base, base, False
        self._lines, self._first = [], 0
        self._chunks.clear()

    def close(self) -> None:
        """The writer, or what fed the channel, has ended and everything is saved: followers continue from the
        database."""
        self.writing = self.fed = False
        self.carry = None
        self._lines = []
        self._chunks.clear()
        self.ring()  # waiting followers read the rest from the database

    def publish(self, lines: Sequence[Line]) -> None:
        """Add lines (numbers consecutive, following the last) and wake the followers."""
        if not lines:
            return
        if not self._lines:
            self._first = lines[0][0]
        self._lines.extend(lines)
        self.head, self.is_still = lines[-1][0], False
        self.ended = b'"event":"stream.ended"' in lines[-1][1]
        if self.followers:
            self._ring()
        if self.carry is not None:
            self.carry(lines)

    def publish_on(self, lines: Sequence[Line]) -> None:
        """As `publish`, where numbers may be left out: between attempts there are none."""
        start = 0
        for at, (seq, _) in enumerate(lines):
            before = lines[at - 1][0] if at else self.head
            if seq == before + 1:
                continue
            self.publish(lines[start:at])
            start = at
            if self._lines:  # numbers in memory are consecutive; earlier ones are in the database
                self._lines, self.base = [], self.head
                self._chunks.clear()
        self.publish(lines[start:])

    def covers(self, after: int) -> bool:
        """True if memory holds every line above this number. False above the last one: the cursor is of another
        attempt, which may be writing elsewhere."""
        return (self.writing or self.fed) and self.base <= after <= self.head

    def trim(self, saved: int) -> None:
        """Lines up to `saved` are in the database; drop the oldest of them beyond `TAIL_LINES`."""
        excess = min(len(self._lines) - TAIL_LINES, saved - self._first + 1)
        if excess > TAIL_LINES // 4:  # rarely and in large steps: the rest moves to the list's front each time
            del self._lines[:excess]
            self._first += excess
            self.base = self._first - 1

    def chunk(self, after: int, prefix: bytes) -> tuple[int, bytes]:
        """SSE frames of every line above `after` (which must be ≥ base), ids prefixed; with the last number."""
        key = (after, prefix)
        cached = self._chunks.get(key)
        if cached is not None and cached[0] == self.head:
            return cached
        start = max(after + 1 - self._first, 0)
        body = event_frames(prefix, self._lines[start:])
        if len(self._chunks) > 64:  # followers at many places: most chunks are never requested again
            self._chunks.clear()
        self._chunks[key] = (self.head, body)
        return self.head, body

    def link(self, other: "Channel") -> None:
        """Make news of `other` wake this channel's followers as well (a thread's news, while its run is shown)."""
        other._links.append(self)

    def unlink(self, other: "Channel") -> None:
        other._links.remove(self)

    def ring(self) -> None:
        """Wake every waiting follower: now if the channel was quiet, else at the next tick."""
        self._other_news = True
        self._ring()

    def _ring(self) -> None:
        self.version += 1
        for linked in self._links:
            linked.ring()
        if not self._waiters or self._scheduled:
            return
        loop = asyncio.get_running_loop()
        tick = min(max(self.followers * TICK_PER_FOLLOWER_S, MIN_TICK_S), MAX_TICK_S)
        wait = self._woken_at + tick - loop.time()
        if wait <= 0:
            self._wake()
        else:
            self._scheduled = True
            loop.call_later(wait, self._wake)

    def look_again(self) -> None:
        """If nothing has come since the last call, wake the followers to look into the database."""
        if self.followers and self.version == self._seen:
            self.is_still = True
            self.ring()
        self._seen = self.version

    async def wait(self, version: int, direct: Direct | None = None) -> None:
        """Return once the channel has rung since this version (at once if it already has). With `direct`, lines that
        its connection accepts are no reason to return; `direct` then holds the number that they reached."""
        while self.version == version:
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiters.append((waiter, direct))
            try:
                await waiter
            finally:
                if not waiter.done() or waiter.cancelled():
                    self._waiters = [other for other in self._waiters if other[0] is not waiter]

    def _wake(self) -> None:
        self._scheduled = False
        self._woken_at = asyncio.get_running_loop().time()
        only_lines = (self.writing or self.fed) and not self.ended and not self._other_news
        self._other_news = False
        waiters, self._waiters = self._waiters, []  # followers that wait again from here on wait for the next ring
        after, prefix, body = (self.head, b"", b"")  # most followers are at the same place: its chunk, looked up once
        for entry in waiters:
            waiter, direct = entry
            if waiter.done():
                continue
            if only_lines and direct is not None and direct.after >= self.base:
                if direct.after != after or direct.prefix != prefix:
                    after, prefix = direct.after, direct.prefix
                    body = self.chunk(after, prefix)[1]
                if not body or _takes(direct, body):
                    direct.after = max(direct.after, self.head)  # it may have read more in the database, or elsewhere
                    self._waiters.append(entry)
                    continue
            waiter.set_result(None)


def _takes(direct: Direct, body: bytes) -> bool:
    """True if the connection accepted the chunk. A failure affects only its own follower, who is woken, and neither the
    other followers nor the run that is being written."""
    try:
        return direct.push(body)
    except Exception as error:
        log.warning("a connection took no chunk", exc_info=error)
        return False
