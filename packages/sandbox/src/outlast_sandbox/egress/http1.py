"""HTTP/1.1, parsed strictly and serialized again: a message that two programs could parse differently is refused.

No header is passed on as it was received: a message is parsed into names and values, its framing is decided here, and
it is serialized again. Refused: bare line feeds, folded lines, two lengths, a length together with chunks.
"""

import itertools
import re
from collections.abc import Iterable
from enum import Enum
from typing import Final, NamedTuple

from outlast_sandbox.egress.transport import Channel

MAX_HEAD_BYTES: Final = 64 * 1024
MAX_HEADERS: Final = 200
MAX_LINE_BYTES: Final = 1024
Headers = list[tuple[bytes, bytes]]

_TOKEN: Final = rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
_REQUEST: Final = re.compile(rb"(%b) ([\x21-\x7e\x80-\xff]+) HTTP/1\.([01])\Z" % _TOKEN)
_ANSWER: Final = re.compile(rb"HTTP/1\.([01]) ([1-5][0-9]{2})(?: ([\t\x20-\x7e\x80-\xff]*))?\Z")
_HEADER: Final = re.compile(rb"(%b):[ \t]*([\t\x20-\x7e\x80-\xff]*?)[ \t]*\Z" % _TOKEN)
_NUMBER: Final = re.compile(rb"[0-9]{1,18}\Z")
_NAME: Final = re.compile(rb"%b\Z" % _TOKEN)
_VALUE: Final = re.compile(rb"[\t\x20-\x7e\x80-\xff]*\Z")
_CHUNK: Final = re.compile(rb"([0-9a-fA-F]{1,15})[ \t]*(?:;[\t\x20-\x7e\x80-\xff]*)?\Z")
HOP_BY_HOP: Final = frozenset(
    (
        b"connection",
        b"keep-alive",
        b"proxy-connection",
        b"proxy-authorization",
        b"proxy-authenticate",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
        b"http2-settings",
    )
)
"""Headers that concern one connection only."""
_NOT_PASSED: Final = HOP_BY_HOP | {b"content-length"}
_NEVER_NAMED: Final = frozenset((b"host", b"authorization", b"cookie", b"content-type", b"content-encoding", b"expect"))


class BadMessage(Exception):
    """The message is not HTTP/1.1, or is ambiguous; the text says how. `status` is that of the response to the
    client."""

    def __init__(self, reason: str, status: int = 400) -> None:
        super().__init__(reason)
        self.status = status


class CutShort(ConnectionError):
    """The connection ended in the middle of a message."""


class Body(Enum):
    NONE = 0
    LENGTH = 1
    CHUNKED = 2
    UNTIL_CLOSE = 3


class Framing(NamedTuple):
    """The framing of a body; `length` in bytes for `LENGTH`."""

    kind: Body
    length: int = 0


NO_BODY: Final = Framing(Body.NONE)


Index = dict[bytes, list[bytes]]
"""Values by header name in lower case."""


class RequestHead(NamedTuple):
    method: bytes
    target: bytes
    minor: int
    headers: Headers
    by_name: Index
    body: Framing = NO_BODY

    @property
    def keeps_alive(self) -> bool:
        tokens = words_of(self.by_name, b"connection")
        return b"close" not in tokens and (self.minor == 1 or b"keep-alive" in tokens)

    @property
    def upgrade(self) -> bytes:
        """The protocol that it wants to change to, in lower case, or ""."""
        protocols = words_of(self.by_name, b"upgrade")
        return protocols[0] if protocols and b"upgrade" in words_of(self.by_name, b"connection") else b""

    @property
    def expects_continue(self) -> bool:
        return self.minor == 1 and b"100-continue" in words_of(self.by_name, b"expect")


class AnswerHead(NamedTuple):
    status: int
    reason: bytes
    minor: int
    headers: Headers
    by_name: Index
    body: Framing = NO_BODY

    @property
    def keeps_alive(self) -> bool:
        tokens = words_of(self.by_name, b"connection")
        framed = self.body.kind is not Body.UNTIL_CLOSE
        return framed and b"close" not in tokens and (self.minor == 1 or b"keep-alive" in tokens)


def parse_request(head: bytes) -> RequestHead:
    """Parse the bytes of a head without its empty line. Time grows with its length, which the caller bounds. Raises
    `BadMessage`."""
    lines = head.split(b"\r\n")
    start = _REQUEST.match(lines[0])
    if start is None:
        raise BadMessage("the first line is not an HTTP/1.1 request line")
    headers = _headers(lines)
    index = index_of(headers)
    minor = int(start[3])
    return RequestHead(start[1], start[2], minor, headers, index, _request_framing(index, minor))


