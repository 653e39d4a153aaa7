"""Preview: a request to a server in a sandbox through its preview, compared with the same request on a socket dialled
into the sandbox; and the first response of a frozen sandbox."""

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import anyio

from bench.client import now_ms, percentile
from bench.figures import Figure
from outlast.app import Program, open_program
from outlast.base.ids import new_id
from outlast.db.database import Tx
from outlast.kernel.accounts import actions as accounts
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.http.allowed_hosts import known_hosts
from outlast.kernel.http.event_stream import OpenStreams
from outlast.kernel.http.readiness import Readiness
from outlast.kernel.http.surface import Surface
from outlast.kernel.previews.actions import open_preview, redeem
from outlast.kernel.previews.hosts import Address
from outlast.kernel.previews.preview_layer import PreviewLayer
from outlast.kernel.projects.store import ensure_default_project
from outlast.kernel.sandboxes.manager import SandboxManager
from outlast.kernel.sandboxes.tables import workspaces
from outlast.kernel.settings import Settings
from outlast.kernel.streams.settings import StreamSettings
from outlast.surfaces.http.server import HttpServer, bind
from outlast_sandbox.interface import Command, Sandbox
from outlast_sandbox.ports.line import Line

PORT = 3000
BATCH = 50
SETTLE_S = 0.1  # nobody visits in the very moment of the freeze, while its rows are written
SERVER = """
import socketserver

class Answers(socketserver.StreamRequestHandler):
    def handle(self):
        while self.rfile.readline() not in (b"", b"\\r\\n"):
            while self.rfile.readline() not in (b"", b"\\r\\n"):
                pass
            self.wfile.write(b"HTTP/1.1 200 OK\\r\\ncontent-length: 2\\r\\n\\r\\nok")

class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True

Server(("127.0.0.1", 3000), Answers).serve_forever()
"""


async def measure(quick: bool) -> list[Figure]:
    rounds = 8 if quick else 30
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        settings = Settings()
        settings = replace(settings, server=replace(settings.server, data_dir=name))
        async with open_program(settings) as program:
            machines = program.services.sandboxes.manager
            assert machines is not None
            report = await machines.provider.probe()
            if not report.ok:
                return [Figure(f"no sandboxes on this machine: {report.isolation}", float("nan"), "ms")]
            async with _served(program, machines) as (server_port, head, sandbox, workspace_id):
                return await _figures(machines, server_port, head, sandbox, workspace_id, rounds)


@asynccontextmanager
async def _served(program: Program, machines: SandboxManager) -> AsyncIterator[tuple[int, bytes, Sandbox, str]]:
    """The server's port, an authorised request, and the sandbox that answers it."""
    services = program.services
    owner = await accounts.ensure_local_owner(services)
    streams = OpenStreams(StreamSettings(heartbeat_s=60, slow_reader_s=60, recheck_s=60))
    surface = Surface(services=services, streams=streams, readiness=Readiness(services.db, None), local_owner=owner)
    listener = bind("127.0.0.1", 0)
    layer = PreviewLayer(nothing, surface, known_hosts("127.0.0.1", "", ()))
    server = HttpServer(layer, [listener], 1, layer.close, layer.run)
    workspace_id, project_id = await services.db.write(_fill, owner)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(services.db.background)
        tasks.start_soon(server.run_until_stopped)
        await server.ready.wait()
        sandbox = await machines.ensure(workspace_id, project_id)
        try:
            await sandbox.write_files([("server.py", SERVER.encode())])
            await sandbox.run(Command(new_id("effect"), 1, "(setsid python3 server.py >log 2>&1 &) ; sleep 1"))
            ticket = await open_preview(services, owner, sandbox.sandbox_id, PORT, "")
            value = await redeem(services, ticket.secret, sandbox.sandbox_id, PORT, local_mode=True)
            host = surface.previews.format(Address(PORT, sandbox.sandbox_id))
            head = f"GET / HTTP/1.1\r\nhost: {host}\r\ncookie: outlast_preview={value}\r\n\r\n".encode()
            yield listener.getsockname()[1], head, sandbox, workspace_id
        finally:
            await machines.kill(workspace_id)
            server.stop()
            await server.stopped.wait()
            tasks.cancel_scope.cancel()


async def nothing(*_given: object) -> None:
    raise AssertionError("only previews are asked for")


def _fill(tx: Tx, owner: Actor) -> tuple[str, str]:
    project_id = ensure_default_project(tx, owner.user_id)
    workspace_id = new_id("workspace")
    made = {"id": workspace_id, "project_id": project_id, "owner_type": "thread", "owner_id": "thr_bench"}
    tx.execute(workspaces.insert().values(**made, created_at=tx.now, last_used_at=tx.now))
    return workspace_id, project_id


async def _figures(
    machines: SandboxManager, server_port: int, head: bytes, sandbox: Sandbox, workspace_id: str, rounds: int
) -> list[Figure]:
    browser = await anyio.connect_tcp("127.0.0.1", server_port)
    line = Line(await sandbox.dial(PORT))

    async def through() -> None:
        await browser.send(head)
        answer = b""
        while not answer.endswith(b"\r\n\r\nok"):
            answer += await browser.receive()
        assert answer.startswith(b"HTTP/1.1 200"), answer

    async def direct() -> None:
        await line.send(head)
        assert (await line.receive()).endswith(b"ok")

    for call in (through, direct):
        await call()
    preview: list[float] = []
    dialled: list[float] = []
    woken: list[float] = []
    for _ in range(rounds):  # in turn, so that a slow moment of the machine hits all
        for call, times in ((through, preview), (direct, dialled)):
            for _ in range(BATCH):
                began = now_ms()
                await call()
                times.append(now_ms() - began)
        await anyio.sleep(SETTLE_S)
        await machines.freeze(workspace_id)
        await anyio.sleep(SETTLE_S)
        began = now_ms()
        await through()
        woken.append(now_ms() - began)
    line.close()
    await browser.aclose()
    added = percentile(preview, 0.5) - percentile(dialled, 0.5)
    return [
        Figure("thaw to first HTTP answer p50", percentile(woken, 0.5), "ms", 5),
        Figure("thaw to first HTTP answer, slowest", percentile(woken, 1), "ms"),
        Figure("a request through the preview p50", percentile(preview, 0.5), "ms"),
        Figure("the same over a dialled socket p50", added, "ms"),
    ]
