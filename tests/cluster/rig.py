"""The cluster: three servers, PostgreSQL, Redis, an S3 and a balancer, each on a machine of its own (`machines`).

    async with Rig(tmp_path) as rig:
        await rig.door.call("POST", "/v1/runs", …)  # through the balancer
        rig.network.machines["node1"].cut(rig.network.machines["postgres"], "OUTPUT")

Redis and S3 are there if asked for; the servers use them only as far as their settings know them.
"""

from __future__ import annotations

import sys
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self

import aiohttp
import anyio
import asyncpg
import orjson

from outlast.base.clock import SystemClock
from outlast.db.connect import migrate, open_database
from outlast.db.database import Database, Tx
from outlast.kernel.accounts import store as accounts
from outlast.testing.model_server import ModelServer
from outlast.testing.postgres import PostgresServer
from tests.cluster import parts
from tests.cluster.ledger import Ledger
from tests.cluster.machines import OUTSIDE, SUBNET, Network, small_disk
from tests.cluster.node import FAKETIME, PORT, Node

NODES: Final = 3
LEASE_S: Final = 4.0
HEARTBEAT_S: Final = 1.0  # of streams: silence for longer means that the connection is dead
SILENCE_S: Final = 4  # then a connection is given up
DISK_MB: Final = 48
NAME: Final = "cluster"
AGENTS: Final = Path(__file__).with_name("agents")
SETTINGS: Final = """
default_model = "scripted"
[agents]
folder = "{agents}"
[providers.scripted]
kind = "openai-compatible"
base_url = "{model}/v1"
[[models]]
id = "scripted"
provider = "scripted"
name = "scripted"
credits = 0
[limits]
runs_per_minute_per_user = 0
runs_per_minute_per_project = 0
decisions_per_minute_per_user = 0
streams_per_user = 0
[streams]
heartbeat_s = {heartbeat_s}
[sandbox]
provider = "none"
[server]
stop_grace_s = 5
allowed_hosts = [{hosts}]
[database]
url = "{database}"
[blobs]
url = "{blobs}"
[runs]
lease_s = {lease_s}
heartbeat_s = {lease_heartbeat_s}
[logs]
format = "json"
"""


@dataclass
class Door:
    """A client that goes on as if nothing had happened, at one address. `unavailable`: its answers of 500 and above."""

    url: str
    client: aiohttp.ClientSession
    unavailable: list[str] = field(default_factory=list)

    async def call(self, method: str, path: str, body: Any = None, key: str = "") -> tuple[int, Any]:
        """One request, asked again until a server answers it below 500."""
        headers = {"Idempotency-Key": key} if key else {}
        while True:
            try:
                async with self.client.request(method, self.url + path, json=body, headers=headers) as answer:
                    text = await answer.text()
                    if answer.status < 500:
                        return answer.status, orjson.loads(text) if text.startswith(("{", "[")) else text
                    self.unavailable.append(f"{answer.status} {method} {path}: {text[:300]}")
            except (aiohttp.ClientError, ConnectionError, TimeoutError):
                pass
            await anyio.sleep(0.1)


