"""Connections of the proxy: bytes in with a bounded buffer, bytes out with back-pressure, TLS on top.

Uses the event loop's transports directly, because each turn of the loop here slows every request through the proxy.
"""

import asyncio
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from typing import Final, Protocol, cast

MAX_BUFFERED: Final = 256 * 1024
HIGH_WATER: Final = 256 * 1024
PIECE: Final = 64 * 1024
CLOSING_S: Final = 10.0


class Channel(Protocol):
    """One end of a connection. One task may read while another writes. A cancelled `read` loses nothing; after a
    cancelled `write` the connection can only be closed."""

    async def read(self) -> bytes:
        """The next bytes, at most a few hundred KiB; b"" at the end. Raises `ConnectionError`."""

    def read_nowait(self) -> bytes:
        """The bytes that have arrived already; b"" if there are none."""

    def unread(self, data: bytes) -> None:
        """Put back bytes that belong to the next reader."""

    async def write(self, data: bytes) -> None:
        """Send; waits while the peer does not read. Raises `ConnectionError`."""

    def write_nowait(self, data: bytes) -> None:
        """Send without waiting, for small and rare data. Does nothing if the connection is closed."""

    def end(self) -> None:
        """Shut down sending; reading goes on."""

    def close(self) -> None:
        """Send the buffered bytes, then close; after some seconds at the latest. Idempotent."""

    def abort(self) -> None:
        """Close at once. Idempotent."""

    def set_deadline(self, seconds: float | None) -> None:
        """Abort in this many seconds unless it is set again before; None removes the deadline. It is cheap, as it is
        set for every request."""

    @property
    def expired(self) -> bool:
        """True if a deadline has ended the connection."""

    @property
    def is_quiet(self) -> bool:
        """True if open both ways, with nothing waiting to be read."""


