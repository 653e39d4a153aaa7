"""A browser's connection after an upgrade request, as bytes: for WebSockets that are forwarded without being read.
Uvicorn runs without a WebSocket library. A request for an upgrade reaches the application like any other, with
`TAKE_OVER` in its extensions; calling that hands the connection over, and `send` must not be used afterwards.
"""

import asyncio
from typing import Any, Final

import anyio

TAKE_OVER: Final = "outlast.take_over"
HIGH_WATER_BYTES: Final = 65_536


class TakenOver:
    """Both directions run at the speed of the slower side: reading stops while 64 KiB are buffered, `send` waits while
    the socket is full. No method raises once the other side is gone: `receive` returns b"", `send` does nothing."""

    def __init__(self, transport: asyncio.Transport, flow: Any) -> None:
        self._transport = transport
        self._flow = flow
        self._held = bytearray()
        self._news = anyio.Event()
        self._ended = False

    async def receive(self) -> bytes:
        """The bytes received since the last call; empty at the end. Cancelling loses nothing."""
        while not self._held:
            if self._ended:
                return b""
            await self._news.wait()
        data, self._held = bytes(self._held), bytearray()
        self._news = anyio.Event()
        if not self._ended:
            self._flow.resume_reading()
        return data

    async def send(self, data: bytes) -> None:
        """Send bytes; returns once there is room for more."""
        if not self._ended and not self._transport.is_closing():
            self._transport.write(data)
            await self._flow.drain()

    def close(self) -> None:
        """Close the connection once all sent bytes have gone out."""
        self._transport.close()

    def abort(self) -> None:
        """Close the connection now."""
        self._transport.abort()

    def feed(self, data: bytes) -> None:
        """Called by the server: bytes arrived."""
        if data:
            self._held += data
            self._news.set()
            if len(self._held) > HIGH_WATER_BYTES:
                self._flow.pause_reading()

    def feed_end(self) -> None:
        """Called by the server: the connection is gone."""
        self._ended = True
        self._news.set()
