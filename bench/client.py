"""The measuring client: followers that count and time every token, and a small JSON client with keep-alive.

A follower runs two regular expressions a read, so that 25,000 events a second cost it half a core. Each token carries
the time at which it left the model server, on the machine's monotonic clock, and its index. So latency, losses and
duplicates come from the text alone, independent of the server's own numbers.
"""

import asyncio
import re
import time
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import anyio
import orjson

_TOKEN: Final = re.compile(rb'"delta": ?"(?:r\d+ )?t(\d+)\.(\d+) "')
_ARRIVED: Final = re.compile(rb'"delta": ?"r(\d+) ')
_ENDED: Final = re.compile(rb'"event": ?"stream\.ended"')


@dataclass(slots=True)
class Tally:
    """Results of one or many followers: latencies in ns, tokens lost (a skipped index) and doubled (a repeated one)."""

    latencies_ns: "array[int]" = field(default_factory=lambda: array("q"))
    tokens: int = 0
    lost: int = 0
    doubled: int = 0

    def clear(self) -> None:
        self.latencies_ns = array("q")
        self.tokens = 0

    def latency_ms(self, share: float) -> float:
        return percentile(self.latencies_ns, share) / 1e6


class Follower(asyncio.Protocol):
    """Follows one run on its own connection. `resume` continues from the last cursor, on a new connection."""

    def __init__(self, port: int, run_id: str, tally: Tally) -> None:
        self._port, self._run_id, self._tally = port, run_id, tally
        self._transport: Any = None
        self._rest = b""
        self.next_index = 0
        self.last_id = b"0"
        self.first_ns = 0  # when the first token was seen on this connection
        self.last_ns = 0
        self.sent_first_ns = 0  # when the model server sent the first token of this connection
        self.arrived_ns = 0  # when the model server got the newest request of the run
        self.seen = b""  # all events but deltas, if `keep`
        self.keep = False
        self.opened = anyio.Event()
        self._began = anyio.Event()  # a token on this connection, or its end
        self.ended = anyio.Event()  # the run's stream, or the connection

    async def open(self, after: bytes = b"0") -> None:
        """Connects and requests everything after the cursor. Returns when the request has been written."""
        request = self.request(after)
        await asyncio.get_running_loop().create_connection(lambda: self, "127.0.0.1", self._port)
        self._transport.write(request)

    def request(self, after: bytes) -> bytes:
        """Resets the parser; returns the request for a new connection."""
        self.opened, self._began, self.ended = anyio.Event(), anyio.Event(), anyio.Event()
        self._rest, self.first_ns = b"", 0
        return b"GET /v1/runs/%b/events HTTP/1.1\r\nhost: 127.0.0.1:%d\r\nlast-event-id: %b\r\n\r\n" % (
            self._run_id.encode(),
            self._port,
            after,
        )

    async def resume(self) -> None:
        await self.open(self.last_id)

    async def first_token(self) -> None:
        """Waits for a token on this connection. Raises `Refused` if the connection ends without one."""
        await self._began.wait()
        if not self.first_ns:
            raise Refused("The server closed a stream before its first token.")

    def drop(self) -> None:
        """Drops the connection without closing it properly."""
        self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        self._began.set()
        self.ended.set()

    def data_received(self, data: bytes) -> None:
        now = time.monotonic_ns()
        self.opened.set()
        if self._rest:
            data = self._rest + data
        cut = data.rfind(b"\n\n") + 2
        if cut < 2:
            self._rest = data
            return
        self._rest = data[cut:]
        mark = data.rfind(b"id: ", 0, cut)
        if mark >= 0:
            self.last_id = data[mark + 4 : data.find(b"\n", mark)]
        found = _TOKEN.findall(data, 0, cut)
        if found:
            self._count(found, data, now)
        if self.keep:
            self.seen += data[:cut]
        if _ENDED.search(data, max(0, cut - 400), cut):
            self.ended.set()
            self._transport.close()

    def _count(self, found: Sequence[tuple[bytes, bytes]], data: bytes, now: int) -> None:
        tally = self._tally
        if not self.first_ns:
            self.first_ns, self.sent_first_ns = now, int(found[0][0])
        if found[0][1] == b"0":
            arrived = _ARRIVED.search(data)
            self.arrived_ns = int(arrived[1]) if arrived else 0
            self.next_index = 0
        for sent, text in found:
            index = int(text)
            if index != self.next_index:
                if index > self.next_index:
                    tally.lost += index - self.next_index
                else:
                    tally.doubled += 1
                    continue
            self.next_index = index + 1
            tally.latencies_ns.append(now - int(sent))
        tally.tokens += len(found)
        self.last_ns = now
        self._began.set()


class Refused(Exception):
    """The server responded with an error."""


class Api:
    """JSON calls to one server, on a growing pool of kept connections."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._free: list[_Exchange] = []

    async def call(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        """The response's JSON. Raises `Refused` for a status above 299."""
        exchange = next((kept for kept in self._kept() if kept.alive), None) or await self._connect()
        status, answer = await exchange.call(self._port, method, path, body)
        if exchange.alive:
            self._free.append(exchange)
        if status > 299:
            raise Refused(f"{method} {path}: {status} {answer[:500]!r}")
        return orjson.loads(answer) if answer else {}

    async def start(self, content: str, **more: Any) -> str:
        """Starts a run in a new thread; returns the run's id."""
        answer = await self.call("POST", "/v1/runs", {"content": content, **more})
        return str(answer["run_id"])

    def _kept(self) -> "Iterator[_Exchange]":
        while self._free:
            yield self._free.pop()

    async def _connect(self) -> "_Exchange":
        _, protocol = await asyncio.get_running_loop().create_connection(_Exchange, "127.0.0.1", self._port)
        return protocol


class _Exchange(asyncio.Protocol):
    """A connection for one request after another."""

    def __init__(self) -> None:
        self._transport: Any = None
        self._data = b""
        self._answer: asyncio.Future[tuple[int, bytes]] | None = None
        self.alive = True

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        self.alive = False
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(ConnectionError("the server closed the connection"))

    async def call(self, port: int, method: str, path: str, body: Any) -> tuple[int, bytes]:
        payload = orjson.dumps(body) if body is not None else b""
        content = b"content-type: application/json\r\n" if body is not None else b""
        self._data = b""
        self._answer = asyncio.get_running_loop().create_future()
        self._transport.write(
            b"%b %b HTTP/1.1\r\nhost: 127.0.0.1:%d\r\n%bcontent-length: %d\r\n\r\n%b"
            % (method.encode(), path.encode(), port, content, len(payload), payload)
        )
        return await self._answer

    def data_received(self, data: bytes) -> None:
        self._data += data
        end = self._data.find(b"\r\n\r\n")
        if end < 0 or self._answer is None or self._answer.done():
            return
        head = self._data[:end]
        length = re.search(rb"(?i)content-length: *(\d+)", head)
        size = end + 4 + (int(length[1]) if length else 0)
        if len(self._data) >= size:
            self._answer.set_result((int(head[9:12]), self._data[end + 4 : size]))


def now_ms() -> float:
    """Milliseconds on the machine's monotonic clock (the event loop's clock has steps of one)."""
    return time.monotonic_ns() / 1e6


def percentile(values: Sequence[float], share: float) -> float:
    """The value that `share` (0 to 1) of the values do not exceed; NaN if there are none."""
    ordered = sorted(values)
    return float(ordered[min(int(len(ordered) * share), len(ordered) - 1)]) if ordered else float("nan")
