"""HTTP/2 to hosts that support it: many requests over one connection, each an `Exchange`."""

from collections import deque
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

import anyio
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.events import (
    ConnectionTerminated,
    DataReceived,
    Event,
    InformationalResponseReceived,
    RemoteSettingsChanged,
    ResponseReceived,
    StreamEnded,
    StreamReset,
    WindowUpdated,
)
from h2.exceptions import H2Error
from h2.settings import SettingCodes

from outlast_sandbox.egress.http1 import (
    NO_BODY,
    AnswerHead,
    BadMessage,
    Body,
    Framing,
    Headers,
    RequestHead,
    check_headers,
    index_of,
)
from outlast_sandbox.egress.transport import Channel

STREAM_WINDOW: Final = 256 * 1024
CONNECTION_WINDOW: Final = 16 * 1024 * 1024
FIRST_WINDOW: Final = 65_535  # the protocol's initial window
MAX_HEAD_BYTES: Final = 64 * 1024
IDLE_S: Final = 60.0

StartTask = Callable[[Callable[[], Coroutine[Any, Any, None]]], Any]
"""Starts a function as a task of the owner of the connections."""


class Http2Exchange:
    """See `Exchange`. A stream; its id is assigned when the head is sent."""

    def __init__(self, connection: "Http2Connection", *, reused: bool) -> None:
        self._connection = connection
        self._reused = reused
        self.stream_id = 0
        self.method = b""
        self.heads: deque[AnswerHead] = deque()
        self.pieces: deque[bytes] = deque()
        self.ended = False
        self.error: Exception | None = None
        self.news = anyio.Event()
        self._sent_at = 0.0

    @property
    def reused(self) -> bool:
        return self._reused

    async def send_head(self, head: RequestHead, headers: Headers, framing: Framing, body: bytes = b"") -> None:
        self.method = head.method
        fields = _pseudo(head, headers) + _fields(headers, framing)
        self.stream_id = await self._connection.open(self, fields, framing.kind is Body.NONE)
        if framing.kind is Body.LENGTH and framing.length == len(body):
            await self.send(body)
            await self.finish()

    async def send(self, piece: bytes) -> None:
        await self._connection.send(self, piece)
        self._sent_at = anyio.current_time()

    async def finish(self) -> None:
        await self._connection.end(self)

    async def answer(self, within_s: float) -> AnswerHead:
        self._sent_at = anyio.current_time()
        while not self.heads:
            self._check()
            remaining = self._sent_at + within_s - anyio.current_time()
            if remaining <= 0:
                raise TimeoutError
            with anyio.move_on_after(remaining):
                await self._next_news()
        return self.heads.popleft()

    async def piece(self) -> bytes:
        while not self.pieces:
            self._check()
            if self.ended:
                return b""
            await self._next_news()
        piece = self.pieces.popleft()
        self._connection.was_read(self, len(piece))
        return piece

    @property
    def ready(self) -> bool:
        return bool(self.pieces) or self.ended

    @property
    def continues(self) -> bool:
        return False

    def release(self) -> None:
        self._connection.leave(self)

    def abort(self) -> None:
        self._connection.leave(self)

    def wake(self) -> None:
        """Wake the tasks that wait for this stream."""
        self.news.set()
        self.news = anyio.Event()

    async def wait_for_window(self) -> None:
        self._check()
        await self._next_news()

    async def _next_news(self) -> None:
        await self.news.wait()

    def _check(self) -> None:
        if self.error is not None and not self.ended:
            raise self.error


