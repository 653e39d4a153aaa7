"""Server-sent events as bytes: all frames of event streams are made here."""

from collections.abc import Iterable
from typing import Final

OPENING: Final = b"retry: 1000\n\n"
"""Clients that reconnect by themselves wait a second first."""
HEARTBEAT: Final = b": \n\n"
"""A comment, so that both ends notice a dead connection."""


def ending_frame(wait_ms: int) -> bytes:
    """The last frame of a stopping server: clients that reconnect by themselves wait this long first."""
    return b"retry: %d\n\n" % wait_ms


def event_frame(cursor: bytes, line: bytes) -> bytes:
    """A logged event. `cursor`: the value with which a client requests the events after it."""
    return b"id: %b\ndata: %b\n\n" % (cursor, line)


def event_frames(prefix: bytes, lines: Iterable[tuple[int, bytes]]) -> bytes:
    """Logged events in one piece. The cursor of each is `prefix` and its number. Formatted at once: this is most of a
    follower's share of the server's time."""
    return b"".join([b"id: %b%d\ndata: %b\n\n" % (prefix, seq, line) for seq, line in lines])


def passing_frame(name: bytes, data: bytes) -> bytes:
    """An event that is not logged: it has a name and no cursor, so clients do not resume after it."""
    return b"event: %b\ndata: %b\n\n" % (name, data)
