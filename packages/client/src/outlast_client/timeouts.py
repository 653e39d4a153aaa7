"""Timeouts of the client."""

from typing import Final

import httpx

REQUEST_S: Final = 60.0  # for each part of a response, unless the program sets another value
CONNECT_S: Final = 10.0
SILENCE_S: Final = 45.0  # a stream silent for this long is dead: the server sends a heartbeat every 15 seconds

STREAM: Final = httpx.Timeout(CONNECT_S, read=SILENCE_S)


def request_timeout(timeout_s: float) -> httpx.Timeout:
    """`timeout_s` for each part of a response, `CONNECT_S` to connect."""
    return httpx.Timeout(timeout_s, connect=CONNECT_S)
