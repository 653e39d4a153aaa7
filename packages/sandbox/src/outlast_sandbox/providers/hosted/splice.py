"""A port in a hosted sandbox as a socket here: one end of a pair, the other joined to a relay."""

import asyncio
import select
import socket
from typing import Final

import anyio
from anyio.abc import ByteStream, SocketAttribute, SocketStream

from outlast_sandbox.errors import ArgumentsInvalid, NotFound

CONNECTED: Final = b"+"
LOOK_EVERY_S: Final = 10.0


def check_port(port: int) -> None:
    """Raises `ArgumentsInvalid`."""
    if not 0 < port < 65536:
        raise ArgumentsInvalid(f"there is no port {port}; ports go from 1 to 65535")


class Splices:
    """The ports of one sandbox that are joined now. Each ends when either side closes, or with `aclose`."""

    def __init__(self) -> None:
        self._running: set[asyncio.Future[None]] = set()

    async def join(self, relay: ByteStream, port: int) -> socket.socket:
        """The caller's end, once the relay reports that the port answers. Raises `NotFound`; owns the relay."""
        try:
            if await relay.receive() != CONNECTED:
                raise NotFound(f"nothing listens on port {port} in the sandbox", noun="port")
        except BaseException:
            await relay.aclose()
            raise
        return await self.pair(relay)

    async def pair(self, relay: ByteStream) -> socket.socket:
        """The caller's end of a connection that is open already; owns the relay."""
        ours, theirs = socket.socketpair()
        try:
            ours.setblocking(False)
            stream = await SocketStream.from_socket(theirs)
        except BaseException:
            ours.close()
            await relay.aclose()
            raise
        self.carry(relay, stream)
        return ours

    def carry(self, relay: ByteStream, stream: SocketStream) -> None:
        """Join the two from now on; owns both."""
        # The caller holds only the socket, so this task lives as long as the socket, outside of any scope.
        running = asyncio.ensure_future(_carry(relay, stream))  # noqa: TID251
        self._running.add(running)
        running.add_done_callback(self._over)

    def _over(self, ended: "asyncio.Future[None]") -> None:
        self._running.discard(ended)
        if not ended.cancelled():
            ended.exception()  # one side disconnected; the other has received the end of its stream

    def aclose(self) -> None:
        for running in self._running:
            running.cancel()


async def _carry(relay: ByteStream, sock: SocketStream) -> None:
    """Copy in both directions until the sandbox's side ends or our side is closed."""

    async def outward(scope: anyio.CancelScope) -> None:
        async for data in sock:
            await relay.send(data)
        await relay.send_eof()
        while True:
            if _is_closed(sock):  # otherwise it has only shut down its sending side
                scope.cancel()
            await anyio.sleep(LOOK_EVERY_S)

    try:
        async with relay, sock, anyio.create_task_group() as tasks:
            tasks.start_soon(outward, tasks.cancel_scope)
            async for data in relay:
                await sock.send(data)
            tasks.cancel_scope.cancel()
    except* (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        pass


def _is_closed(sock: SocketStream) -> bool:
    """True if the other end was closed, and not only shut down for sending."""
    poll = select.poll()
    poll.register(sock.extra(SocketAttribute.raw_socket), 0)
    return any(events & select.POLLHUP for _, events in poll.poll(0))
