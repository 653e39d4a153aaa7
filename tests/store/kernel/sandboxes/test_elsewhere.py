"""Two servers with sandboxes on their own machines: looking through one never ends what runs on the other."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from outlast.base.node_errors import SandboxElsewhere
from outlast.db.connect import open_database
from outlast.db.database import Database, Tx
from outlast.kernel.nodes.keeper import Node, NodeKeeper
from outlast.kernel.sandboxes import store
from outlast.kernel.sandboxes.manager import SandboxManager
from outlast.kernel.sandboxes.orphans import lose_those_of, sweep
from outlast.kernel.sandboxes.rules import State
from outlast.kernel.sandboxes.settings import SandboxSettings
from outlast.kernel.sandboxes.tables import workspaces
from outlast.testing.clock import ManualClock
from outlast_sandbox.interface import Command
from outlast_sandbox.providers.memory import MemoryProvider
from tests.factories import Team

LEASE_S = 15.0
WORKSPACE = "wsp_1"


class Server:
    """A node with a sandbox manager."""

    def __init__(self, name: str, db: Database, clock: ManualClock, folder: Path) -> None:
        self.provider = MemoryProvider()
        self.machines = SandboxManager(
            db, self.provider, clock, SandboxSettings(), folder / name, node_id=f"nod_{name}", lease_s=LEASE_S
        )
        self.node = NodeKeeper(db, clock, Node(f"nod_{name}", "server", "bucket-1", "memory", LEASE_S))

        async def lose(node_ids: object) -> None:
            await lose_those_of(self.machines, node_ids)  # type: ignore[arg-type]

        self.node.on_dead = lose


class Pair:
    def __init__(self, db: Database, clock: ManualClock, folder: Path) -> None:
        self.db, self.clock = db, clock
        self.one, self.other = (Server(name, db, clock, folder) for name in ("one", "other"))
        self.project_id = ""

    async def furnish(self) -> None:
        def fill(tx: Tx) -> str:
            project_id = Team(tx).project_id
            row = {"id": WORKSPACE, "project_id": project_id, "owner_type": "thread", "owner_id": "thr_1"}
            tx.insert(workspaces, **row, created_at=tx.now, last_used_at=tx.now)
            return project_id

        self.project_id = await self.db.write(fill)
        for server in (self.one, self.other):
            await server.node.enter()

    async def state(self) -> str:
        row = await self.db.read(store.newest, WORKSPACE)
        assert row is not None
        return f"{row.state} on {row.node_id}"


@pytest.fixture
async def pair(reused_postgres_url: str, tmp_path: Path) -> AsyncIterator[Pair]:
    clock = ManualClock()
    db = open_database(reused_postgres_url, tmp_path, clock)
    made = Pair(db, clock, tmp_path)
    await made.furnish()
    async with made.one.provider, made.other.provider:
        yield made
        for server in (made.one, made.other):
            await server.machines.aclose()
    await db.aclose()


pytestmark = pytest.mark.postgres


async def test_looking_through_another_server_is_refused_and_leaves_the_sandbox(pair: Pair) -> None:
    sandbox = await pair.one.machines.ensure(WORKSPACE, pair.project_id)
    for _ in range(2):
        with pytest.raises(SandboxElsewhere) as refused:
            await pair.other.machines.ensure(WORKSPACE, pair.project_id)
        assert refused.value.fields["node_id"] == "nod_one"
    assert await pair.other.machines.find(WORKSPACE) is None
    assert await pair.state() == "ready on nod_one"
    assert (await sandbox.run(Command("eff_1", 1, "true"))).exit_code == 0
    assert (await pair.one.machines.ensure(WORKSPACE, pair.project_id)).sandbox_id == sandbox.sandbox_id


async def test_a_run_takes_over_a_sandbox_of_another_server(pair: Pair) -> None:
    await pair.one.machines.ensure(WORKSPACE, pair.project_id)
    await pair.other.machines.ensure(WORKSPACE, pair.project_id, take_over=True)
    assert await pair.state() == "ready on nod_other"


async def test_a_dead_nodes_sandbox_is_lost_and_looking_starts_a_new_one(pair: Pair) -> None:
    old = await pair.one.machines.ensure(WORKSPACE, pair.project_id)
    pair.clock.advance(LEASE_S - 1)
    await pair.other.node.beat()
    assert await pair.state() == "ready on nod_one"
    pair.clock.advance(2)
    await pair.other.node.beat()
    assert await pair.state() == f"{State.LOST.value} on nod_one"
    await pair.other.machines.ensure(WORKSPACE, pair.project_id)
    assert await pair.state() == "ready on nod_other"
    # The first one was only stopped, and comes back: it ends what it still has.
    await sweep(pair.one.machines)
    assert old.sandbox_id not in dict(await pair.one.provider.list_refs())
    assert await pair.state() == "ready on nod_other"


async def test_a_sandbox_of_a_node_that_restarts_within_a_lease_is_kept(pair: Pair) -> None:
    await pair.one.machines.ensure(WORKSPACE, pair.project_id)
    await pair.one.node.leave()
    pair.clock.advance(LEASE_S - 1)
    await pair.other.node.beat()
    await pair.one.node.enter()
    pair.clock.advance(2)
    await pair.other.node.beat()
    assert await pair.state() == "ready on nod_one"
