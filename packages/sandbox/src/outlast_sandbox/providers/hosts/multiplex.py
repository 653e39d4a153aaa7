"""Many connections to one container over the streams of one process in it, the relay (`local/inside/relay.py`).

All received data comes from inside a sandbox and is not trusted: frames, channels and what waits in them are bounded.
"""

import asyncio
import struct
from collections import deque
from collections.abc import Callable
from typing import Final

import anyio
from anyio.abc import ByteStream

from outlast_sandbox.providers.docker.connections import Streams
from outlast_sandbox.providers.local.inside.channels import CLOSE, DATA, END, HEAD, OPEN, OPENED, REFUSED, TAKEN, WINDOW

OUTER: Final = struct.Struct("!B3xI")  # the engine's own frames: which stream, length
MAX_PAYLOAD: Final = 1024 * 1024
MAX_CHANNELS: Final = 1024
PIECE: Final = 64 * 1024
READ_BYTES: Final = 256 * 1024
MAX_COMPLAINT: Final = 2000
_STDERR: Final = 2


class Refused(Exception):
    """The relay cannot open that connection: nothing listens there."""


class Multiplex:
    """One relay. `on_arrival` gets each connection that the sandbox opens outward. Ends with the engine's stream, and
    then all its channels do; `over` is set."""

    def __init__(self, streams: Streams, on_arrival: Callable[["ChannelStream"], None]) -> None:
        self._reader, self._writer = streams
        self._on_arrival = on_arrival
        self._channels: dict[int, ChannelStream] = {}
        self._next = 1  # ours are odd
        self._inner = bytearray()
        self.complaint = b""  # what the relay wrote to its error stream
        self.over = asyncio.Event()
        # It serves whichever caller is there, and ends with the engine's stream.
        self._reading = asyncio.ensure_future(self._read())  # noqa: TID251

    async def open(self, target: str) -> "ChannelStream":
        """A connection to `agent`, `egress` or a port. Raises `OSError` if the relay is gone, `Refused`. A cancelled
        call leaves nothing open."""
        if self.over.is_set() or len(self._channels) >= MAX_CHANNELS:
            raise ConnectionError("the relay is gone")
        number, self._next = self._next, self._next + 2
        channel = self._channels[number] = ChannelStream(self, number)
        try:
            await self.send(number, OPEN, target.encode())
            await channel.opened
        except BaseException:
            await channel.aclose()
            raise
        return channel

    async def send(self, number: int, kind: int, payload: bytes = b"") -> None:
        """Raises `OSError`."""
        if self.over.is_set():
            raise ConnectionError("the relay is gone")
        self._writer.write(HEAD.pack(number, kind, len(payload)) + payload)
        await self._writer.drain()

    def say(self, number: int, kind: int, payload: bytes = b"") -> None:
        """Send without waiting: for small frames."""
        if not self.over.is_set():
            self._writer.write(HEAD.pack(number, kind, len(payload)) + payload)

    def forget(self, number: int) -> None:
        self._channels.pop(number, None)

    def close(self) -> None:
        """End the relay. Idempotent."""
        self._reading.cancel()
        self._end()

    def _end(self) -> None:
        self.over.set()
        self._writer.close()
        for channel in list(self._channels.values()):
            channel.lost()
        self._channels.clear()

    async def _read(self) -> None:
        try:
            while True:
                stream, size = OUTER.unpack(await self._reader.readexactly(OUTER.size))
                while size:
                    data = await self._reader.read(min(size, READ_BYTES))
                    if not data:
                        return
                    size -= len(data)
                    if stream == _STDERR:
                        self.complaint = (self.complaint + data)[-MAX_COMPLAINT:]
                    else:
                        self._take(data)
        except (OSError, EOFError, ValueError):
            pass
        finally:
            self._end()

    def _take(self, data: bytes) -> None:
        """Raises `ValueError` for what no relay sends."""
        self._inner += data
        at = 0
        while len(self._inner) - at >= HEAD.size:
            number, kind, length = HEAD.unpack_from(self._inner, at)
            if length > MAX_PAYLOAD:
                raise ValueError("a frame is too long")
            end = at + HEAD.size + length
            if len(self._inner) < end:
                break
            self._frame(number, kind, bytes(self._inner[at + HEAD.size : end]))
            at = end
        del self._inner[:at]

    def _frame(self, number: int, kind: int, payload: bytes) -> None:
        if kind == OPEN:
            if number % 2 or number in self._channels or len(self._channels) >= MAX_CHANNELS:
                raise ValueError("a channel that cannot be")
            channel = self._channels[number] = ChannelStream(self, number)
            self._on_arrival(channel)
            return
        known = self._channels.get(number)
        if known is not None:
            known.arrived(kind, payload)


class ChannelStream(ByteStream):
    """One connection. Closing it closes it inside too."""

    def __init__(self, multiplex: Multiplex, number: int) -> None:
        self._multiplex = multiplex
        self._number = number
        self.opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._pieces: deque[bytes] = deque()
        self._waiting = 0
        self._room = WINDOW
        self._changed = asyncio.Event()
        self._ended = False  # the other side sends no more
        self._lost = False
        self._closed = False

    def arrived(self, kind: int, payload: bytes) -> None:
        """A frame of this channel. Raises `ValueError` if more comes than was allowed."""
        if kind == DATA and not self._closed:
            self._pieces.append(payload)
            self._waiting += len(payload)
            if self._waiting > WINDOW:
                raise ValueError("more data than was allowed")
        elif kind == TAKEN:
            self._room += int.from_bytes(payload[:4], "big")
        elif kind == OPENED and not self.opened.done():
            self.opened.set_result(None)
        elif kind == REFUSED and not self.opened.done():
            self.opened.set_exception(Refused(payload.decode("utf-8", "replace")[:200]))
        elif kind == END:
            self._ended = True
        elif kind == CLOSE:
            self._multiplex.forget(self._number)
            self.lost()
        self._changed.set()

    def lost(self) -> None:
        self._lost = self._ended = True
        if not self.opened.done():
            self.opened.set_exception(ConnectionError("the relay is gone"))
            self.opened.exception()  # its caller may be gone
        self._changed.set()

    async def receive(self, max_bytes: int = PIECE) -> bytes:
        while not self._pieces:
            if self._closed:
                raise anyio.ClosedResourceError
            if self._ended:
                raise anyio.EndOfStream
            self._changed.clear()
            await self._changed.wait()
        data = self._pieces.popleft()
        if len(data) > max_bytes:
            self._pieces.appendleft(data[max_bytes:])
            data = data[:max_bytes]
        self._waiting -= len(data)
        self._multiplex.say(self._number, TAKEN, len(data).to_bytes(4, "big"))
        return data

    async def send(self, item: bytes) -> None:
        rest = memoryview(item)
        while rest:
            if self._closed:
                raise anyio.ClosedResourceError
            if self._lost:
                raise anyio.BrokenResourceError
            if self._room <= 0:
                self._changed.clear()
                await self._changed.wait()
                continue
            piece = rest[: min(len(rest), self._room, PIECE)]
            rest = rest[len(piece) :]
            self._room -= len(piece)
            try:
                await self._multiplex.send(self._number, DATA, bytes(piece))
            except OSError as error:
                raise anyio.BrokenResourceError from error

    async def send_eof(self) -> None:
        self._multiplex.say(self._number, END)

    async def aclose(self) -> None:
        if self._closed:
            return
        self._closed = True
        self._pieces.clear()
        self._changed.set()
        if not self.opened.done():
            self.opened.cancel()
        if not self._lost:
            self._multiplex.say(self._number, CLOSE)
            self._multiplex.forget(self._number)
