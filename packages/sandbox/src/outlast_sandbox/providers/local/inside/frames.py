"""The protocol of the server and the agent inside: a JSON head and raw bytes, both preceded by their length."""

from __future__ import annotations

import struct

from .json_text import dumps, loads

TYPE_CHECKING = False  # importing `typing` would cost every sandbox 3 ms of its start
if TYPE_CHECKING:
    from typing import Any, Iterator

LENGTHS = struct.Struct("!II")
MAX_HEAD_BYTES = 16 * 1024 * 1024
MAX_PAYLOAD_BYTES = 64 * 1024 * 1024


class BadFrame(Exception):
    """The peer sent an invalid frame; the connection must be closed."""


def encode(head: dict[str, Any], payload: bytes = b"") -> bytes:
    """One frame: two lengths (4 bytes each, big-endian), the head as JSON, the payload unchanged."""
    text = dumps(head).encode("utf-8", "replace")
    return b"".join((LENGTHS.pack(len(text), len(payload)), text, payload))


class Decoder:
    """Turns received bytes into frames. `feed` yields every (head, payload) completed so far; raises `BadFrame`.
    Bounds: a frame of more than `MAX_HEAD_BYTES` and `MAX_PAYLOAD_BYTES` is refused, so that no more is kept in
    memory."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[tuple[dict[str, Any], bytes]]:
        """The frames that these bytes complete. Bounds: see the class; each byte is copied at most three times."""
        self._buffer += data
        while len(self._buffer) >= LENGTHS.size:
            head_size, payload_size = LENGTHS.unpack_from(self._buffer)
            if head_size > MAX_HEAD_BYTES or payload_size > MAX_PAYLOAD_BYTES:
                raise BadFrame(f"a frame of {head_size} + {payload_size} bytes")
            head_end = LENGTHS.size + head_size
            end = head_end + payload_size
            if len(self._buffer) < end:
                return
            frame = bytes(self._buffer[:end])
            del self._buffer[:end]
            yield _head(frame[LENGTHS.size : head_end]), frame[head_end:]


def _head(text: bytes) -> dict[str, Any]:
    try:
        head = loads(text)
    except (ValueError, RecursionError) as error:
        raise BadFrame("the head is not JSON") from error
    if not isinstance(head, dict):
        raise BadFrame("the head is not an object")
    return head
