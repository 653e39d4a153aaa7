"""The preview layer over real sockets: in front of it a browser of ours, behind it a server standing in for what runs
in a sandbox."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import aiohttp
import anyio
import sqlalchemy as sa
from aiohttp import web
from yarl import URL

from outlast.base.errors import NotFound, OutlastError, SandboxLost
from outlast.base.ids import new_id
from outlast.db.database import Tx
from outlast.kernel.accounts.actions import ensure_local_owner
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.http.allowed_hosts import known_hosts
from outlast.kernel.http.event_stream import OpenStreams
from outlast.kernel.http.readiness import Readiness
from outlast.kernel.http.surface import Surface
from outlast.kernel.previews.actions import open_preview
from outlast.kernel.previews.hosts import Address, PreviewHosts
from outlast.kernel.previews.preview_layer import PreviewLayer
from outlast.kernel.sandboxes.tables import sandboxes, workspaces
from outlast.kernel.services import Services
from outlast.kernel.streams.settings import StreamSettings
from outlast.surfaces.http.application import create_http
from outlast.surfaces.http.server import HttpServer, bind
from outlast_sandbox.interface import Capabilities
from tests.factories import Team

PORT = 3000
HOSTS = PreviewHosts()


@dataclass
class Box:
    """Stands in for a sandbox: `ports` inside lead to ports of this machine."""

    sandbox_id: str
    ports: dict[int, int] = field(default_factory=dict)
    dialled: int = 0
    thaws: int = 0
    is_gone: bool = False

    async def thaw(self) -> None:
        self.thaws += 1
        if self.is_gone:
            raise SandboxLost("it is gone")

    async def dial(self, port: int) -> socket.socket:
        self.dialled += 1
        if port not in self.ports:
            raise NotFound(f"nothing listens on port {port} in the sandbox")
        stream = socket.create_connection(("127.0.0.1", self.ports[port]))
        stream.setblocking(False)
        return stream


class Machines:
    """Stands in for the sandbox manager: `state` is what the one sandbox is in."""

    def __init__(self, box: Box, workspace_id: str) -> None:
        self.box = box
        self.row: Any = SimpleNamespace(workspace_id=workspace_id)
        self.state = "awake"
        self.asked: list[str] = []
        self.gate: anyio.Event | None = None
        self.error: OutlastError | None = None
        self.provider = SimpleNamespace(name="local", capabilities=Capabilities(preview=True))
        self.attendants: list[Any] = []

    def attend(self, attendant: Any) -> None:
        self.attendants.append(attendant)
        attendant.awake(self.row, self.box)

    def sleep(self, state: str) -> None:
        self.state = state
        self.box.is_gone = state == "stopped"
        for attendant in self.attendants:
            attendant.asleep(self.row)

    async def ensure(self, _workspace_id: str, _project_id: str) -> Box:
        self.asked.append(f"ensure while {self.state}")
        if self.gate is not None:
            await self.gate.wait()
        if self.error is not None:
            raise self.error
        return self._woken()

    async def find(self, _workspace_id: str) -> Box | None:
        self.asked.append(f"find while {self.state}")
        return None if self.state == "stopped" else self._woken()

    def _woken(self) -> Box:
        self.state = "awake"
        self.box.is_gone = False
        for attendant in self.attendants:
            attendant.awake(self.row, self.box)
        return self.box


@dataclass
class Scene:
    """A project with a sandbox, and the server in front of it."""

    surface: Surface
    team: Team
    layer: PreviewLayer
    box: Box
    machines: Machines
    server_port: int
    client: aiohttp.ClientSession
    inside: web.Application
    requests: list[web.BaseRequest] = field(default_factory=list)

    @property
    def services(self) -> Services:
        return self.surface.services

    @property
    def host(self) -> str:
        return f"{HOSTS.format(Address(PORT, self.box.sandbox_id))}:{self.server_port}"

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    async def ticket(self, actor: Actor, port: int = PORT) -> str:
        return (await open_preview(self.services, actor, self.box.sandbox_id, port, "http://localhost:8400")).secret

    async def cookie(self, actor: Actor) -> str:
        """A Cookie header that lets this member in."""
        answer = await self.get(f"/.outlast/ticket?ticket={await self.ticket(actor)}")
        assert answer.status == 303, await answer.text()
        return answer.headers.getall("set-cookie")[0].partition(";")[0]

    async def get(self, path: str, cookie: str = "", **headers: str) -> aiohttp.ClientResponse:
        return await self.call("GET", path, cookie, **headers)

    async def call(
        self, method: str, path: str, cookie: str = "", data: Any = None, **headers: str
    ) -> aiohttp.ClientResponse:
        sent = {"host": self.host} | ({"cookie": cookie} if cookie else {})
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.client.request(
            method, URL(f"{self.url}{path}", encoded=True), headers=sent, data=data, allow_redirects=False
        )

    async def web_socket(self, path: str, cookie: str = "", **options: Any) -> aiohttp.ClientWebSocketResponse:
        headers = {"host": self.host, "origin": f"http://{self.host}", "cookie": cookie}
        return await self.client.ws_connect(
            f"{self.url}{path}", headers=headers | options.pop("headers", {}), **options
        )


@asynccontextmanager
async def previewed(services_over: Any, inside: web.Application, *, local: bool = False) -> AsyncIterator[Scene]:
    """Everything running. `services_over`: given the machines, the services."""
    placeholder = Machines(Box(""), "")
    services: Services = services_over(placeholder)
    team: Team = await services.db.write(Team)
    workspace_id, sandbox_id = await services.db.write(add_sandbox, team)
    placeholder.box.sandbox_id = sandbox_id
    placeholder.row.workspace_id = workspace_id
    async with _served_inside(inside) as inner_port:
        placeholder.box.ports[PORT] = inner_port
        surface = Surface(
            services=services,
            streams=OpenStreams(StreamSettings(heartbeat_s=60, slow_reader_s=60, recheck_s=60)),
            readiness=Readiness(services.db, None),
            local_owner=await ensure_local_owner(services) if local else None,
        )
        hosts = known_hosts("127.0.0.1", "", ())
        layer = PreviewLayer(create_http(surface, hosts), surface, hosts)
        listener = bind("127.0.0.1", 0)
        server = HttpServer(layer, [listener], 1, layer.close, layer.run)
        async with (
            anyio.create_task_group() as tasks,
            aiohttp.ClientSession(auto_decompress=False, cookie_jar=aiohttp.DummyCookieJar()) as client,
        ):
            tasks.start_soon(server.run_until_stopped)
            await server.ready.wait()
            yield Scene(surface, team, layer, placeholder.box, placeholder, listener.getsockname()[1], client, inside)
            server.stop()
            await server.stopped.wait()
            tasks.cancel_scope.cancel()


def add_sandbox(tx: Tx, team: Team) -> tuple[str, str]:
    """Rows of a workspace and its sandbox: their ids."""
    workspace_id, sandbox_id = new_id("workspace"), new_id("sandbox")
    common = {"project_id": team.project_id, "created_at": tx.now, "last_used_at": tx.now}
    owner = {"owner_type": "thread", "owner_id": team.thread_id}
    tx.execute(sa.insert(workspaces).values(id=workspace_id, **owner, **common))
    own = {"id": sandbox_id, "workspace_id": workspace_id, "provider": "local", "state": "ready"}
    tx.execute(sa.insert(sandboxes).values(**own, **common))
    return workspace_id, sandbox_id


@asynccontextmanager
async def _served_inside(app: web.Application) -> AsyncIterator[int]:
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    server: Any = site._server
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        await runner.cleanup()