class Http2Connection:
    """One connection to a host. `run` reads it until it ends; a slow reader of one response does not delay others."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._h2 = H2Connection(H2Configuration(client_side=True, header_encoding=None))
        self._streams: dict[int, Http2Exchange] = {}
        self._closing = False
        self._h2.local_settings.update(
            {
                SettingCodes.ENABLE_PUSH: 0,
                SettingCodes.INITIAL_WINDOW_SIZE: STREAM_WINDOW,
                SettingCodes.MAX_HEADER_LIST_SIZE: MAX_HEAD_BYTES,
            }
        )
        self._h2.initiate_connection()
        self._h2.increment_flow_control_window(CONNECTION_WINDOW - FIRST_WINDOW)
        self._flush()

    def exchange(self, *, reused: bool) -> Http2Exchange:
        return Http2Exchange(self, reused=reused)

    @property
    def is_usable(self) -> bool:
        """True if another request may be sent over it now."""
        most = self._h2.remote_settings.max_concurrent_streams
        return not self._closing and len(self._streams) < most

    async def run(self) -> None:
        """Read until the connection ends; then every request in progress fails."""
        error: Exception = ConnectionResetError("the host closed the connection")
        try:
            while data := await self._channel.read():
                for event in self._h2.receive_data(data):
                    self._take(event)
                self._flush()
        except (ConnectionError, H2Error) as broken:
            error = ConnectionResetError(str(broken))
        finally:
            self._flush()
            self._closing = True
            self._channel.close()
            for stream in self._streams.values():
                _fail(stream, error)

    def close(self) -> None:
        self._closing = True
        self._channel.close()

    # --- called by exchanges ------------------------------------------------------------------------------------------

    async def open(self, stream: Http2Exchange, fields: Headers, closes: bool) -> int:
        """Send a head and return the stream's id. Raises `ConnectionError`, `BadMessage`."""
        if self._closing:
            raise ConnectionResetError("the connection is closing")
        try:
            stream_id = self._h2.get_next_available_stream_id()
            self._h2.send_headers(stream_id, fields, end_stream=closes)
        except H2Error as error:
            raise BadMessage(f"HTTP/2 forbids it: {error}") from error
        self._streams[stream_id] = stream
        self._channel.set_deadline(None)
        await self._channel.write(self._h2.data_to_send())
        return stream_id

    async def send(self, stream: Http2Exchange, piece: bytes) -> None:
        """Send a piece of a body, as fast as the host accepts it."""
        view = memoryview(piece)
        while view:
            with _as_connection_errors():
                window = self._h2.local_flow_control_window(stream.stream_id)
                size = min(window, self._h2.max_outbound_frame_size, len(view))
                if size > 0:
                    self._h2.send_data(stream.stream_id, bytes(view[:size]))
            if size <= 0:
                await stream.wait_for_window()
                continue
            view = view[size:]
            await self._channel.write(self._h2.data_to_send())

    async def end(self, stream: Http2Exchange) -> None:
        with _as_connection_errors():
            self._h2.end_stream(stream.stream_id)
        await self._channel.write(self._h2.data_to_send())

    def was_read(self, stream: Http2Exchange, size: int) -> None:
        """Let the host send this many more bytes of the response."""
        if stream.ended or stream.error is not None or not size:
            return
        with suppress(H2Error):
            self._h2.increment_flow_control_window(size, stream.stream_id)
        self._flush()

    def leave(self, stream: Http2Exchange) -> None:
        """End the exchange; an unfinished one is reset."""
        if self._streams.pop(stream.stream_id, None) is None:
            return
        if not self._streams:
            self._channel.set_deadline(IDLE_S)
        if not self._closing:
            with suppress(H2Error):  # a stream closed on both sides cannot be reset, and does not need it
                self._h2.reset_stream(stream.stream_id, ErrorCodes.CANCEL)
            self._flush()

    # --- received -----------------------------------------------------------------------------------------------------

    def _take(self, event: Event) -> None:
        match event:
            case DataReceived():
                self._take_data(event)
            case ResponseReceived() | InformationalResponseReceived():
                stream = self._streams.get(event.stream_id or 0)
                if stream is not None:
                    _take_head(stream, event)
            case StreamEnded():
                stream = self._streams.get(event.stream_id or 0)
                if stream is not None:
                    stream.ended = True
                    stream.wake()
            case StreamReset():
                stream = self._streams.get(event.stream_id or 0)
                if stream is not None:
                    _fail(stream, ConnectionResetError(f"the host reset the stream ({event.error_code})"))
            case ConnectionTerminated():
                self._take_goodbye(event.last_stream_id or 0)
            case WindowUpdated() | RemoteSettingsChanged():
                for stream in self._streams.values():
                    stream.wake()

    def _take_data(self, event: DataReceived) -> None:
        size = event.flow_controlled_length or 0
        data = event.data or b""
        if size:  # the connection's window is restored at once: only the stream's own window limits it
            self._h2.increment_flow_control_window(size)
        stream = self._streams.get(event.stream_id or 0)
        if stream is None:
            return
        padding = size - len(data)
        if padding and event.stream_ended is None:
            self._h2.increment_flow_control_window(padding, event.stream_id)
        if data:
            stream.pieces.append(data)
            stream.wake()

    def _take_goodbye(self, last_stream_id: int) -> None:
        self._closing = True
        for stream_id, stream in self._streams.items():
            if stream_id > last_stream_id:
                _fail(stream, ConnectionResetError("the host accepts no more requests on this connection"))

    def _flush(self) -> None:
        self._channel.write_nowait(self._h2.data_to_send())


@contextmanager
def _as_connection_errors() -> Iterator[None]:
    """Report a stream that is gone as a connection that is gone."""
    try:
        yield
    except H2Error as error:
        raise ConnectionResetError(str(error)) from error


def _fail(stream: Http2Exchange, error: Exception) -> None:
    if not stream.ended:
        stream.error = error
    stream.wake()


def _pseudo(head: RequestHead, headers: Headers) -> Headers:
    authority = next(value for name, value in headers if name == b"Host")
    return [(b":method", head.method), (b":scheme", b"https"), (b":authority", authority), (b":path", head.target)]


def _fields(headers: Headers, framing: Framing) -> Headers:
    lowered = [(name.lower(), value) for name, value in headers]
    fields = [header for header in lowered if header[0] not in (b"host", b"expect")]
    if framing.kind is Body.LENGTH:
        fields.append((b"content-length", b"%d" % framing.length))
    return fields


def _take_head(stream: Http2Exchange, event: ResponseReceived | InformationalResponseReceived) -> None:
    try:
        stream.heads.append(_answer(event.headers or [], stream.method, event))
        stream.wake()
    except BadMessage as error:
        _fail(stream, error)


def _answer(headers: Any, method: bytes, event: Event) -> AnswerHead:
    fields: Headers = [(bytes(name), bytes(value)) for name, value in headers]
    status = int(next(value for name, value in fields if name == b":status"))
    fields = [field for field in fields if not field[0].startswith(b":")]
    check_headers(fields)
    length = [value for name, value in fields if name == b"content-length"]
    over = isinstance(event, ResponseReceived) and event.stream_ended is not None
    if method == b"HEAD" or status in (204, 304) or status < 200:
        framing = NO_BODY
    elif length and length[0].isdigit():
        framing = Framing(Body.LENGTH, int(length[0]))
    else:
        framing = Framing(Body.LENGTH, 0) if over else Framing(Body.CHUNKED)
    return AnswerHead(status, b"", 1, fields, index_of(fields), framing)
