"""Distinguishes a user's activity on a WebSocket from keep-alive messages. Pure.

Pages of dev servers send a small message every few seconds while a tab is open. If that counted as activity, an open
tab would keep its sandbox awake for ever. So three kinds of messages do not count: ping and pong frames, a short
message in one of the usual keep-alive forms, and one that names a keep-alive and repeats the text of an earlier one.
All others count, including compressed and long messages.
"""

import re
from collections import deque
from itertools import cycle
from typing import Final

LONGEST: Final = 256
REMEMBERED: Final = 4
_BEAT: Final = re.compile(rb"ping|pong|heart-?beat|keep-?alive|^[0-9h]?$", re.IGNORECASE)
_SHAPE: Final = re.compile(
    rb"(?:ping|pong|"
    rb'\{\s*"(?:type|event)"\s*:\s*"(?:ping|pong|heart-?beat|keep-?alive)"[^{}]*\})',
    re.IGNORECASE,
)


class Beats:
    """Reads the messages that one browser sends on one WebSocket, in pieces of any size."""

    def __init__(self) -> None:
        self._held = b""  # the beginning of an incomplete frame
        self._skip = 0  # bytes of a long frame still to be received
        self._recent: deque[bytes] = deque(maxlen=REMEMBERED)

    def feed(self, data: bytes) -> bool:
        """True if these bytes contain anything besides keep-alive messages. At most `LONGEST` bytes of a frame are
        kept."""
        used = False
        data = self._held + data
        self._held = b""
        while data:
            if self._skip:
                passed = min(self._skip, len(data))
                self._skip -= passed
                data = data[passed:]
                used = True
                continue
            frame = _frame(data)
            if frame is None:
                self._held = data
                break
            head, length, mask = frame
            if length > LONGEST:
                self._skip, data = length, data[head:]
                continue
            if len(data) < head + length:
                self._held = data
                break
            used = self._counts(data[0], data[head : head + length], mask) or used
            data = data[head + length :]
        return used

    def _counts(self, first: int, payload: bytes, mask: bytes) -> bool:
        if first & 0x08:  # close, ping, pong
            return False
        if first & 0x70 or not first & 0x80:  # compressed, or a part of a message
            return True
        text = bytes(byte ^ key for byte, key in zip(payload, cycle(mask), strict=False)) if mask else payload
        if _SHAPE.fullmatch(text.strip()):
            return False
        known = text in self._recent
        if not known:
            self._recent.append(text)
        return not (known and _BEAT.search(text))


def _frame(data: bytes) -> tuple[int, int, bytes] | None:
    """(bytes of the header, bytes of the payload, mask) of the frame at the start of `data`, or None if more bytes are
    needed."""
    if len(data) < 2:
        return None
    length, at = data[1] & 0x7F, 2
    if length >= 126:
        at = 4 if length == 126 else 10
        length = int.from_bytes(data[2:at])
        if len(data) < at:
            return None
    masked = bool(data[1] & 0x80)
    end = at + 4 if masked else at
    if len(data) < end:
        return None
    return end, length, data[at:end] if masked else b""
