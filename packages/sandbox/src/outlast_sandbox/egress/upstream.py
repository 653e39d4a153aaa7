"""Requests to hosts outside: connections of one sandbox, which are reused."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final, Protocol

import anyio

from outlast_sandbox.clock import Clock
from outlast_sandbox.egress.dialer import Dialer
from outlast_sandbox.egress.http1 import (
    AnswerHead,
    Body,
    CutShort,
    Framing,
    Headers,
    MessageReader,
    RequestHead,
    end_of,
    framed,
    framing_header,
    parse_answer,
    serialise,
)
from outlast_sandbox.egress.rules import Target
from outlast_sandbox.egress.transport import Channel

if TYPE_CHECKING:
    from outlast_sandbox.egress.http2 import Http2Connection, StartTask

KEPT_S: Final = 20.0
MAX_KEPT: Final = 8
MAX_TARGETS: Final = 64


class Exchange(Protocol):
    """One request to a host and its response. Sending and receiving may overlap. Call either `release` or `abort` in
    the end. Errors: `ConnectionError` (the connection broke), `BadMessage` (the host does not speak HTTP)."""

    @property
    def reused(self) -> bool:
        """True if the connection has carried other requests: it may be closed by now, which is not an error."""

    async def send_head(self, head: RequestHead, headers: Headers, framing: Framing, body: bytes = b"") -> None:
        """Send method and target of `head` with these headers, and the whole body if it is known and `framing` has its
        length."""

    async def send(self, piece: bytes) -> None: ...
    async def finish(self) -> None:
        """End the body."""

    async def answer(self, within_s: float) -> AnswerHead:
        """The next head: interim ones (1xx), then the final one. Raises `TimeoutError` if it does not arrive within
        this time after the last data sent."""

    async def piece(self) -> bytes:
        """The next piece of the response's body, b"" at its end."""

    @property
    def ready(self) -> bool:
        """True if `piece` would return without waiting."""

    @property
    def continues(self) -> bool:
        """True if the host itself answers `Expect: 100-continue`."""

    def release(self) -> None:
        """The response was read to its end and the request sent: the connection may be reused."""

    def abort(self) -> None: ...


class Http1Exchange:
    """See `Exchange`; it has the whole connection to itself."""

    def __init__(self, channel: Channel, keep: Callable[[Channel], None], *, reused: bool) -> None:
        self.channel = channel
        self.reader = MessageReader(channel)
        self._keep = keep
        self._reused = reused
        self._method = b""
        self._framing = Framing(Body.NONE)
        self._sent = False
        self._within_s: float | None = None  # while waiting for a response
        self._head: AnswerHead | None = None

    @property
    def reused(self) -> bool:
        return self._reused

    async def send_head(self, head: RequestHead, headers: Headers, framing: Framing, body: bytes = b"") -> None:
        self._method, self._framing = head.method, framing
        self._sent = framing.kind is Body.NONE or (framing.kind is Body.LENGTH and framing.length == len(body))
        start = b"%b %b HTTP/1.1" % (head.method, head.target)
        await self.channel.write(serialise(start, headers + framing_header(framing)) + body)

    async def send(self, piece: bytes) -> None:
        await self.channel.write(framed(piece, self._framing))
        if self._within_s is not None:
            self.channel.set_deadline(self._within_s)

    async def finish(self) -> None:
        end = end_of(self._framing)
        if end:
            await self.channel.write(end)
        self._sent = True

    async def answer(self, within_s: float) -> AnswerHead:
        self._within_s = within_s
        self.channel.set_deadline(within_s)
        try:
            head = await self.reader.head()
        except ConnectionError:
            head = None
        if self.channel.expired:
            raise TimeoutError
        self._within_s = None
        self.channel.set_deadline(None)
        if head is None:
            raise CutShort("the host closed the connection without a response")
        self._head = parse_answer(head, self._method)
        self.reader.begin(self._head.body)
        return self._head

    async def piece(self) -> bytes:
        return await self.reader.piece()

    @property
    def ready(self) -> bool:
        return self.reader.ready

    @property
    def continues(self) -> bool:
        return True

    def release(self) -> None:
        head = self._head
        clean = self._sent and self.reader.done and not self.reader.ahead
        if clean and head is not None and head.keeps_alive and head.status != 101:
            self._keep(self.channel)
        else:
            self.channel.close()

    def abort(self) -> None:
        self.channel.abort()


class Upstreams:
    """The connections of one sandbox. In memory only; `close` ends them."""

    def __init__(self, dialer: Dialer, clock: Clock, start_task: "StartTask") -> None:
        self._dialer = dialer
        self._clock = clock
        self._start_task = start_task
        self._kept: dict[Target, list[tuple[float, Channel]]] = {}
        self._shared: dict[Target, Http2Connection] = {}
        self._single: set[Target] = set()  # known to support HTTP/1.1 only
        self._asking: dict[Target, anyio.Lock] = {}

    async def exchange(self, target: Target, *, http1: bool = False, fresh: bool = False) -> Exchange:
        """A connection ready for one request; `http1`: only HTTP/1.1, `fresh`: only a new connection. Raises
        `Refused`."""
        reusable = None if http1 or fresh else self._find(target)
        if reusable is not None:
            return reusable
        if not target.encrypted:
            return self._alone(target, await self._dialer.connect(target))
        if http1 or target in self._single:
            return self._alone(target, await self._dialer.connect_tls(target, http1=True))
        async with self._asking.setdefault(target, anyio.Lock()):
            reusable = self._find(target)
            if reusable is not None:
                return reusable
            if target not in self._single:
                return await self._ask(target)
        return self._alone(target, await self._dialer.connect_tls(target, http1=True))

    def close(self) -> None:
        """End every connection."""
        for channels in self._kept.values():
            for _, channel in channels:
                channel.close()
        for connection in self._shared.values():
            connection.close()
        self._kept, self._shared = {}, {}

    async def _ask(self, target: Target) -> Exchange:
        """The first connection to a host shows its HTTP version."""
        tls = await self._dialer.connect_tls(target, http1=False)
        if tls.protocol != "h2":
            self._single.add(target)
            return self._alone(target, tls)
        from outlast_sandbox.egress.http2 import Http2Connection  # h2 is loaded for the first host that speaks it

        connection = self._shared[target] = Http2Connection(tls)
        self._start_task(connection.run)
        return connection.exchange(reused=False)

    def _find(self, target: Target) -> Exchange | None:
        shared = self._shared.get(target)
        if shared is not None:
            if shared.is_usable:
                return shared.exchange(reused=True)
            del self._shared[target]
        oldest = self._clock.monotonic() - KEPT_S
        idle = self._kept.get(target, [])
        while idle:
            since, channel = idle.pop()
            channel.set_deadline(None)
            if since >= oldest and channel.is_quiet:
                return self._alone(target, channel, reused=True)
            channel.close()
        return None

    def _alone(self, target: Target, channel: Channel, *, reused: bool = False) -> Http1Exchange:
        return Http1Exchange(channel, partial(self._keep, target), reused=reused)

    def _keep(self, target: Target, channel: Channel) -> None:
        idle = self._kept.setdefault(target, [])
        idle.append((self._clock.monotonic(), channel))
        channel.set_deadline(KEPT_S)
        if len(idle) > MAX_KEPT:
            idle.pop(0)[1].close()
        if len(self._kept) > MAX_TARGETS:  # avoids idle connections of a client that visits many hosts once
            for _, old in self._kept.pop(next(iter(self._kept))):
                old.close()
