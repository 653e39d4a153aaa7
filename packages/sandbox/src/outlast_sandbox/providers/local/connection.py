"""The server's connections to the agent: a small pool of Unix sockets, one request at a time on each.

Stateless except for open sockets, so it can be rebuilt at any time. All received data comes from inside a sandbox and
is not trusted: frames are bounded, and the shape of each response is checked.
"""

import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import anyio
from anyio.abc import ByteStream, SocketAttribute, SocketStream

from outlast_sandbox.errors import (
    ArgumentsInvalid,
    Conflict,
    DiskFull,
    FenceLost,
    MalformedInput,
    NotFound,
    PathRefused,
    SandboxLost,
    SandboxUnavailable,
)

from .descriptors import ANCILLARY_SIZE, Received
from .inside.frames import BadFrame, Decoder, encode

MAX_IDLE: Final = 4
RECEIVE_SIZE: Final = 1 << 18
_ERRORS: Final = {
    "superseded": FenceLost,
    "acknowledged": Conflict,
    "unknown_effect": NotFound,
    "not_found": NotFound,
    "path_refused": PathRefused,
    "disk_full": DiskFull,
    "arguments_invalid": ArgumentsInvalid,
    "no_egress": SandboxUnavailable,
    "sandbox_unavailable": SandboxUnavailable,
    "conflict": Conflict,
}

_GONE: Final = (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError, OSError, BadFrame)

Frame = tuple[dict[str, Any], bytes]
Opening = Callable[[], Awaitable[ByteStream]]
"""Connects to the agent; the data sent then is queued for it, even while the sandbox is frozen. Raises OSError."""


async def open_socket(state_dir: Path, kind: bytes) -> SocketStream:
    """Connect to the shim's socket in `state_dir` for one purpose: "A" reaches the agent, "W" waits for the end, "K"
    requests it.

    Raises OSError if no process listens there. Works also while the sandbox is frozen: the shim is not."""
    stream = await connect_in(state_dir, "socket")
    try:
        await stream.send(kind)
        if kind == b"A":
            await stream.receive(1)
    except BaseException:
        with anyio.CancelScope(shield=True):
            await anyio.aclose_forcefully(stream)
        raise
    return stream


async def connect_in(folder: Path, name: str) -> SocketStream:
    """Connect to the socket of that name in a folder, even if its path is longer than a socket address. Raises
    OSError."""
    descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY)
    try:  # through the descriptor: the whole path may be longer than a socket address
        return await anyio.connect_unix(f"/proc/self/fd/{descriptor}/{name}")
    finally:
        os.close(descriptor)


class Wire:
    """One socket to the agent."""

    def __init__(self, stream: ByteStream) -> None:
        self._stream = stream
        self._decoder = Decoder()
        self._frames: list[Frame] = []
        self._waits_for = _local_socket(stream)

    async def send(self, head: dict[str, Any], payload: bytes) -> None:
        await self._stream.send(encode(head, payload))

    async def receive(self) -> Frame:
        while not self._frames:
            if self._waits_for is not None:
                await anyio.wait_readable(self._waits_for)
            self._frames.extend(self._decoder.feed(await self._stream.receive(RECEIVE_SIZE)))
        return self._frames.pop(0)

    async def receive_with(self, received: Received) -> Frame:
        """As `receive`; accompanying descriptors are put into `received`. In all other calls the kernel drops them."""
        sock = self._stream.extra(SocketAttribute.raw_socket)
        while not self._frames:
            await anyio.wait_readable(sock)
            data, ancillary, flags, _ = sock.recvmsg(RECEIVE_SIZE, ANCILLARY_SIZE, socket.MSG_CMSG_CLOEXEC)
            received.add(ancillary, flags)
            if not data:
                raise anyio.EndOfStream
            self._frames.extend(self._decoder.feed(data))
        return self._frames.pop(0)

    async def aclose(self) -> None:
        await anyio.aclose_forcefully(self._stream)


