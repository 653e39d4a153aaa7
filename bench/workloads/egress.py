"""Egress: the time that a sandbox's proxy adds to an HTTPS request over a kept connection, compared with direct
requests of the same client, batch by batch in turn."""

import asyncio
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import anyio.to_thread

from bench.client import percentile
from bench.figures import Figure
from bench.servers import CORES, pin_client
from outlast.base.clock import SystemClock
from outlast.base.ids import new_id
from outlast.db.connect import migrate, open_database
from outlast.db.database import Tx
from outlast.kernel.accounts.store import add_user
from outlast.kernel.projects.store import add_project
from outlast.kernel.sandboxes.egress.keeper import EgressKeeper
from outlast.kernel.sandboxes.egress.policy import policy_of
from outlast.kernel.sandboxes.manager import SandboxManager
from outlast.kernel.sandboxes.settings import DependencySettings, SandboxSettings
from outlast.kernel.sandboxes.tables import workspaces
from outlast_sandbox.egress.certificate_authority import Authority
from outlast_sandbox.egress.dialer import contexts_trusting
from outlast_sandbox.interface import Command, Sandbox
from outlast_sandbox.providers.local.provider import LocalProvider

HOST, PUBLIC = "api.bench.example", "93.184.216.34"
CLIENT, SERVER = (Path(__file__).with_name(f"egress_{name}.py") for name in ("client", "host"))
SECRETS = DependencySettings("npm:bench", secret_env="BENCH_KEY", hosts=(HOST,))


class Nearby:
    """A fake network: one name, whose public address leads to a server on this machine."""

    def __init__(self, port: int) -> None:
        self._port = port

    async def resolve(self, host: str, port: int) -> list[str]:
        return [PUBLIC]

    async def connect(self, address: str, port: int) -> socket.socket:
        sock = socket.socket()
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        await asyncio.get_running_loop().sock_connect(sock, ("127.0.0.1", self._port))
        return sock


async def measure(quick: bool) -> list[Figure]:
    os.sched_setaffinity(0, CORES)  # client, proxy and host are three processes, here as where they are used
    try:
        return await _measure(quick)
    finally:
        pin_client()


async def _measure(quick: bool) -> list[Figure]:
    rounds, count = (6, 100) if quick else (24, 200)
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        provider = LocalProvider(folder / "sandboxes", folder / "cache")
        report = await provider.probe()
        if not report.ok:
            return [Figure(f"no sandboxes on this machine: {report.isolation}", float("nan"), "ms")]
        outside = Authority.fresh("bench")
        (folder / "outside.pem").write_text(outside.pem)
        (folder / "host.pem").write_bytes(outside.leaf(HOST))
        async with _host(folder) as port, _sandbox(folder, provider, port, outside) as box:
            return await _batches(box, folder, port, rounds, count)


@asynccontextmanager
async def _host(folder: Path) -> AsyncIterator[int]:
    arguments = [sys.executable, str(SERVER), str(folder / "host.pem")]
    server = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)  # noqa: ASYNC220 (before anything is measured)
    try:
        assert server.stdout is not None
        yield int(await anyio.to_thread.run_sync(server.stdout.readline))
    finally:
        server.kill()
        server.wait()


@asynccontextmanager
async def _sandbox(folder: Path, provider: LocalProvider, port: int, outside: Authority) -> AsyncIterator[Sandbox]:
    """A sandbox with egress, created as the server does: real rows, real log of secret uses."""
    clock = SystemClock()
    settings = SandboxSettings(dependencies=(SECRETS,))
    database = open_database("sqlite:///bench.db", folder, clock)
    await migrate(database)
    project_id, workspace_id = await database.write(_fill)
    contexts = contexts_trusting(outside.pem)

    async def lookup(user_id: str | None, project_id: str, name: str) -> str | None:
        return "the-real-value-of-the-secret"

    policy = policy_of(settings)
    keeper = EgressKeeper(
        database, clock, policy, folder / "egress", lookup=lookup, network=Nearby(port), contexts=contexts
    )
    machines = SandboxManager(database, provider, clock, settings, folder)
    machines.lives.way_out = keeper
    async with anyio.create_task_group() as tasks:
        await tasks.start(keeper.run)
        box = await machines.ensure(workspace_id, project_id)
        try:
            yield box
        finally:
            await machines.kill(workspace_id)
            tasks.cancel_scope.cancel()
    await database.aclose()


def _fill(tx: Tx) -> tuple[str, str]:
    project_id = add_project(tx, add_user(tx, "Ada", "unlimited"), "Bench")
    workspace_id = new_id("workspace")
    owner = {"owner_type": "thread", "owner_id": "thr_1", "last_used_at": tx.now}
    tx.execute(workspaces.insert().values(id=workspace_id, project_id=project_id, created_at=tx.now, **owner))
    return project_id, workspace_id


async def _batches(box: Sandbox, folder: Path, port: int, rounds: int, count: int) -> list[Figure]:
    await box.write_files([("client.py", CLIENT.read_bytes())])
    direct, plain, secret = [], [], []

    async def inside(header: str) -> float:
        script = f"python3 client.py {HOST} 0 3128 {count} $SSL_CERT_FILE {header}"
        result = await box.run(Command(new_id("effect"), 1, script))
        return float(result.output)

    for _ in range(rounds):
        arguments = ["/usr/bin/python3", str(CLIENT), HOST, str(port), "0", str(count), str(folder / "outside.pem")]
        done = await anyio.run_process(arguments)
        direct.append(float(done.stdout))
        plain.append(await inside(""))
        secret.append(await inside('"Authorization: Bearer $BENCH_KEY"'))
    alone = percentile(direct, 0.5)
    return [
        Figure("a direct request p50", alone, "ms"),
        Figure("added by the proxy p50", percentile(plain, 0.5) - alone, "ms", 0.5),
        Figure("added with an injected and logged secret p50", percentile(secret, 0.5) - alone, "ms", 0.5),
        Figure("added with a secret, fastest batches", min(secret) - min(direct), "ms"),
        Figure("added with a secret, slowest batch", percentile(secret, 1) - alone, "ms"),
    ]
