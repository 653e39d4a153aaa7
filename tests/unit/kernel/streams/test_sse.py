"""Events as the bytes of a stream."""

from outlast.kernel.streams.sse import HEARTBEAT, OPENING, event_frame, passing_frame
from outlast_client.sse import Frames


def test_a_client_reads_logged_events_with_their_cursors_and_passes_over_the_rest() -> None:
    sent = [
        OPENING,
        event_frame(b"7", b'{"event":"a"}'),
        HEARTBEAT,
        passing_frame(b"presence", b"{}"),
        event_frame(b"3~run_x:8", b'{"event":"b"}'),
    ]
    assert Frames().feed(b"".join(sent)) == [("7", {"event": "a"}), ("3~run_x:8", {"event": "b"})]