def parse_answer(head: bytes, method: bytes) -> AnswerHead:
    """Parse the response to a request of this method. Time grows with its length, which the caller bounds. Raises
    `BadMessage`."""
    lines = head.split(b"\r\n")
    start = _ANSWER.match(lines[0])
    if start is None:
        raise BadMessage("the response's first line is not an HTTP/1.1 status line")
    headers = _headers(lines)
    index = index_of(headers)
    status = int(start[2])
    framing = _answer_framing(index, status, method)
    return AnswerHead(status, start[3] or b"", int(start[1]), headers, index, framing)


def index_of(headers: Headers) -> Index:
    index: Index = {}
    for name, value in headers:
        index.setdefault(name.lower(), []).append(value)
    return index


def end_to_end(head: RequestHead | AnswerHead) -> Headers:
    """The headers without hop-by-hop ones: the usual names, and those that Connection lists."""
    named = words_of(head.by_name, b"connection")
    dropped = _NOT_PASSED if not named else _NOT_PASSED | (frozenset(named) - _NEVER_NAMED)
    if dropped.isdisjoint(head.by_name):
        return head.headers
    return [header for header in head.headers if header[0].lower() not in dropped]


def words_of(index: Index, name: bytes) -> list[bytes]:
    """The comma-separated words of a header, in lower case."""
    values = index.get(name)
    if values is None:
        return []
    return [word for value in values for part in value.lower().split(b",") if (word := part.strip())]


