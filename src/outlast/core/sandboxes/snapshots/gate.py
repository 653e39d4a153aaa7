"""The way out of a build: a proxy that leads to the package indexes and to nothing else.

It passes bytes through unread: TLS goes from the build to the index, so there is nothing to substitute and nothing to
trust. What ordinary sandboxes go through, with secrets and policies, is the room `egress`.
"""

import socket
from collections.abc import Set as AbstractSet
from typing import Final
from urllib.parse import urlsplit

import anyio
from anyio.abc import SocketStream

HEAD_BYTES: Final = 32 * 1024
CONNECT_TIMEOUT_S: Final = 20.0
HEAD_TIMEOUT_S: Final = 30.0
MAX_CONNECTIONS: Final = 100
PASS_BYTES: Final = 1 << 16
_GONE: Final = (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError, OSError)


class Gate:
    """Serves one listener. `refused` are the (host, port) pairs that were asked for and are not allowed."""

    def __init__(self, listener: socket.socket, allowed: AbstractSet[tuple[str, int]]) -> None:
        self._listener = listener
        self._allowed = allowed
        self._places = anyio.CapacityLimiter(MAX_CONNECTIONS)
        self.refused: set[tuple[str, int]] = set()

    async def run(self) -> None:
        """Until cancelled; then all connections are closed, and the listener too."""
        with self._listener:
            async with anyio.create_task_group() as tasks:
                while True:
                    await anyio.wait_readable(self._listener)
                    try:
                        connection, _ = self._listener.accept()
                    except (BlockingIOError, ConnectionAbortedError):
                        continue
                    tasks.start_soon(self._serve, connection)

    async def _serve(self, connection: socket.socket) -> None:
        async with await SocketStream.from_socket(connection) as client:
            try:
                async with self._places:
                    await self._lead(client)
            except _GONE:
                return

    async def _lead(self, client: SocketStream) -> None:
        with anyio.move_on_after(HEAD_TIMEOUT_S):
            head, rest = await _read_head(client)
            target = _target(head)
            if target is None:
                await _refuse(
                    client, "400 Bad Request", "This proxy understands CONNECT and absolute addresses."
                )
                return
            host, port, opening = target
            if (host, port) not in self._allowed:
                self.refused.add((host, port))
                await _refuse(client, "403 Forbidden", f"{host}:{port} is no package index of this server.")
                return
            upstream = await _connect(host, port)
        if upstream is None:
            await _refuse(client, "502 Bad Gateway", f"{host}:{port} cannot be reached.")
            return
        async with upstream:
            if opening:
                await upstream.send(opening + rest)
            else:
                await client.send(b"HTTP/1.1 200 Connection established\r\n\r\n")
                if rest:
                    await upstream.send(rest)
            await _splice(client, upstream)


async def _read_head(client: SocketStream) -> tuple[bytes, bytes]:
    data = b""
    while b"\r\n\r\n" not in data:
        if len(data) > HEAD_BYTES:
            raise anyio.BrokenResourceError
        data += await client.receive(HEAD_BYTES)
    head, _, rest = data.partition(b"\r\n\r\n")
    return head, rest


def _target(head: bytes) -> tuple[str, int, bytes] | None:
    """(host, port, what the server there must be told first: nothing for a tunnel)."""
    line, _, fields = head.decode("latin-1").partition("\r\n")
    words = line.split(" ")
    if len(words) != 3:
        return None
    method, address, _ = words
    try:
        parts = urlsplit(f"//{address}" if method == "CONNECT" else address)
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    if not host:
        return None
    if method == "CONNECT":
        return host, port or 443, b""
    if parts.scheme != "http":
        return None
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    kept = [
        field
        for field in fields.split("\r\n")
        if not field.lower().startswith(("connection:", "proxy-", "keep-alive:"))
    ]
    # One request per connection: the next one could be meant for another host.
    lines = [f"{method} {path} HTTP/1.1", *kept, "Connection: close", "", ""]
    return host, port or 80, "\r\n".join(lines).encode("latin-1")


async def _connect(host: str, port: int) -> SocketStream | None:
    with anyio.move_on_after(CONNECT_TIMEOUT_S):
        try:
            return await anyio.connect_tcp(host, port)
        except OSError:
            return None
    return None


async def _refuse(client: SocketStream, status: str, why: str) -> None:
    body = f"{why}\n".encode()
    head = f"HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    await client.send(head.encode() + body)


async def _splice(client: SocketStream, upstream: SocketStream) -> None:
    """Until both sides have said all."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_pass_on, client, upstream)
        tasks.start_soon(_pass_on, upstream, client)


async def _pass_on(source: SocketStream, target: SocketStream) -> None:
    try:
        while True:
            await target.send(await source.receive(PASS_BYTES))
    except anyio.EndOfStream:
        pass
    except _GONE:
        await anyio.aclose_forcefully(source)
        await anyio.aclose_forcefully(target)
        return
    try:
        await target.send_eof()
    except _GONE:
        return
