"""Limits of request bodies: bounded in size and time while they are read, and drained when they are refused. Most
programs send a whole body before they read an answer. If a server answers early and closes, they see a broken
connection instead of the reason.
"""

import math
import time
from typing import Final

import anyio
from starlette.datastructures import Headers
from starlette.types import Message, Receive

from outlast.base.errors import BodyTooSlow, InputTooLarge, OutlastError
from outlast.base.records import dataclass

MAX_READ_AWAY_BYTES: Final = 64_000_000
READ_AWAY_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class BodyPace:
    """The slowest pace of a body. `silent_s`: seconds without a byte, and seconds that a body without bytes may take;
    every `min_per_s` received bytes allow one second more. Only time spent waiting for the client counts."""

    silent_s: float = 30.0
    min_per_s: float = 1000.0


USUAL_PACE: Final = BodyPace()
ANY_PACE: Final = BodyPace(math.inf)  # for bodies that a program may keep open for any time


class Body:
    """The body of one request. `most`: its size limit in bytes, or None if its reader has its own limit. `refusal`: the
    reason why reading stopped, if it did."""

    def __init__(
        self,
        receive: Receive,
        headers: Headers,
        most: int | None,
        *,
        read_away_s: float = READ_AWAY_S,
        pace: BodyPace = USUAL_PACE,
    ) -> None:
        self.refusal: OutlastError | None = None
        self._receive = receive
        self._most = most
        self._pace = pace
        self._waited_s = 0.0
        self._read_away_s = read_away_s
        self._taken = 0
        self._awaits_go_ahead = headers.get("expect", "").lower() == "100-continue"
        self._stated = headers.get("content-length", "")
        self._is_over = "transfer-encoding" not in headers and self._stated in ("", "0")

    def check_stated(self) -> None:
        """Raise `InputTooLarge` for a body whose Content-Length is too large."""
        if self._most is not None and self._size_stated() > self._most:
            raise _too_large(self._most)

    async def receive(self) -> Message:
        """The next ASGI message. Raises `InputTooLarge` beyond the size limit, `BodyTooSlow` beyond the time limit.
        After the body, the wait for the client's disconnect is unbounded."""
        message = await (self._receive() if self._is_over else self._next_in_time())
        if self._most is not None and self._taken > self._most:
            self.refusal = _too_large(self._most)
            raise self.refusal
        return message

    async def read_away(self) -> bool:
        """Drain the rest of the body, at most 64 MB or 5 s; True if that was all. A client that waits for 100 Continue
        sends nothing, and does not get it."""
        if isinstance(self.refusal, BodyTooSlow) or (self._awaits_go_ahead and not self._taken):
            return self._is_over
        until = self._taken + MAX_READ_AWAY_BYTES
        with anyio.move_on_after(self._read_away_s):
            while not self._is_over and self._taken < until:
                await self._next()
        return self._is_over

    def _size_stated(self) -> float:
        text = self._stated
        if not (text.isascii() and text.isdigit()):
            return 0
        return int(text) if len(text) <= 18 else math.inf

    async def _next_in_time(self) -> Message:
        """Raises `BodyTooSlow`."""
        pace = self._pace
        left_s = pace.silent_s + self._taken / pace.min_per_s - self._waited_s
        began = time.monotonic()
        with anyio.move_on_after(min(pace.silent_s, left_s)):
            message = await self._next()
            self._waited_s += time.monotonic() - began
            return message
        self.refusal = BodyTooSlow(
            f"The request's body arrived too slowly: nothing for {pace.silent_s:g} seconds, or less than "
            f"{pace.min_per_s:,.0f} bytes a second."
        )
        raise self.refusal

    async def _next(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request":
            self._taken += len(message.get("body", b""))
        self._is_over = not message.get("more_body", False)
        return message


def _too_large(most: int) -> InputTooLarge:
    return InputTooLarge(
        f"The request's body is larger than the limit of {most:,} bytes.",
        hint="Send less, or raise limits.request_bytes, limits.image_bytes, documents.artifact_bytes or knowledge."
        "source_bytes.",
        limit_bytes=most,
    )
