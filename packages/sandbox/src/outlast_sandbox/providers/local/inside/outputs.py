"""Unread output of an interactive process: a bounded log and its followers.

Followers pull: each requests the next piece once it has processed the one before, and reports its position. While a
follower lags by more than is kept, or before the first one connects, the process is not read, so it waits. The wait is
bounded: a follower that requests nothing for `STALL_S` no longer counts, and loses the oldest bytes.
"""

from __future__ import annotations

from collections import deque

from .sessions import Session

TYPE_CHECKING = False  # importing `typing` would cost every sandbox 3 ms of its start
if TYPE_CHECKING:
    from typing import Any, Callable, Optional

    from .loop import Loop, Timer
    from .main import Connection

KEPT_BYTES = 256 * 1024
KEPT_PARTS = 4096
JOINED_BYTES = 32 * 1024
PIECE_BYTES = 128 * 1024
STALL_S = 10.0


class Part:
    """Bytes of one stream; `offset` counts all bytes of all streams before them."""

    __slots__ = ("data", "offset", "stream")

    def __init__(self, offset: int, stream: str, data: bytes) -> None:
        self.offset = offset
        self.stream = stream
        self.data = bytearray(data)


class Log:
    """The bytes from `start` to `end`, in the order they came, each with its stream."""

    def __init__(self) -> None:
        self._parts: deque[Part] = deque()
        self.start = 0
        self.end = 0

    @property
    def part_count(self) -> int:
        return len(self._parts)

    def add(self, stream: str, data: bytes) -> None:
        last = self._parts[-1] if self._parts else None
        if last is not None and last.stream == stream and len(last.data) < JOINED_BYTES:
            last.data += data
        else:
            self._parts.append(Part(self.end, stream, data))
        self.end += len(data)

    def take(self, position: int, limit: int) -> tuple[list[tuple[str, bytes]], int]:
        """(at most `limit` bytes from `position` on, by stream; the position after them)."""
        pieces: list[tuple[str, bytes]] = []
        for part in self._parts:
            if limit <= 0:
                break
            data = bytes(part.data[max(0, position - part.offset) :][:limit])
            if data:
                pieces.append((part.stream, data))
                position = max(position, part.offset) + len(data)
                limit -= len(data)
        return pieces, position

    def forget(self, position: int) -> None:
        """Drop the bytes before `position`."""
        while self._parts and self._parts[0].offset < position:
            part = self._parts[0]
            if part.offset + len(part.data) > position:
                del part.data[: position - part.offset]
                part.offset = position
            else:
                self._parts.popleft()
        self.start = max(self.start, min(position, self.end))

    def shrink(self) -> None:
        """Drop the oldest bytes until no more is left than is kept without a follower."""
        self.forget(self.end - KEPT_BYTES)
        while len(self._parts) > KEPT_PARTS:
            self.forget(self._parts[1].offset)


class Outputs:
    """A log with its followers. `hold(True)` is called when nothing more should be added for now, `hold(False)` when
    reading continues."""

    def __init__(self, loop: Loop, hold: Callable[[bool], None]) -> None:
        self._loop = loop
        self._hold = hold
        self._held: Optional[Timer] = None
        self._read = 0
        self._expected = True  # its client is about to follow, so it waits for a first follower too
        self.log = Log()
        self.end: Optional[dict[str, Any]] = None
        self.followers: list[Follower] = []
        self.end_told = False

    def add(self, stream: str, data: bytes) -> None:
        self.log.add(stream, data)
        self._pump()
        self._adjust()

    def finish(self, **end: Any) -> None:
        """Mark the end of the output; each follower receives the end after the remaining bytes."""
        self.end = end
        self._release()
        self._pump()
        self._adjust()

    def follow(self, connection: Connection) -> None:
        """Answer the connection's further requests with the unread output, and with new output as it comes."""
        self._expected = False
        follower = Follower(self, connection, max(self._read, self.log.start))
        self.followers.append(follower)
        connection.begin(follower)
        connection.reply(end=False, offset=follower.position)

    def confirmed(self, position: int) -> None:
        self._read = max(self._read, min(position, self.log.end))
        self._adjust()

    def remove(self, follower: Follower) -> None:
        if follower in self.followers:
            self.followers.remove(follower)
        self._adjust()

    def _pump(self) -> None:
        for follower in list(self.followers):
            follower.pump()

    def _adjust(self) -> None:
        """Drop bytes that no follower needs; pause or resume reading."""
        waited_for = [follower for follower in self.followers if not follower.stalled]
        self._forget(waited_for)
        positions = [follower.position for follower in waited_for] + ([0] if self._expected else [])
        lag = self.log.end - min(positions, default=self.log.end)
        full = lag >= KEPT_BYTES or (positions and self.log.part_count >= KEPT_PARTS)
        if self.end is not None or not full:
            self._release()
        elif self._held is None:
            for follower in waited_for:
                follower.asked = False
            self._held = self._loop.after(STALL_S, self._stalled)
            self._hold(True)

    def _forget(self, waited_for: list[Follower]) -> None:
        log = self.log
        if len(waited_for) == len(self.followers):
            log.forget(min((follower.confirmed for follower in waited_for), default=self._read))
        else:  # stalled followers get only as much as is kept without a follower
            needed = min((follower.confirmed for follower in waited_for), default=log.end)
            many = log.part_count >= KEPT_PARTS and waited_for
            log.forget(needed if many else min(needed, log.end - KEPT_BYTES))
        if not waited_for and not self._expected:
            log.shrink()

    def _release(self) -> None:
        if self._held is not None:
            self._held.cancel()
            self._held = None
            self._hold(False)

    def _stalled(self) -> None:
        self._expected = False
        for follower in self.followers:
            follower.stalled = not follower.asked and not follower.waiting
        self._release()
        self._adjust()


class Follower(Session):
    """One connection that follows. `position`: sent so far; `confirmed`: processed by its reader."""

    def __init__(self, outputs: Outputs, connection: Connection, position: int) -> None:
        self._outputs = outputs
        self._connection = connection
        self.position = position
        self.confirmed = position
        self.waiting = False
        self.asked = True
        self.stalled = False

    def proceed(self, request: dict[str, Any], _payload: bytes) -> None:
        self.confirmed = max(self.confirmed, min(int(request["read"]), self.position))
        self.waiting = self.asked = True
        self.stalled = False
        self._outputs.confirmed(self.confirmed)
        self.pump()
        self._outputs.confirmed(self.confirmed)

    def pump(self) -> None:
        if not self.waiting:
            return
        log = self._outputs.log
        start = max(self.position, log.start)
        parts, after = log.take(start, PIECE_BYTES)
        if parts:
            self.waiting = False
            skipped, self.position = start - self.position, after
            sizes = [(stream, len(data)) for stream, data in parts]
            payload = b"".join(data for _, data in parts)
            self._connection.reply(payload, end=False, parts=sizes, skipped=skipped, offset=start)
        elif self._outputs.end is not None:
            self.waiting = False
            self._outputs.end_told = True
            self._connection.finish(**self._outputs.end)
            self._outputs.remove(self)

    def close(self) -> None:
        self.waiting = False
        self._outputs.remove(self)
