"""A screen's whole machine with the real template of Vite and real Node: seeded, started, asleep, killed, edited."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import anyio.to_thread
import pytest
from websockets.sync.client import connect

from outlast.base.clock import SystemClock
from outlast.base.data_directory import cache_directory
from outlast.base.errors import NotFound, SandboxLost
from outlast.base.ids import new_id
from outlast.db.blobs.folder import FolderBlobs
from outlast.db.connect import open_database
from outlast.db.database import Database, Tx
from outlast.kernel.projects.tables import members
from outlast.kernel.sandboxes.checkpoints import store as checkpoints
from outlast.kernel.sandboxes.checkpoints.keeper import CheckpointKeeper
from outlast.kernel.sandboxes.manager import SandboxManager
from outlast.kernel.sandboxes.orphans import reconcile
from outlast.kernel.sandboxes.screen_settings import ScreenSettings
from outlast.kernel.sandboxes.seeds import Seeds, new_workspace
from outlast.kernel.sandboxes.services.keeper import ServiceKeeper
from outlast.kernel.sandboxes.services.logs import ServiceLogs
from outlast.kernel.sandboxes.services.store import service_of
from outlast.kernel.sandboxes.settings import SandboxSettings
from outlast.kernel.sandboxes.snapshots.keeper import SnapshotKeeper
from outlast.kernel.sandboxes.template_files import load_templates
from outlast.kernel.sandboxes.templates import DEV_PORT, DEV_SERVER
from outlast.kernel.threads.store import add_thread
from outlast_sandbox.interface import Command, Sandbox
from outlast_sandbox.providers.local.provider import LocalProvider
from tests.built_templates import built_template
from tests.sandbox.test_manager import House

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(600)]
WAIT_S = 120.0
PAGE = b'export default function Page() {\n  return <main className="p-4">%s</main>\n}\n'


class Canvas(House):
    """A project with one screen, and one server's rooms at a time."""

    machines: SandboxManager
    files: CheckpointKeeper
    services: ServiceKeeper

    def __init__(self, db: Database, data_dir: Path, template: str) -> None:
        super().__init__(db, data_dir)
        self.template = template
        self.templates = load_templates(ScreenSettings())
        self.blobs = FolderBlobs(data_dir / "blobs")

    async def screen(self) -> None:
        """Make it, as creating one does."""
        await self.furnish()
        seed = await Seeds(self.blobs, self.templates).of(self.template)

        def make(tx: Tx) -> str:
            owner = add_thread(tx, self.project_id, self.owner_id(tx))
            ids = {"project_id": self.project_id, "thread_id": owner}
            return new_workspace(tx, seed, ("screen", new_id("screen")), **ids)

        self.workspace_id = await self.db.write(make)

    def owner_id(self, tx: Tx) -> str:
        return str(tx.value(members.c.user_id, {"project_id": self.project_id}))

    async def awake(self) -> Sandbox:
        return await self.machines.ensure(self.workspace_id, self.project_id)

    async def shell(self, script: str) -> str:
        box = await self.awake()
        return (await box.run(Command(new_id("effect"), 1, script, timeout_s=WAIT_S))).output.strip()

    async def get(self, path: str = "/") -> str:
        """What the dev server answers, waited for as a preview's visitor waits."""
        with anyio.fail_after(WAIT_S):
            while True:
                box = await self.awake()
                try:
                    connection = await box.dial(DEV_PORT)
                except (NotFound, SandboxLost):
                    await anyio.sleep(0.05)
                    continue
                with connection:
                    connection.setblocking(True)
                    connection.settimeout(WAIT_S)
                    return await anyio.to_thread.run_sync(_asked, connection, path)

    async def healthy(self) -> None:
        row = await self.services.wait_settled(self.workspace_id, DEV_SERVER, WAIT_S)
        assert row.state == "healthy", row.error


@asynccontextmanager
async def server(canvas: Canvas, local: LocalProvider) -> AsyncIterator[None]:
    """One life of the server; the sandboxes live on."""
    settings = SandboxSettings(memory_mb=512, disk_mb=1024)
    provider = LocalProvider(local.state_dir, cache_directory())
    machines = canvas.machines = canvas.manager(provider, settings)
    machines.lives.templates = canvas.templates
    canvas.files = CheckpointKeeper(
        canvas.db, canvas.blobs, canvas.clock, settings, canvas.data_dir,
        node_id="local", local=True, find=machines.find, layers_of=machines.layers_of,
    )  # fmt: skip
    snapshots = SnapshotKeeper(canvas.db, provider, canvas.clock, settings, node_id="local", templates=canvas.templates)
    logs = ServiceLogs(canvas.data_dir / "services")
    canvas.services = ServiceKeeper(canvas.db, canvas.clock, logs, find=machines.find)
    machines.lives.files = canvas.files
    machines.lives.snapshots = snapshots
    machines.attend(canvas.files)
    machines.attend(canvas.services)
    async with anyio.create_task_group() as tasks:
        await tasks.start(canvas.services.run)
        tasks.start_soon(snapshots.run)
        await reconcile(machines)
        yield
        tasks.cancel_scope.cancel()
    await machines.aclose()