class Rig:
    """See the module. `folder`: where everything is kept; the test may look there."""

    def __init__(self, folder: Path, *, redis: bool = False, s3: bool = False, lease_s: float = LEASE_S) -> None:
        self.folder, self.lease_s = folder, lease_s
        self._wants_redis, self._wants_s3 = redis, s3
        self._stack = AsyncExitStack()
        self.nodes: list[Node] = []
        self.redis: parts.Part | None = None
        self.s3: parts.Part | None = None
        self.s3_door: parts.FaultyDoor | None = None
        self.balancer: parts.Part | None = None
        self.lacks: list[str] = []

    async def __aenter__(self) -> Self:
        try:
            await self._open()
        except BaseException:
            await self.__aexit__(*sys.exc_info())
            raise
        return self

    async def __aexit__(self, *error: object) -> None:
        with anyio.CancelScope(shield=True):
            await self._stack.aclose()

    async def _open(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.network = self._stack.enter_context(Network())
        await self._open_outside()
        await self._open_database()
        await self._open_engines()
        for number in range(1, NODES + 1):
            self._add_node(f"node{number}")
        self.token = await self._make_token()
        self.client = await self._stack.enter_async_context(
            aiohttp.ClientSession(
                headers={"Authorization": f"Bearer {self.token}"},
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=2, sock_read=SILENCE_S * 1.5),
                connector=aiohttp.TCPConnector(limit=0),
                read_bufsize=1 << 22,
            )
        )
        self._stack.push_async_callback(self._end_nodes)
        async with anyio.create_task_group() as group:
            for node in self.nodes:
                group.start_soon(node.start)
        await self._open_balancer()

    async def _open_outside(self) -> None:
        """What no fault reaches."""
        self.model = await self._stack.enter_async_context(ModelServer(host=OUTSIDE))
        self.ledger = await self._stack.enter_async_context(Ledger(self.folder / "ledger", OUTSIDE))

    async def _open_database(self) -> None:
        self.database = self.network.add("postgres")
        with self.database.inside():
            self.postgres = PostgresServer(host=self.database.address, trusted=SUBNET)
        self._stack.callback(self.postgres.remove)
        self.start_postgres()
        connection = await asyncpg.connect(self.postgres.url("postgres"))
        await connection.execute(f"CREATE DATABASE {NAME}")
        await connection.close()

    def start_postgres(self) -> None:
        with self.database.inside():
            self.postgres.start()

    async def _open_engines(self) -> None:
        if FAKETIME is None:
            self._goes_without("libfaketime (faketime)")
        if self._wants_redis:
            self.redis = await self._started("redis", parts.redis_on(self.network.add("redis"), self.folder))
        if self._wants_s3:
            self.s3 = await self._started("S3 (moto[server])", parts.s3_on(self.network.add("s3"), self.folder))
        if self.s3 is not None:
            target = f"http://{self.s3.machine.address}:{parts.S3_PORT}"
            self.s3_door = await self._stack.enter_async_context(parts.FaultyDoor(OUTSIDE, target))

    async def _open_balancer(self) -> None:
        machine = self.network.add("balancer")
        servers = [f"{node.machine.address}:{PORT}" for node in self.nodes]
        # A second less than the clients' patience: they see its answer
        made = parts.balancer_on(machine, self.folder / "nginx", servers, SILENCE_S)
        self.balancer = await self._started("nginx (nginx-light)", made)
        url = f"http://{machine.address}:{parts.BALANCER_PORT}" if self.balancer else self.nodes[0].url
        self.door = Door(url, self.client)

    async def _started(self, name: str, part: parts.Part | None) -> parts.Part | None:
        if part is None:
            self._goes_without(name)
            return None
        self._stack.push_async_callback(part.end)
        await part.start()
        return part

    def _goes_without(self, name: str) -> None:
        self.lacks.append(name)
        print(f"the rig goes without {name}: it is not installed")

    def _add_node(self, name: str) -> None:
        machine = self.network.add(name)
        folder = self.folder / name
        small_disk(folder / "data", DISK_MB)
        self.nodes.append(Node(machine, folder, self._settings()))

    def _settings(self) -> str:
        text = SETTINGS.format(
            agents=AGENTS,
            model=self.model.base_url,
            heartbeat_s=HEARTBEAT_S,
            hosts="",
            database=self.postgres.url(NAME),
            blobs=self.folder / "blobs",
            lease_s=self.lease_s,
            lease_heartbeat_s=self.lease_s / 4,
        )
        if self.redis is not None:
            text += f'[live]\nredis_url = "redis://{self.redis.machine.address}:{parts.REDIS_PORT}/0"\n'
        return text

    async def _make_token(self) -> str:
        """A token of the owner, made before the first server: they listen on addresses that are not loopback."""

        def run(tx: Tx) -> str:
            return accounts.add_token(tx, accounts.ensure_local_owner(tx, "unlimited").id, "rig", None).token

        db = self.open_database()
        try:
            await migrate(db)
            return await db.write(run)
        finally:
            await db.aclose()

    async def _end_nodes(self) -> None:
        for node in self.nodes:
            if node.process is not None:
                await node.end()

    def worker_of(self, marker: str) -> Node | None:
        """The server that works on a run, known by who asked its model last."""
        wanted = marker.encode()
        asked = (request for request in reversed(self.model.requests) if wanted in orjson.dumps(request.body))
        last = next(asked, None)
        return next((node for node in self.nodes if last is not None and node.machine.address == last.peer[0]), None)

    async def row_of(self, run_id: str) -> str:
        """What the database says of a run that stands still, to be shown to who looks for the reason."""
        connection = await asyncpg.connect(self.postgres.url(NAME), timeout=5)
        try:
            names = "leg, status, attempt, deaths, owner, lease_until, ready_at, now()"
            return str(await connection.fetchrow(f"SELECT {names} FROM runs WHERE id = $1", run_id))
        finally:
            await connection.close()

    def open_database(self) -> Database:
        """The servers' database, seen from the side that no fault reaches."""
        return open_database(self.postgres.url(NAME), self.folder, SystemClock())
