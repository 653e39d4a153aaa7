"""A program that receives webhooks: a real HTTP server on the loopback interface."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import orjson
from aiohttp import web


@dataclass(frozen=True)
class Received:
    """A request: its headers in lower case, and its body."""

    headers: dict[str, str]
    body: bytes

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    @property
    def event(self) -> dict[str, Any]:
        event: dict[str, Any] = orjson.loads(self.body)
        return event

    def is_signed_with(self, secret: str) -> bool:
        """As the specification of Standard Webhooks says, written out apart from the server's code."""
        key = base64.b64decode(secret.split("_", 1)[1])
        signed = b".".join([self.id.encode(), self.headers["webhook-timestamp"].encode(), self.body])
        wanted = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
        given = [one.split(",", 1) for one in self.headers["webhook-signature"].split(" ")]
        return any(version == "v1" and hmac.compare_digest(text, wanted) for version, text in given)


Reply = Callable[[Received], Awaitable[web.StreamResponse] | web.StreamResponse]


@dataclass
class Receiver:
    """`reply` makes each answer; the usual one is 204."""

    reply: Reply = lambda _request: web.Response(status=204)
    requests: list[Received] = field(default_factory=list)
    accepted: list[Received] = field(default_factory=list)
    port: int = 0
    _news: anyio.Event = field(default_factory=anyio.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hooks"

    @property
    def place(self) -> str:
        return f"127.0.0.1:{self.port}"

    async def handle(self, request: web.Request) -> web.StreamResponse:
        received = Received({name.lower(): text for name, text in request.headers.items()}, await request.read())
        self.requests.append(received)
        try:
            answer = self.reply(received)
            whole = answer if isinstance(answer, web.StreamResponse) else await answer
        finally:
            self._ring()
        if 200 <= whole.status < 300:
            self.accepted.append(received)
            self._ring()
        return whole

    def _ring(self) -> None:
        self._news.set()
        self._news = anyio.Event()

    async def until(self, holds: Callable[[], bool], most_s: float = 20) -> None:
        """Return once `holds`, which is asked at each request."""
        with anyio.fail_after(most_s):
            while not holds():
                await self._news.wait()

    async def until_accepted(self, count: int) -> list[Received]:
        await self.until(lambda: len(self.accepted) >= count)
        return self.accepted


@asynccontextmanager
async def receiving(reply: Reply | None = None, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[Receiver]:
    """A receiver that runs."""
    receiver = Receiver() if reply is None else Receiver(reply)
    app = web.Application(client_max_size=1 << 20)
    app.router.add_route("*", "/{path:.*}", receiver.handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    try:
        site = web.TCPSite(runner, host, port)
        await site.start()
        receiver.port = runner.addresses[0][1]
        yield receiver
    finally:
        with anyio.CancelScope(shield=True):
            await runner.cleanup()