@pytest.fixture
async def sqlite(sqlite_url: str, tmp_path: Path) -> AsyncIterator[Database]:
    database = open_database(sqlite_url, tmp_path, SystemClock())
    yield database
    await database.aclose()


@pytest.fixture(params=["vite", pytest.param("next", marks=pytest.mark.deep)])
async def canvas(sqlite: Database, tmp_path: Path, request: pytest.FixtureRequest) -> Canvas:
    await anyio.to_thread.run_sync(built_template, request.param)
    made = Canvas(sqlite, tmp_path / "data", request.param)
    await made.screen()
    return made


async def test_the_dev_server_is_there_with_the_sandbox_after_whatever_has_happened_to_it(
    canvas: Canvas, local: LocalProvider
) -> None:
    """Created, put to sleep, stopped, killed, and found by another server: nobody has to ask for it."""
    async with server(canvas, local):
        assert "html" in await canvas.get()
        await canvas.healthy()
        assert await canvas.shell("ls node_modules/.bin/tsc; tsc --noEmit && echo fine") == (
            "node_modules/.bin/tsc\nfine"
        )
        assert await canvas.files.take(canvas.workspace_id, "tool") is None, "only what it began with is there"
        await canvas.machines.freeze(canvas.workspace_id)
        assert "html" in await canvas.get()
        await canvas.machines.stop(canvas.workspace_id)
        row = await canvas.db.read(service_of, canvas.workspace_id, DEV_SERVER)
        assert row.state == "stopped"
        assert "html" in await canvas.get()
        await canvas.healthy()
        await canvas.machines.kill(canvas.workspace_id)
        assert "html" in await canvas.get()
        sandbox_id = (await canvas.row()).id
    async with server(canvas, local):
        assert "html" in await canvas.get()
        assert (await canvas.row()).id == sandbox_id, "it has outlived the server, and its dev server with it"
        await canvas.healthy()
        assert (await canvas.db.read(service_of, canvas.workspace_id, DEV_SERVER)).restarts == 0


async def test_what_the_agent_writes_is_shown_without_a_restart(canvas: Canvas, local: LocalProvider) -> None:
    async with server(canvas, local):
        await canvas.get()
        if canvas.template == "vite":
            await _told_of_the_change(canvas)
        box = await canvas.awake()
        await box.write_files([("app/page.tsx", PAGE % b"Changed twice")])
        path = "/app/page.tsx" if canvas.template == "vite" else "/"

        async def shown() -> bool:
            return "Changed twice" in await canvas.get(path)

        await until(shown)
        saved = await canvas.files.take(canvas.workspace_id, "tool")
        assert saved is not None
        first = await canvas.db.read(checkpoints.first_of, canvas.workspace_id)
        assert first is not None
        assert saved.files == first.files, "packages and caches are no files of the screen"


async def _told_of_the_change(canvas: Canvas) -> None:
    """Vite tells the page that a module is new, and which."""
    token = re.search(r'wsToken = "([^"]+)"', await canvas.get("/@vite/client"))
    assert token is not None
    await canvas.get("/main.tsx")
    await canvas.get("/app/page.tsx")
    box = await canvas.awake()
    line = await box.dial(DEV_PORT)
    line.setblocking(True)
    url = f"ws://localhost:{DEV_PORT}/?token={token[1]}"
    with connect(url, sock=line, subprotocols=["vite-hmr"], proxy=None) as page:  # type: ignore[list-item]
        assert json.loads(page.recv(WAIT_S))["type"] == "connected"
        await box.write_files([("app/page.tsx", PAGE % b"Changed once")])
        told = await anyio.to_thread.run_sync(lambda: json.loads(page.recv(WAIT_S)))
    assert told["type"] == "update"
    assert "/app/page.tsx" in [update["path"] for update in told["updates"]]


async def until(done: Callable[[], Awaitable[bool]]) -> None:
    with anyio.fail_after(WAIT_S):
        while not await done():  # noqa: ASYNC110 - a process outside says nothing when it is done
            await anyio.sleep(0.05)


def _asked(connection: socket.socket, path: str) -> str:
    head = f"GET {path} HTTP/1.1\r\nHost: localhost:{DEV_PORT}\r\nAccept: text/html,*/*\r\n"
    connection.sendall(f"{head}Connection: close\r\n\r\n".encode())
    answer = b""
    while data := connection.recv(1 << 16):
        answer += data
    return answer.decode("utf-8", "replace")
