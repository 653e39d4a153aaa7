"""Connections to the agent in a hosted sandbox: bytes here, lines of base64 in the service's own streams."""

import base64
import binascii
from collections.abc import Iterator
from typing import Final

import anyio
from anyio.abc import ByteStream
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

CHUNK_BYTES: Final = 512 * 1024
WAITING_CHUNKS: Final = 64


class Lines:
    """Turns text as it arrives into the bytes of each line completed so far."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, text: bytes) -> Iterator[bytes]:
        """Raises `anyio.BrokenResourceError` for invalid base64."""
        *lines, self._rest = (self._rest + text).split(b"\n")
        for line in lines:
            try:
                yield base64.b64decode(line, validate=True)
            except binascii.Error as error:
                raise anyio.BrokenResourceError from error


def as_lines(data: bytes) -> Iterator[bytes]:
    """The lines that carry these bytes, each at most about 700 KB."""
    for start in range(0, len(data), CHUNK_BYTES):
        yield base64.b64encode(data[start : start + CHUNK_BYTES]) + b"\n"


class RelayStream(ByteStream):
    """One connection. An adapter feeds `arrived` and `ended`, and implements `send` and `aclose`.

    Data that arrived and was not yet received waits here, at most `WAITING_CHUNKS` pieces; then `arrived` waits."""

    def __init__(self) -> None:
        self._lines = Lines()
        self._incoming: MemoryObjectSendStream[bytes]
        self._chunks: MemoryObjectReceiveStream[bytes]
        self._incoming, self._chunks = anyio.create_memory_object_stream[bytes](WAITING_CHUNKS)

    async def arrived(self, text: bytes) -> None:
        """Add data that the relay wrote."""
        try:
            for data in self._lines.feed(text):
                await self._incoming.send(data)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            self.ended()

    def ended(self) -> None:
        """Mark the end of the data."""
        self._incoming.close()

    async def receive(self, max_bytes: int = 65536) -> bytes:
        return await self._chunks.receive()

    async def send_eof(self) -> None:
        raise NotImplementedError("half-close is not supported; a request to the agent is self-delimiting")

    async def aclose(self) -> None:
        self._incoming.close()
        self._chunks.close()
