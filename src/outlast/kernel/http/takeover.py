"""A browser's connection after an upgrade request, as bytes: for WebSockets that are passed on and not read.

Uvicorn is run without a WebSocket library. A request that asks for an upgrade reaches the application like any other,
with `TAKE_OVER` in its extensions; calling that gives the connection away, and nothing is answered by `send` then.
"""

import asyncio
from typing import Any, Final

import anyio

TAKE_OVER: Final = "outlast.take_over"
HIGH_WATER_BYTES: Final = 65_536


class TakenOver:
    """Both ways at the speed of the slower side: reading stops while 64 KiB wait here, `send` waits while the socket
    is full. Everything raises nothing once the other side is gone: `receive` gives b"", `send` does nothing."""

    def __init__(self, transport: asyncio.Transport, flow: Any) -> None:
        self._transport = transport
        self._flow = flow
        self._held = bytearray()
        self._news = anyio.Event()
        self._ended = False

    async def receive(self) -> bytes:
        """What has come since; empty at the end. Cancelling loses nothing."""
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
        """Returns once there is room for more."""
        if not self._ended and not self._transport.is_closing():
            self._transport.write(data)
            await self._flow.drain()

    def close(self) -> None:
        """End the connection once what was sent has gone out."""
        self._transport.close()

    def abort(self) -> None:
        """End it now."""
        self._transport.abort()

    def feed(self, data: bytes) -> None:
        """The server's side: bytes came."""
        if data:
            self._held += data
            self._news.set()
            if len(self._held) > HIGH_WATER_BYTES:
                self._flow.pause_reading()

    def feed_end(self) -> None:
        """The server's side: the connection is gone."""
        self._ended = True
        self._news.set()
