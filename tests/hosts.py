"""Hosts of a world that is not there: names, addresses and servers for the egress proxy, all on the loopback interface.

`World` stands in for resolver and network: whatever address the proxy wants to connect to, only a server of the test's
own is ever reached, and what was asked for is noted. So no packet leaves the machine even where a defence fails.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import DataReceived, RequestReceived, StreamEnded, StreamReset

from outlast.base.clock import SystemClock
from outlast_sandbox.egress.certificate_authority import Authority
from outlast_sandbox.egress.dialer import TlsContexts, contexts_trusting

PUBLIC = "93.184.216.34"
Answer = Callable[[bytes, bytes], bytes]
Handle = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class World:
    """`names`: what a name resolves to, each look-up taking the next list and the last one staying; `doors`: which
    port of this machine stands for an address."""

    names: dict[str, list[list[str]]] = field(default_factory=dict)
    doors: dict[tuple[str, int], int] = field(default_factory=dict)
    looked_up: list[str] = field(default_factory=list)
    connected: list[tuple[str, int]] = field(default_factory=list)

    def put(self, host: str, port: int, door: int, address: str = PUBLIC) -> None:
        """A host with one address, where a server of the test's own answers."""
        self.names.setdefault(host, [[address]])
        self.doors[address, port] = door

    async def resolve(self, host: str, port: int) -> list[str]:
        self.looked_up.append(host)
        found = self.names.get(host)
        if found is None:
            raise socket.gaierror(socket.EAI_NONAME, "no such name")
        return found.pop(0) if len(found) > 1 else found[0]

    async def connect(self, address: str, port: int) -> socket.socket:
        self.connected.append((address, port))
        door = self.doors.get((address, port))
        if door is None:
            raise ConnectionRefusedError(111, "nobody there")
        sock = socket.socket()
        sock.setblocking(False)
        await asyncio.get_running_loop().sock_connect(sock, ("127.0.0.1", door))
        return sock


def echo(head: bytes, body: bytes) -> bytes:
    """An answer that tells back all that was asked."""
    content = head + b"\r\n\r\n" + body
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(content), content)


@dataclass
class Host:
    """A server that answers HTTP/1.1 by a function of (head, body); `requests` are the heads it has seen."""

    answer: Answer = echo
    requests: list[bytes] = field(default_factory=list)
    connections: int = 0
    port: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n"))[:-4]
                self.requests.append(head)
                body = await read_body(head, reader)
                answer = self.answer(head, body)
                if not answer:
                    break
                writer.write(answer)
                await writer.drain()
        writer.close()


async def read_body(head: bytes, reader: asyncio.StreamReader) -> bytes:
    fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
    if fields.get(b"transfer-encoding") == b"chunked":
        body = b""
        while size := int(await reader.readuntil(b"\r\n"), 16):
            body += await reader.readexactly(size)
            await reader.readexactly(2)
        await reader.readexactly(2)
        return body
    return await reader.readexactly(int(fields.get(b"content-length", b"0")))


@asynccontextmanager
async def listening(handle: Handle, tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """The port of a server on the loopback interface; its connections end with it."""
    writers: list[asyncio.StreamWriter] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        try:
            await handle(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError, ssl.SSLError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    try:
        yield int(server.sockets[0].getsockname()[1])
    finally:
        server.close()
        for writer in writers:
            with contextlib.suppress(
                AttributeError
            ):  # asyncio's TLS transport lacks its protocol once it is closed (Python 3.11.2)
                writer.transport.abort()


class Trust:
    """The authority of the hosts outside, which the proxy trusts."""

    def __init__(self) -> None:
        self.authority = Authority.fresh("outside")

    def server(self, host: str, alpn: list[str] | None = None) -> ssl.SSLContext:
        context = self.authority.context(host, SystemClock().now())
        context.sni_callback = None
        context.set_alpn_protocols(alpn or ["http/1.1"])
        return context

    def contexts(self) -> TlsContexts:
        return contexts_trusting(self.authority.pem)


class Http2Host:
    """A server that answers HTTP/2 by echoing headers and body; `slow` paths never get an answer."""

    def __init__(self, body: bytes = b"") -> None:
        self.body = body  # instead of the echo
        self.requests: list[list[tuple[bytes, bytes]]] = []
        self.connections = 0
        self.reset: list[int] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        server = H2Connection(H2Configuration(client_side=False, header_encoding=None))
        server.initiate_connection()
        writer.write(server.data_to_send())
        heads: dict[int, list[tuple[bytes, bytes]]] = {}
        bodies: dict[int, bytes] = {}
        waiting: dict[int, bytes] = {}
        while data := await reader.read(65536):
            for event in server.receive_data(data):
                if isinstance(event, RequestReceived):
                    heads[event.stream_id] = list(event.headers)
                    bodies[event.stream_id] = b""
                    self.requests.append(list(event.headers))
                elif isinstance(event, DataReceived):
                    bodies[event.stream_id] += event.data
                    server.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
                elif isinstance(event, StreamReset):
                    self.reset.append(event.stream_id)
                    waiting.pop(event.stream_id, None)
                if isinstance(event, StreamEnded) and (b":path", b"/slow") not in heads[event.stream_id]:
                    waiting[event.stream_id] = self._begin(
                        server, event.stream_id, heads[event.stream_id], bodies[event.stream_id]
                    )
            for stream_id in list(waiting):
                waiting[stream_id] = self._pour(server, stream_id, waiting[stream_id])
                if not waiting[stream_id]:
                    server.end_stream(stream_id)
                    del waiting[stream_id]
            writer.write(server.data_to_send())
            await writer.drain()

    def _begin(self, server: H2Connection, stream_id: int, head: list[tuple[bytes, bytes]], body: bytes) -> bytes:
        server.send_headers(stream_id, [(b":status", b"200"), (b"x-seen", dict(head).get(b"x-key", b"-"))])
        return self.body or b"\n".join(b"%b: %b" % field for field in head) + b"\n\n" + body

    @staticmethod
    def _pour(server: H2Connection, stream_id: int, body: bytes) -> bytes:
        while body:
            size = min(server.local_flow_control_window(stream_id), server.max_outbound_frame_size, len(body))
            if size <= 0:
                break
            server.send_data(stream_id, body[:size])
            body = body[size:]
        return body