def _local_socket(stream: ByteStream) -> socket.socket | None:
    """The socket to wait for before a Unix stream is read. AnyIO's own wait raises a noisy `InvalidStateError` if it is
    cancelled at the moment when bytes arrive; `wait_readable` does not."""
    sock: socket.socket | None = stream.extra(SocketAttribute.raw_socket, None)
    return sock if sock is not None and sock.family == socket.AF_UNIX else None


class Exchange:
    """One request in progress; `done` after its last response."""

    def __init__(self, wire: Wire, sandbox_id: str, lost: Callable[[], Exception]) -> None:
        self._wire = wire
        self._sandbox_id = sandbox_id
        self._lost = lost
        self.done = False

    async def next(self, received: Received | None = None) -> Frame:
        """The next response; the last one has `end` set or not present. Raises the error that the agent sent.
        `received` gets the descriptors that come with it."""
        try:
            receiving = self._wire.receive() if received is None else self._wire.receive_with(received)
            head, payload = await receiving
        except _GONE as error:
            raise self._lost() from error
        self.done = bool(head.get("end", True))
        if head.get("ok") is not True:
            self.done = True
            raise self._refusal(head)
        return head, payload

    async def proceed(self, payload: bytes = b"", **request: Any) -> None:
        """Request more data of this exchange; `next` returns the response."""
        try:
            await self._wire.send({"op": "continue", **request}, payload)
        except _GONE as error:
            raise self._lost() from error

    async def pages(self) -> AsyncIterator[dict[str, Any]]:
        """The entries of a response that comes in pages."""
        while True:
            head, _ = await self.next()
            for entry in head["entries"]:
                yield entry
            if self.done:
                return
            await self.proceed()

    def _refusal(self, head: dict[str, Any]) -> Exception:
        kind = _ERRORS.get(str(head.get("code")), MalformedInput)
        hint = head.get("hint")
        return kind(
            str(head.get("message", "the sandbox refused the request"))[:2000],
            hint=None if hint is None else str(hint)[:2000],
            sandbox_id=self._sandbox_id,
        )


class Pool:
    """Open wires to one sandbox. `SandboxLost` from every call once the sandbox is gone."""

    def __init__(self, sandbox_id: str, opening: Opening) -> None:
        self._sandbox_id = sandbox_id
        self._opening = opening
        self._idle: list[Wire] = []
        self.gone: Exception | None = None  # the reason of its end, if known

    def _lost(self) -> Exception:
        return self.gone or lost(self._sandbox_id)

    async def ask(self, op: str, payload: bytes = b"", **request: Any) -> Frame:
        """One request, one response."""
        async with self.exchange(op, payload, **request) as exchange:
            return await exchange.next()

    @asynccontextmanager
    async def exchange(self, op: str, payload: bytes = b"", **request: Any) -> AsyncIterator[Exchange]:
        """Send a request. Leaving the block before it is done, also by cancellation, closes the socket, which shows the
        agent that the client is gone."""
        wire = None
        exchange = None
        try:
            try:
                wire = self._idle.pop() if self._idle else Wire(await self._opening())
                await wire.send({"op": op, **request}, payload)
            except _GONE as error:
                raise self._lost() from error
            exchange = Exchange(wire, self._sandbox_id, self._lost)
            yield exchange
        finally:
            if wire is not None:
                await self._give_back(wire, reusable=exchange is not None and exchange.done)

    async def _give_back(self, wire: Wire, reusable: bool) -> None:
        if reusable and len(self._idle) < MAX_IDLE:
            self._idle.append(wire)
            return
        with anyio.CancelScope(shield=True):
            await wire.aclose()

    async def aclose(self) -> None:
        idle, self._idle = self._idle, []
        for wire in idle:
            await wire.aclose()


def lost(sandbox_id: str) -> SandboxLost:
    return SandboxLost("The sandbox is gone.", sandbox_id=sandbox_id)
