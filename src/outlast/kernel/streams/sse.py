"""Server-sent events as bytes: everything that an event stream sends is made here."""

from typing import Final

OPENING: Final = b"retry: 1000\n\n"
"""Clients that reconnect by themselves wait a second first."""
HEARTBEAT: Final = b": \n\n"
"""A comment, so that both ends notice a dead connection."""


def event_frame(cursor: bytes, line: bytes) -> bytes:
    """A logged event. `cursor`: what a client asks with to get what follows it."""
    return b"id: %b\ndata: %b\n\n" % (cursor, line)


def passing_frame(name: bytes, data: bytes) -> bytes:
    """An event that is not logged: it has a name and no cursor, so clients do not resume behind it."""
    return b"event: %b\ndata: %b\n\n" % (name, data)
