"""Frames survive any cutting of the stream, and nothing else is taken for one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from outlast_sandbox.providers.local.inside.frames import LENGTHS, MAX_HEAD_BYTES, BadFrame, Decoder, encode

heads = some.dictionaries(some.text(max_size=5), some.one_of(some.integers(), some.text(max_size=5), some.booleans()))


@given(some.lists(some.tuples(heads, some.binary(max_size=30)), max_size=5), some.integers(1, 17))
def test_frames_come_out_as_they_went_in_however_they_are_cut(
    frames: list[tuple[dict[str, object], bytes]], size: int
) -> None:
    stream = b"".join(encode(head, payload) for head, payload in frames)
    decoder = Decoder()
    found = [frame for start in range(0, len(stream), size) for frame in decoder.feed(stream[start : start + size])]
    assert found == frames


@pytest.mark.parametrize(
    "stream", [LENGTHS.pack(MAX_HEAD_BYTES + 1, 0), LENGTHS.pack(2, 0) + b"[]", LENGTHS.pack(1, 0) + b"x"]
)
def test_what_is_not_a_frame_is_refused(stream: bytes) -> None:
    with pytest.raises(BadFrame):
        list(Decoder().feed(stream))
