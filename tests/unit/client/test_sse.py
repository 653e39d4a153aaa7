"""Reading server-sent events."""

import pytest

from outlast_client.sse import Frames

STREAM = (
    b": heartbeat\n\n"
    b'id: 1\ndata: {"event":"a"}\n\n'
    b'event: presence\ndata: {"event":"presence"}\n\n'
    b'id: 2.run_x.7\r\ndata: {"event":\r\ndata: "b"}\r\n\r\n'
)
EVENTS = [("1", {"event": "a"}), ("2.run_x.7", {"event": "b"})]


@pytest.mark.parametrize("size", range(1, len(STREAM) + 1))
def test_events_are_the_same_however_their_bytes_arrive(size: int) -> None:
    frames = Frames()
    chunks = [STREAM[start : start + size] for start in range(0, len(STREAM), size)]
    assert [event for chunk in chunks for event in frames.feed(chunk)] == EVENTS


def test_what_has_no_cursor_is_left_out() -> None:
    assert Frames().feed(b'event: presence\ndata: {"event":"presence"}\n\n') == []


def test_half_an_event_is_kept_until_its_end_comes() -> None:
    frames = Frames()
    assert frames.feed(b"id: 1\ndata: {}\n") == []
    assert frames.feed(b"\n") == [("1", {})]
