"""A scene for each test: a server, a project with a sandbox, and something that listens in it."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from aiohttp import WSMsgType, web

from outlast.base.clock import SystemClock
from outlast.db.connect import open_database
from tests.factories import make_services
from tests.flow.preview.rig import Scene, previewed


class Inside:
    """What listens: it tells what it was asked, and does as it is told."""

    def __init__(self) -> None:
        self.requests: list[web.Request] = []
        self.bodies: list[bytes] = []
        self.go_on = anyio.Event()
        self.closed: int | None = None

    def app(self) -> web.Application:
        app = web.Application(client_max_size=0)
        app.router.add_get("/ws", self.web_socket)
        app.router.add_get("/events", self.events)
        app.router.add_get("/cookies", self.cookies)
        app.router.add_get("/broken", self.broken)
        app.router.add_post("/early", self.early)
        app.router.add_get("/large", self.large)
        app.router.add_get("/file", self.file)
        app.router.add_route("*", "/{path:.*}", self.echo)
        return app

    async def echo(self, request: web.Request) -> web.Response:
        self.requests.append(request)
        self.bodies.append(await request.read())
        return web.json_response(
            {
                "method": request.method,
                "path": request.raw_path,
                "headers": [[name.lower(), value] for name, value in request.headers.items()],
                "bytes": len(self.bodies[-1]),
            }
        )

    async def cookies(self, _request: web.Request) -> web.Response:
        answer = web.Response(text="ok", headers={"Clear-Site-Data": '"cookies"', "X-Frame-Options": "DENY"})
        answer.headers.add("Set-Cookie", "mine=1; Domain=preview.localhost; Path=/; HttpOnly")
        answer.headers.add("Set-Cookie", "outlast_preview=stolen; Path=/")
        return answer

    async def events(self, request: web.Request) -> web.StreamResponse:
        answer = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await answer.prepare(request)
        await answer.write(b"data: one\n\n")
        await self.go_on.wait()
        await answer.write(b"data: two\n\n")
        return answer

    async def broken(self, request: web.Request) -> web.StreamResponse:
        answer = web.StreamResponse(headers={"Content-Length": "1000"})
        await answer.prepare(request)
        await answer.write(b"x" * 10)
        assert request.transport is not None
        request.transport.close()
        return answer

    async def early(self, _request: web.Request) -> web.Response:
        return web.Response(status=413, text="too much")

    async def large(self, request: web.Request) -> web.StreamResponse:
        answer = web.StreamResponse()
        await answer.prepare(request)
        for _ in range(64):
            await answer.write(b"y" * 65_536)
        return answer

    async def file(self, request: web.Request) -> web.Response:
        return web.Response(body=b"0123456789"[request.http_range], status=206)

    async def web_socket(self, request: web.Request) -> web.WebSocketResponse:
        self.requests.append(request)
        answer = web.WebSocketResponse(protocols=("vite-hmr",), autoping=True)
        await answer.prepare(request)
        async for message in answer:
            if message.type is WSMsgType.TEXT and message.data == "bye":
                await answer.close(code=4321, message=b"as you wish")
            elif message.type is WSMsgType.TEXT:
                await answer.send_str(f"heard {message.data}")
            elif message.type is WSMsgType.BINARY:
                await answer.send_bytes(message.data)
        self.closed = answer.close_code
        return answer


@pytest.fixture
def inside() -> Inside:
    return Inside()


@pytest.fixture
async def scene(migrated_sqlite: Path, tmp_path: Path, inside: Inside) -> AsyncIterator[Scene]:
    shutil.copy(migrated_sqlite, tmp_path / "outlast.db")
    database = open_database("sqlite:///outlast.db", tmp_path, SystemClock())

    def services(machines: Any) -> Any:
        return make_services(database, tmp_path, manager=machines)

    with anyio.fail_after(60):
        async with previewed(services, inside.app()) as made:
            yield made
    await database.aclose()
