"""The request guard over real sockets, before an application that echoes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import anyio
from anyio.abc import SocketStream
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from outlast.kernel.http.allowed_hosts import known_hosts
from outlast.kernel.http.body_limits import USUAL_PACE, BodyPace
from outlast.kernel.http.request_heads import HeadLimits
from outlast.surfaces.http.middleware import RequestGuard
from outlast.surfaces.http.server import HttpServer, bind

MEBIBYTE = 1024 * 1024


@dataclass
class Served:
    """A server whose application echoes; requests for /wait are answered once `go` is set."""

    port: int
    server: HttpServer
    go: anyio.Event = field(default_factory=anyio.Event)
    seen: list[Scope] = field(default_factory=list)
    news: anyio.Condition = field(default_factory=anyio.Condition)

    async def connect(self) -> SocketStream:
        return await anyio.connect_tcp("127.0.0.1", self.port)

    async def wait_seen(self, count: int) -> None:
        """Until the application has been asked so often."""
        async with self.news:
            while len(self.seen) < count:
                await self.news.wait()

    async def ask(self, sent: bytes) -> bytes:
        """What comes back for these bytes, until the server closes."""
        async with await self.connect() as client:
            with suppress(anyio.BrokenResourceError):
                await client.send(sent)
            return await rest_of(client)


@asynccontextmanager
async def served(
    *, body_bytes: int = MEBIBYTE, read_away_s: float = 5, pace: BodyPace = USUAL_PACE, **limits: Any
) -> AsyncIterator[Served]:
    listener = bind("127.0.0.1", 0)

    async def echo(scope: Scope, receive: Receive, send: Send) -> None:
        async with here.news:
            here.seen.append(scope)
            here.news.notify_all()
        if scope["path"] == "/wait":
            await here.go.wait()
        body = await Request(scope, receive).body()
        text = f"{scope['method']} {scope['path']} {len(body)}"
        await PlainTextResponse(text)(scope, receive, send)

    known = known_hosts("127.0.0.1", "", ())
    guard = RequestGuard(echo, known, body_bytes=body_bytes, image_bytes=body_bytes, read_away_s=read_away_s, pace=pace)
    server = HttpServer(guard, [listener], 1, lambda: None, limits=HeadLimits(**limits))
    here = Served(listener.getsockname()[1], server)
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(server.run_until_stopped)
            await server.ready.wait()
            yield here
            here.go.set()
            server.stop()


async def rest_of(client: SocketStream) -> bytes:
    received = b""
    with suppress(anyio.EndOfStream, anyio.BrokenResourceError):
        while True:
            received += await client.receive(MEBIBYTE)
    return received


async def send_until_closed(client: SocketStream, piece: bytes) -> None:
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        while True:
            await client.send(piece)
