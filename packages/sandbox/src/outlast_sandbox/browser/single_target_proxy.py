"""The only network access of a browser's sandbox: one port of the sandbox whose page it opens, while it is in use."""

import socket
from collections.abc import Sequence
from typing import Final

import anyio
from anyio.abc import SocketListener, SocketStream

from outlast_sandbox.browser.chromium import one_port
from outlast_sandbox.errors import NotFound, SandboxError, SandboxLost
from outlast_sandbox.interface import Sandbox

MAX_CONNECTIONS: Final = 64
READ_BYTES: Final = 64 * 1024


class SingleTargetProxy:
    """Splices each connection to the port of its target; without a target, connections end at once. `lost` is the error
    of a target that is gone. `serves`: the sandbox and port that it is for."""

    def __init__(self, serves: tuple[str, int]) -> None:
        self._port = serves[1]
        self.lost: SandboxLost | None = None
        self._target: tuple[Sandbox, int] | None = None
        self._room = anyio.Semaphore(MAX_CONNECTIONS)

    def flags(self, way_out: int) -> Sequence[str]:
        """Those of Chromium."""
        return one_port(self._port, way_out)

    def open_to(self, sandbox: Sandbox, port: int) -> None:
        self._target, self.lost = (sandbox, port), None

    def close(self) -> None:
        self._target = None

    async def serve(self, listener: socket.socket) -> None:
        """Serve until cancelled; owns the listener. A failed connection affects no other."""
        async with await SocketListener.from_socket(listener) as connections:
            await connections.serve(self._pass)

    async def _pass(self, inside: SocketStream) -> None:
        async with inside, self._room:
            target = self._target
            if target is None:
                return
            try:
                dialled = await target[0].dial(target[1])
            except SandboxLost as error:
                self.lost = error
                return
            except (SandboxError, OSError):
                return
            try:
                async with await SocketStream.from_socket(dialled) as outside:
                    await _splice(inside, outside)
            except* (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
                pass  # one side disconnected; the other has received the end of its stream


async def is_open(sandbox: Sandbox, port: int) -> bool:
    """True if a server listens on that port. Raises `SandboxLost`."""
    try:
        (await sandbox.dial(port)).close()
    except NotFound:
        return False
    return True


async def _splice(one: SocketStream, other: SocketStream) -> None:
    """Copy in both directions, each until its end."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_carry, one, other)
        tasks.start_soon(_carry, other, one)


async def _carry(source: SocketStream, sink: SocketStream) -> None:
    while True:
        try:
            data = await source.receive(READ_BYTES)
        except anyio.EndOfStream:
            await sink.send_eof()
            return
        await sink.send(data)
