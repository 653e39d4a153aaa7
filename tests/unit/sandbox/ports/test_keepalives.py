from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast_sandbox.ports.keepalives import Beats

MASK = b"\x11\x22\x33\x44"


def frame(payload: bytes, opcode: int = 1, first: int = 0x80) -> bytes:
    size = len(payload)
    if size < 126:
        length = bytes([0x80 | size])
    elif size < 65_536:
        length = bytes([0x80 | 126]) + size.to_bytes(2)
    else:
        length = bytes([0x80 | 127]) + size.to_bytes(8)
    masked = bytes(byte ^ MASK[at % 4] for at, byte in enumerate(payload))
    return bytes([first | opcode]) + length + MASK + masked


@pytest.mark.parametrize("ping", [b'{"type":"ping"}', b' {"event": "ping", "appDirRoute": true} ', b"PING"])
def test_the_usual_pings_are_beats(ping: bytes):
    assert not Beats().feed(frame(ping) * 3)


def test_another_ping_is_a_beat_once_it_came_before():
    beats = Beats()
    assert beats.feed(frame(b"/hub heartbeat 7"))
    assert not beats.feed(frame(b"/hub heartbeat 7"))


def test_words_said_again_are_a_use():
    beats = Beats()
    assert beats.feed(frame(b"left"))
    assert beats.feed(frame(b"left"))


def test_a_new_message_that_speaks_of_beats_is_a_use():
    beats = Beats()
    assert beats.feed(frame(b"I like shopping"))
    assert beats.feed(frame(b"and jumping"))


def test_control_frames_are_beats():
    beats = Beats()
    assert not beats.feed(frame(b"", opcode=9) + frame(b"x", opcode=10) + frame(b"\x03\xe8", opcode=8))


def test_long_and_compressed_messages_are_a_use():
    beats = Beats()
    assert beats.feed(frame(b"ping" * 100))
    assert beats.feed(frame(b"ping" * 100))
    assert beats.feed(frame(b"ping", first=0xC0))
    assert beats.feed(frame(b"ping", first=0xC0))


@given(
    st.lists(st.sampled_from([b"ping", b"a heartbeat", b"hello", b"x" * 300, b"y" * 70_000]), max_size=6),
    st.lists(st.integers(1, 400), min_size=1, max_size=40),
)
def test_how_the_bytes_are_cut_makes_no_difference(messages: list[bytes], cuts: list[int]):
    stream = b"".join(frame(message) for message in messages)
    expected = Beats().feed(stream)
    beats, used, at = Beats(), False, 0
    for cut in [*cuts, len(stream)]:
        used = beats.feed(stream[at : at + cut]) or used
        at += cut
    assert used == expected


@given(st.lists(st.binary(max_size=50), max_size=20))
def test_any_bytes_are_read_without_failing(pieces: list[bytes]):
    beats = Beats()
    for piece in pieces:
        beats.feed(piece)
