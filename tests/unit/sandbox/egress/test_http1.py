"""HTTP/1.1 read strictly: every message in one way only, however it is cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from outlast_sandbox.egress.http1 import (
    BadMessage,
    Body,
    CutShort,
    Framing,
    MessageReader,
    end_of,
    end_to_end,
    framed,
    parse_answer,
    parse_request,
    serialise,
)


class Pieces:
    """A channel that gives these pieces and ends."""

    def __init__(self, *pieces: bytes) -> None:
        self.pieces = [piece for piece in pieces if piece]

    async def read(self) -> bytes:
        return self.pieces.pop(0) if self.pieces else b""

    def read_nowait(self) -> bytes:
        return self.pieces.pop(0) if self.pieces else b""

    def unread(self, data: bytes) -> None:
        self.pieces.insert(0, data)

    async def write(self, data: bytes) -> None: ...
    def write_nowait(self, data: bytes) -> None: ...
    def end(self) -> None: ...
    def close(self) -> None: ...
    def abort(self) -> None: ...
    def set_deadline(self, seconds: float | None) -> None: ...

    expired = False

    @property
    def is_quiet(self) -> bool:
        return not self.pieces


async def whole_body(reader: MessageReader) -> bytes:
    body = b""
    while piece := await reader.piece():
        body += piece
    return body


cuts = some.lists(some.integers(1, 40), max_size=30)


def cut(data: bytes, sizes: list[int]) -> list[bytes]:
    pieces = []
    for size in sizes:
        pieces.append(data[:size])
        data = data[size:]
    return [*pieces, data]


@given(some.lists(some.binary(min_size=1, max_size=50), max_size=6), cuts)
async def test_a_chunked_body_and_what_follows_are_found_however_they_are_cut(
    chunks: list[bytes], sizes: list[int]
) -> None:
    chunked = Framing(Body.CHUNKED)
    body = b"".join(framed(chunk, chunked) for chunk in chunks) + end_of(chunked)
    head = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
    reader = MessageReader(Pieces(*cut(head + body + b"GET /next HTTP/1.1\r\n\r\n", sizes)))
    targets = []
    for expected in (b"".join(chunks), b""):
        data = await reader.head()
        assert data is not None
        request = parse_request(data)
        targets.append(request.target)
        reader.begin(request.body)
        assert await whole_body(reader) == expected
        assert reader.done
    assert targets == [b"/", b"/next"]
    assert await reader.head() is None


@given(some.binary(max_size=300), cuts)
async def test_a_body_of_a_stated_length_ends_there(body: bytes, sizes: list[int]) -> None:
    reader = MessageReader(Pieces(*cut(b"\r\nHTTP/1.1 200 OK\r\n\r\n" + body + b"rest", sizes)))
    assert await reader.head() == b"HTTP/1.1 200 OK"
    reader.begin(Framing(Body.LENGTH, len(body)))
    assert await whole_body(reader) == body


@pytest.mark.parametrize(
    "chunked",
    [b"g\r\n", b"-1\r\n", b"0x5\r\nhello\r\n", b"5 5\r\nhello\r\n", b"5\r\nhello!\r\n0\r\n\r\n",
     b"5\nhello\r\n0\r\n\r\n", b"1" * 16 + b"\r\n", b"5;" + b"x" * 2000 + b"\r\nhello\r\n", b"\r\n"],
)  # fmt: skip
async def test_a_chunk_that_can_be_read_in_two_ways_is_not_read(chunked: bytes) -> None:
    reader = MessageReader(Pieces(chunked, b"\r\n\r\n"))
    reader.begin(Framing(Body.CHUNKED))
    with pytest.raises(BadMessage):
        await whole_body(reader)


@pytest.mark.parametrize("data", [b"GET / HT", b"GET / HTTP/1.1\r\nHost: a\r\n"])
async def test_a_head_that_breaks_off_is_told_from_the_end_of_a_connection(data: bytes) -> None:
    with pytest.raises(CutShort):
        await MessageReader(Pieces(data)).head()


@pytest.mark.parametrize(
    "start",
    [b"GET  / HTTP/1.1", b"GET / HTTP/2.0", b"GET / HTTP/1.1 ", b" GET / HTTP/1.1", b"GET /a b HTTP/1.1",
     b"GET / http/1.1", b"G\x00T / HTTP/1.1", b"GET /\x7f HTTP/1.1", b"GET /", b"", b"GET / HTTP/1.10"],
)  # fmt: skip
def test_a_request_line_has_three_words_and_one_form(start: bytes) -> None:
    with pytest.raises(BadMessage):
        parse_request(start + b"\r\nHost: a")


def test_connection_takes_its_own_headers_away_but_none_that_guard_something() -> None:
    head = parse_request(
        b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close, X-Hop, Host, Authorization\r\nX-Hop: 1\r\n"
        b"Authorization: b\r\nProxy-Authorization: c\r\nTE: trailers\r\nUpgrade: h2c\r\nX-End: 2"
    )
    assert [name for name, _ in end_to_end(head)] == [b"Host", b"Authorization", b"X-End"]


token = some.text("abcXYZ0-_!", min_size=1, max_size=12).map(str.encode)
value = some.binary(max_size=20).filter(
    lambda text: text == text.strip() and all(byte >= 32 and byte != 127 for byte in text)
)


@given(some.lists(some.tuples(token, value), max_size=20))
def test_what_was_written_is_read_back(headers: list[tuple[bytes, bytes]]) -> None:
    kept = [header for header in headers if header[0].lower() not in (b"content-length", b"transfer-encoding")]
    head = serialise(b"HTTP/1.1 200 Fine", kept)
    assert parse_answer(head[:-4], b"GET").headers == kept


@given(some.binary(max_size=200))
def test_whatever_comes_is_a_head_or_a_bad_message(data: bytes) -> None:
    for parse in (parse_request, lambda head: parse_answer(head, b"GET")):
        try:
            parse(b"GET / HTTP/1.1\r\n" + data)
        except BadMessage:
            continue
