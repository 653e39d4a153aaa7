"""Servers in real sandboxes, seen through their previews."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path

import aiohttp
import anyio
import pytest

from outlast.app import Program, open_program
from outlast.base.ids import new_id
from outlast.db.database import Tx
from outlast.kernel.accounts import actions as accounts
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.http.allowed_hosts import known_hosts
from outlast.kernel.http.event_stream import OpenStreams
from outlast.kernel.http.readiness import Readiness
from outlast.kernel.http.surface import Surface
from outlast.kernel.previews.actions import list_ports, open_preview, redeem
from outlast.kernel.previews.hosts import Address, PreviewHosts
from outlast.kernel.previews.preview_layer import PreviewLayer
from outlast.kernel.projects.store import ensure_default_project
from outlast.kernel.sandboxes.manager import SandboxManager
from outlast.kernel.sandboxes.services.rules import Declared
from outlast.kernel.sandboxes.tables import workspaces
from outlast.kernel.settings import Settings
from outlast.kernel.streams.settings import StreamSettings
from outlast.surfaces.http.server import HttpServer, bind, bind_twin

pytestmark = pytest.mark.sandbox

FILES = Declared("files", "exec python3 -m http.server --bind 127.0.0.1 8000", 8000)
ECHO = Declared("echo", "exec python3 echo.py", 8001)
ECHO_SOURCE = b'''
import base64, hashlib, socketserver

class Echo(socketserver.StreamRequestHandler):
    """A WebSocket that gives every message back, in as few lines as that takes."""

    def handle(self):
        key = b""
        while (line := self.rfile.readline().strip()):
            if line.lower().startswith(b"sec-websocket-key:"):
                key = line.split(b":", 1)[1].strip()
        if not key:
            return  # somebody looked whether the port is open
        digest = hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest()
        accept = base64.b64encode(digest)
        self.wfile.write(b"HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\n"
                         b"Sec-WebSocket-Accept: " + accept + b"\\r\\n\\r\\n")
        while (head := self.rfile.read(2)):
            length = head[1] & 127
            if length == 126:
                length = int.from_bytes(self.rfile.read(2), "big")
            mask = self.rfile.read(4)
            payload = bytes(b ^ mask[i % 4] for i, b in enumerate(self.rfile.read(length)))
            size = bytes([length]) if length < 126 else b"\\x7e" + length.to_bytes(2, "big")
            self.wfile.write(head[:1] + size + payload)

class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True

Server(("127.0.0.1", 8001), Echo).serve_forever()
'''


@dataclass
class Seen:
    """A workspace with a sandbox, and a browser that was let in to its ports."""

    program: Program
    machines: SandboxManager
    owner: Actor
    workspace_id: str
    project_id: str
    sandbox_id: str
    server_port: int
    client: aiohttp.ClientSession

    async def headers(self, port: int) -> dict[str, str]:
        services = self.program.services
        ticket = await open_preview(services, self.owner, self.sandbox_id, port, "")
        value = await redeem(services, ticket.secret, self.sandbox_id, port, local_mode=True)
        name = f"{PreviewHosts().format(Address(port, self.sandbox_id))}:{self.server_port}"
        return {"host": name, "origin": f"http://{name}", "cookie": f"outlast_preview={value}"}

    async def get(self, port: int, path: str = "/", address: str = "127.0.0.1") -> tuple[int, bytes]:
        headers = await self.headers(port)
        url = f"http://{address}:{self.server_port}{path}"
        async with self.client.get(url, headers=headers) as answer:
            return answer.status, await answer.read()

    async def declare(self, service: Declared) -> None:
        keeper = self.program.services.sandboxes.keeper
        assert keeper is not None
        await keeper.declare(self.workspace_id, service)
        assert (await keeper.wait_settled(self.workspace_id, service.name, 60)).state == "healthy"


def _workspace(tx: Tx, owner: Actor) -> tuple[str, str]:
    project_id, workspace_id = ensure_default_project(tx, owner.user_id), new_id("workspace")
    made = {"id": workspace_id, "project_id": project_id, "owner_type": "thread", "owner_id": "thr_test"}
    tx.execute(workspaces.insert().values(**made, created_at=tx.now, last_used_at=tx.now))
    return workspace_id, project_id


@pytest.fixture
async def seen(tmp_path: Path) -> AsyncIterator[Seen]:
    settings = Settings()
    settings = replace(settings, server=replace(settings.server, data_dir=str(tmp_path)))
    async with open_program(settings) as program:
        services, machines = program.services, program.services.sandboxes.manager
        assert machines is not None
        assert services.sandboxes.keeper is not None
        owner = await accounts.ensure_local_owner(services)
        streams = OpenStreams(StreamSettings(heartbeat_s=60, slow_reader_s=60, recheck_s=60))
        readiness = Readiness(services.db, None)
        surface = Surface(services=services, streams=streams, readiness=readiness, local_owner=owner)
        layer = PreviewLayer(_nothing, surface, known_hosts("127.0.0.1", "", ()))
        listener = bind("127.0.0.1", 0)
        twin = bind_twin(listener)
        listeners = [listener] if twin is None else [listener, twin]
        server = HttpServer(layer, listeners, 1, layer.close, layer.run)
        workspace_id, project_id = await services.db.write(_workspace, owner)
        async with anyio.create_task_group() as tasks, aiohttp.ClientSession() as client:
            tasks.start_soon(services.db.background)
            await tasks.start(services.sandboxes.keeper.run)
            tasks.start_soon(server.run_until_stopped)
            await server.ready.wait()
            sandbox = await machines.ensure(workspace_id, project_id)
            try:
                yield Seen(
                    program,
                    machines,
                    owner,
                    workspace_id,
                    project_id,
                    sandbox.sandbox_id,
                    listener.getsockname()[1],
                    client,
                )
            finally:
                await machines.kill(workspace_id)
                server.stop()
                await server.stopped.wait()
                tasks.cancel_scope.cancel()


async def _nothing(*_given: object) -> None:
    raise AssertionError("only previews are asked for")


async def test_files_and_messages_come_through_and_a_visit_wakes(seen: Seen):
    """One sandbox for the whole story: each start costs seconds on a busy machine."""
    sandbox = await seen.machines.ensure(seen.workspace_id, seen.project_id)
    large = b"0123456789abcdef" * 200_000
    await sandbox.write_files([("page.html", b"<h1>inside</h1>"), ("large.bin", large), ("echo.py", ECHO_SOURCE)])
    await seen.declare(FILES)
    await seen.declare(ECHO)

    assert await seen.get(8000, "/page.html") == (200, b"<h1>inside</h1>")
    assert (await seen.get(8000, "/large.bin"))[1] == large
    assert (await seen.get(8000, "/missing"))[0] == 404
    ports = await list_ports(seen.program.services, seen.owner, seen.sandbox_id)
    assert [(port.port, port.service, port.listening) for port in ports] == [
        (8000, "files", True),
        (8001, "echo", True),
    ]

    url = f"http://127.0.0.1:{seen.server_port}/"
    async with seen.client.ws_connect(url, headers=await seen.headers(8001)) as socket:
        for message in ("hello", "x" * 10_000):
            await socket.send_str(message)
            assert await socket.receive_str() == message
        await seen.machines.freeze(seen.workspace_id)
        await socket.send_str("are you asleep?")  # words wake it
        assert await socket.receive_str() == "are you asleep?"

    await seen.machines.freeze(seen.workspace_id)
    assert await seen.get(8000, "/page.html") == (200, b"<h1>inside</h1>")

    await seen.machines.stop(seen.workspace_id)
    assert await seen.get(8000, "/page.html") == (200, b"<h1>inside</h1>")

    await seen.machines.kill(seen.workspace_id)
    assert await seen.get(8000, "/page.html") == (200, b"<h1>inside</h1>")
    replaced = await seen.machines.ensure(seen.workspace_id, seen.project_id)
    assert replaced.sandbox_id != seen.sandbox_id  # and the old name still leads there


async def test_both_loopback_addresses_answer_and_a_silent_port_is_told(seen: Seen, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("outlast.kernel.previews.preview_layer.PATIENCE_S", 0.2)
    for address in ("127.0.0.1", "[::1]"):
        status, text = await seen.get(9999, address=address)
        assert status == 503
        assert b"Waiting for a server to listen on port 9999" in text
