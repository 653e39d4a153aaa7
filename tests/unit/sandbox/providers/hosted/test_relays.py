"""Bytes to the agent and back as lines of base64, however the service cuts its streams."""

from __future__ import annotations

import os

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast_sandbox.providers.hosted.relays import CHUNK_BYTES, Lines, RelayStream, as_lines


class Recorder(RelayStream):
    async def send(self, item: bytes) -> None:
        raise NotImplementedError


@given(st.binary(max_size=2000), st.lists(st.integers(1, 50)))
def test_whatever_is_sent_is_read_however_it_is_cut(data: bytes, cuts: list[int]) -> None:
    text, lines, read = b"".join(as_lines(data)), Lines(), b""
    for size in [*cuts, len(text)]:
        piece, text = text[:size], text[size:]
        read += b"".join(lines.feed(piece))
    assert read == data


def test_much_is_sent_in_lines_of_bounded_length() -> None:
    data = os.urandom(CHUNK_BYTES * 2 + 1)
    lines = list(as_lines(data))
    assert len(lines) == 3
    assert max(map(len, lines)) < 750_000
    assert b"".join(Lines().feed(b"".join(lines))) == data


def test_what_is_not_base64_breaks_the_connection() -> None:
    with pytest.raises(anyio.BrokenResourceError):
        list(Lines().feed(b"bash: python3: command not found\n"))


async def test_a_stream_gives_what_came_and_then_its_end() -> None:
    stream = Recorder()
    await stream.arrived(b"".join(as_lines(b"one")) + b"dHd")
    await stream.arrived(b"v\n")
    stream.ended()
    assert [part async for part in stream] == [b"one", b"two"]


async def test_garbage_ends_a_stream() -> None:
    stream = Recorder()
    await stream.arrived(b"!!! not ours\n")
    with pytest.raises(anyio.EndOfStream):
        await stream.receive()
    await stream.aclose()