def serialise(start: bytes, headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """A head, with its empty line."""
    parts = [start, b"\r\n"]
    for name, value in headers:
        parts += (name, b": ", value, b"\r\n")
    parts.append(b"\r\n")
    return b"".join(parts)


def check_headers(headers: Headers) -> None:
    """Raises `BadMessage` for a name or value that is not valid in an HTTP/1.1 head."""
    if len(headers) > MAX_HEADERS:
        raise BadMessage(f"it has more than {MAX_HEADERS} headers", 431)
    if not all(_NAME.match(name) and _VALUE.match(value) for name, value in headers):
        raise BadMessage("a header has invalid characters")


def framing_header(framing: Framing) -> Headers:
    if framing.kind is Body.LENGTH:
        return [(b"Content-Length", b"%d" % framing.length)]
    return [(b"Transfer-Encoding", b"chunked")] if framing.kind is Body.CHUNKED else []


def framed(piece: bytes, framing: Framing) -> bytes:
    """A piece of a body, not empty, as it is sent."""
    return b"%x\r\n%b\r\n" % (len(piece), piece) if framing.kind is Body.CHUNKED else piece


def end_of(framing: Framing) -> bytes:
    return b"0\r\n\r\n" if framing.kind is Body.CHUNKED else b""


def _headers(lines: list[bytes]) -> Headers:
    if len(lines) - 1 > MAX_HEADERS:
        raise BadMessage(f"it has more than {MAX_HEADERS} headers", 431)
    headers: Headers = []
    for line in itertools.islice(lines, 1, None):
        match = _HEADER.match(line)
        if match is None:
            raise BadMessage("a header line is malformed")
        headers.append(match.groups())  # type: ignore[arg-type]  # two groups, both taking part
    return headers


def _request_framing(index: Index, minor: int) -> Framing:
    encodings, length = words_of(index, b"transfer-encoding"), _length(index)
    if encodings:
        if length is not None:
            raise BadMessage("it has both Content-Length and Transfer-Encoding, which is ambiguous")
        if encodings != [b"chunked"] or minor == 0:
            raise BadMessage("its Transfer-Encoding is not chunked", 501)
        return Framing(Body.CHUNKED)
    if b"transfer-encoding" in index:
        raise BadMessage("its Transfer-Encoding is empty")
    return Framing(Body.LENGTH, length) if length is not None else NO_BODY


def _answer_framing(index: Index, status: int, method: bytes) -> Framing:
    encodings, length = words_of(index, b"transfer-encoding"), _length(index)
    if method == b"HEAD" or status in (204, 304) or status < 200:
        return NO_BODY
    if encodings:
        if encodings != [b"chunked"] or length is not None:
            raise BadMessage("it has two different lengths")
        return Framing(Body.CHUNKED)
    return Framing(Body.LENGTH, length) if length is not None else Framing(Body.UNTIL_CLOSE)


def _length(index: Index) -> int | None:
    values = index.get(b"content-length")
    if values is None:
        return None
    if len(values) > 1 or not _NUMBER.match(values[0]):
        raise BadMessage("its Content-Length is not a single number")
    return int(values[0])


class MessageReader:
    """Reads message after message from a channel, one at a time: first `head`, then `piece` until it is empty."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._buffer = b""
        self._framing = NO_BODY
        self._left = 0  # bytes of the body, or of the current chunk
        self._in_chunk = False  # the line break after the chunk has not been read
        self._done = True

    async def head(self) -> bytes | None:
        """The bytes of the next head, without its empty line, or None if the connection ended before it started. Raises
        `BadMessage` (431: too large), `CutShort`."""
        data = self._buffer
        searched = 0
        while True:
            if not searched and data[:2] == b"\r\n":  # some clients send an empty line after a body
                data = data[2:]
            end = data.find(b"\r\n\r\n", searched)
            if 0 <= end <= MAX_HEAD_BYTES:
                self._buffer = data[end + 4 :]
                return data[:end]
            if len(data) > MAX_HEAD_BYTES:
                raise BadMessage(f"the headers are larger than {MAX_HEAD_BYTES // 1024} KiB", 431)
            searched = max(0, len(data) - 3)
            self._buffer = data
            more = await self._channel.read()
            if not more:
                if data.strip(b"\r\n"):
                    raise CutShort("the connection ended inside a head")
                return None
            data += more

    def begin(self, framing: Framing) -> None:
        """Start reading the body that follows the head just read."""
        self._framing = framing
        self._left = framing.length
        self._done = framing.kind is Body.NONE or (framing.kind is Body.LENGTH and framing.length == 0)

    @property
    def done(self) -> bool:
        """True once the whole body was read."""
        return self._done

    @property
    def ready(self) -> bool:
        """True if `piece` would return without waiting."""
        if self._done or not self._buffer:
            return self._done
        if self._framing.kind is not Body.CHUNKED or self._left:
            return True
        end = self._buffer.find(b"\r\n", 2 if self._in_chunk else 0)
        return 0 <= end < len(self._buffer) - 2

    @property
    def ahead(self) -> bool:
        """True if bytes were read that belong to no message yet."""
        return bool(self._buffer)

    def whole(self, most: int) -> bytes | None:
        """The whole body if it has arrived already and is short; otherwise None, and nothing is consumed."""
        if self._framing.kind is not Body.LENGTH or self._left > most:
            return None
        if len(self._buffer) < self._left:
            self._buffer += self._channel.read_nowait()
        if len(self._buffer) < self._left:
            return None
        body, self._buffer = self._buffer[: self._left], self._buffer[self._left :]
        self._left, self._done = 0, True
        return body

    async def piece(self) -> bytes:
        """The next piece of the body, empty at its end. Raises `BadMessage`, `CutShort`."""
        if self._done:
            return b""
        if self._framing.kind is Body.CHUNKED and self._left == 0 and not await self._next_chunk():
            self._done = True
            return b""
        data = self._buffer or await self._channel.read()
        self._buffer = b""
        if self._framing.kind is Body.UNTIL_CLOSE:
            self._done = not data
            return data
        if not data:
            raise CutShort("the connection ended inside a body")
        piece, self._buffer = data[: self._left], data[self._left :]
        self._left -= len(piece)
        if self._left == 0:
            self._done = self._framing.kind is Body.LENGTH
            self._in_chunk = not self._done
        return piece

    def rest(self) -> bytes:
        """The bytes that were read beyond the messages, for the code that takes over the connection."""
        rest, self._buffer = self._buffer, b""
        return rest

    async def _next_chunk(self) -> bool:
        if self._in_chunk and await self._line():
            raise BadMessage("a chunk is longer than its size")
        self._in_chunk = False
        match = _CHUNK.match(await self._line())
        if match is None:
            raise BadMessage("a chunk size is malformed")
        self._left = int(match[1], 16)
        if self._left:
            return True
        for _ in range(MAX_HEADERS):  # trailers: read, and dropped
            if not await self._line():
                return False
        raise BadMessage("it has too many trailers", 431)

    async def _line(self) -> bytes:
        while True:
            end = self._buffer.find(b"\r\n")
            if 0 <= end <= MAX_LINE_BYTES:
                line, self._buffer = self._buffer[:end], self._buffer[end + 2 :]
                return line
            if len(self._buffer) > MAX_LINE_BYTES:
                raise BadMessage("a line between chunks is too long")
            more = await self._channel.read()
            if not more:
                raise CutShort("the connection ended between two chunks")
            self._buffer += more