class Wire(asyncio.Protocol):
    """A `Channel` over a connected stream socket."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._pieces: list[bytes] = []
        self._size = 0
        self._ended = False
        self._error: Exception | None = None
        self._reading_paused = False
        self._writing_paused = False
        self._reader: asyncio.Future[None] | None = None
        self._writer: asyncio.Future[None] | None = None
        self.on_end: Callable[[], None] | None = None  # the peer has shut down sending
        self.on_lost: Callable[[], None] | None = None  # the connection is gone
        self.expired = False
        self._deadline: float | None = None
        self._timer: asyncio.TimerHandle | None = None

    # --- called by the event loop -------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's transport is not a subclass
        self._transport.set_write_buffer_limits(high=HIGH_WATER)

    def data_received(self, data: bytes) -> None:
        self._pieces.append(data)
        self._size += len(data)
        if self._size > MAX_BUFFERED and not self._reading_paused and self._transport is not None:
            self._reading_paused = True
            self._transport.pause_reading()
        _wake(self._reader)

    def eof_received(self) -> bool:
        self._ended = True
        _wake(self._reader)
        if self.on_end is not None:
            self.on_end()
        return True  # the other direction stays open

    def connection_lost(self, error: Exception | None) -> None:
        self._ended = True
        self._error = error or ConnectionResetError("the connection is closed")
        self._transport = None
        if self._timer is not None:
            self._timer.cancel()
        _wake(self._reader)
        _wake(self._writer)
        if self.on_lost is not None:
            self.on_lost()

    def pause_writing(self) -> None:
        self._writing_paused = True

    def resume_writing(self) -> None:
        self._writing_paused = False
        _wake(self._writer)

    # --- as a channel -------------------------------------------------------------------------------------------------

    async def read(self) -> bytes:
        if not self._pieces and not self._ended:
            self._reader = self._loop.create_future()
            try:
                await self._reader
            finally:
                self._reader = None
        return self.read_nowait()

    def read_nowait(self) -> bytes:
        pieces = self._pieces
        if not pieces:
            return b""
        data = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        pieces.clear()
        self._size = 0
        if self._reading_paused and self._transport is not None:
            self._reading_paused = False
            self._transport.resume_reading()
        return data

    def unread(self, data: bytes) -> None:
        if data:
            self._pieces.insert(0, data)
            self._size += len(data)

    async def write(self, data: bytes) -> None:
        if self._transport is None:
            raise ConnectionResetError("the connection is closed")
        self._transport.write(data)
        while self._writing_paused and self._error is None:
            self._writer = self._loop.create_future()
            try:
                await self._writer
            finally:
                self._writer = None

    def write_nowait(self, data: bytes) -> None:
        if self._transport is not None and data:
            self._transport.write(data)

    def end(self) -> None:
        if self._transport is not None and self._transport.can_write_eof():
            with suppress(OSError):  # the peer has closed the connection
                self._transport.write_eof()

    def close(self) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.close()
            if self._writing_paused:
                self._loop.call_later(CLOSING_S, self.abort)

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def set_deadline(self, seconds: float | None) -> None:
        self._deadline = None if seconds is None else self._loop.time() + seconds
        if seconds is not None and self._timer is None and self._transport is not None:
            self._timer = self._loop.call_later(seconds, self._look_at_deadline)

    def _look_at_deadline(self) -> None:
        self._timer = None
        if self._deadline is None:
            return
        remaining = self._deadline - self._loop.time()
        if remaining <= 0:
            self.expired = True
            self.abort()
        else:
            self._timer = self._loop.call_later(remaining, self._look_at_deadline)

    @property
    def is_quiet(self) -> bool:
        return not self._ended and not self._pieces and self._error is None

    @property
    def addresses(self) -> tuple[str, str]:
        """(local, remote) IP address; "" if unknown."""
        if self._transport is None:
            return "", ""
        own, other = self._transport.get_extra_info("sockname"), self._transport.get_extra_info("peername")
        return str(own[0]) if own else "", str(other[0]) if other else ""


class TlsWire:
    """A `Channel` of TLS over a wire. Create it, then call `handshake`."""

    def __init__(self, wire: Wire, context: ssl.SSLContext, *, server_side: bool, host: str | None = None) -> None:
        self._wire = wire
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_side=server_side, server_hostname=host)
        self._ahead = b""
        self._ended = False

    async def handshake(self) -> None:
        """Raises `ssl.SSLError`, `ConnectionError`. The caller closes the wire then."""
        while True:
            try:
                self._tls.do_handshake()
                await self._flush()
                return
            except ssl.SSLWantReadError:
                await self._flush()
                await self._more()
            except ssl.SSLError:
                await self._flush()  # send the TLS alert
                raise

    @property
    def protocol(self) -> str | None:
        """The protocol that ALPN selected."""
        return self._tls.selected_alpn_protocol()

    async def read(self) -> bytes:
        while not self._ended:
            data = self._take()
            if data or self._ended:
                return data
            await self._more()
        return self._take()

    def read_nowait(self) -> bytes:
        waiting = self._wire.read_nowait()
        if waiting:
            self._incoming.write(waiting)
        return self._take()

    def unread(self, data: bytes) -> None:
        self._ahead = data + self._ahead

    async def write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            try:
                view = view[self._tls.write(view) :]
            except (ssl.SSLWantReadError, ssl.SSLWantWriteError, ssl.SSLZeroReturnError) as error:
                raise ConnectionResetError("the TLS connection is closed") from error
        await self._flush()

    def write_nowait(self, data: bytes) -> None:
        with suppress(ssl.SSLError):
            self._tls.write(data)
        self._wire.write_nowait(self._outgoing.read())

    def end(self) -> None:
        with suppress(ssl.SSLError, ValueError):
            self._tls.unwrap()
        self._wire.write_nowait(self._outgoing.read())
        self._wire.end()

    def close(self) -> None:
        with suppress(ssl.SSLError, ValueError):
            self._tls.unwrap()
        self._wire.write_nowait(self._outgoing.read())
        self._wire.close()

    def abort(self) -> None:
        self._wire.abort()

    def set_deadline(self, seconds: float | None) -> None:
        self._wire.set_deadline(seconds)

    @property
    def expired(self) -> bool:
        return self._wire.expired

    @property
    def is_quiet(self) -> bool:
        """Session tickets may be waiting below; they are read here and do not count as data."""
        if self._ended or not self._wire.is_quiet:
            self._ahead += self.read_nowait()
        return not self._ended and not self._ahead and self._wire.is_quiet

    def _take(self) -> bytes:
        """All available data that can be decrypted, up to a bound."""
        if self._ahead and not self._incoming.pending and not self._tls.pending():
            ahead, self._ahead = self._ahead, b""
            return ahead
        pieces, size = [self._ahead], len(self._ahead)
        self._ahead = b""
        try:
            while size < MAX_BUFFERED:
                piece = self._tls.read(PIECE)
                if not piece:
                    self._ended = True
                    break
                pieces.append(piece)
                size += len(piece)
                if not self._incoming.pending and not self._tls.pending():
                    break
        except ssl.SSLWantReadError:
            pass
        except (ssl.SSLZeroReturnError, ssl.SSLEOFError):
            self._ended = True
        except ssl.SSLError as error:
            self._ended = True
            if not size:
                raise ConnectionResetError(f"the TLS connection failed: {error.reason}") from error
        return b"".join(pieces) if len(pieces) > 2 or pieces[0] else pieces[-1]

    async def _more(self) -> None:
        data = await self._wire.read()
        if data:
            self._incoming.write(data)
        else:
            self._incoming.write_eof()

    async def _flush(self) -> None:
        data = self._outgoing.read()
        if data:
            await self._wire.write(data)


async def wire_of(sock: socket.socket) -> Wire:
    """A wire over a connected, non-blocking socket, which it owns from now on, also if this fails."""
    loop = asyncio.get_running_loop()
    try:
        _, wire = await loop.connect_accepted_socket(Wire, sock)
    except BaseException:
        sock.close()
        raise
    return wire


def _wake(waiting: "asyncio.Future[None] | None") -> None:
    if waiting is not None and not waiting.done():
        waiting.set_result(None)
