"""Nodes of one database: who may start, who lives, what becomes of the dead."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from pathlib import Path

import anyio
import pytest
import sqlalchemy as sa

from outlast.base.node_errors import NodeRefused
from outlast.db.connect import open_database
from outlast.db.database import Database
from outlast.kernel.nodes import store
from outlast.kernel.nodes.keeper import Node, NodeKeeper, shown
from outlast.kernel.nodes.tables import nodes
from outlast.testing.clock import ManualClock

LEASE_S = 15.0


class Cluster:
    """Nodes on one database, with one clock."""

    def __init__(self, url: str, folder: Path) -> None:
        self.clock = ManualClock()
        self.db: Database = open_database(url, folder, self.clock)

    def node(self, name: str, blobs: str = "bucket-1", sandbox: str = "") -> NodeKeeper:
        return NodeKeeper(self.db, self.clock, Node(f"nod_{name}", "server", blobs, sandbox, LEASE_S))

    async def states(self) -> dict[str, bool]:
        found = await self.db.read(shown, LEASE_S)
        return {row.id.removeprefix("nod_"): lives for row, lives in found}

    async def pass_time(self, seconds: float, *living: NodeKeeper) -> None:
        for _ in range(int(seconds)):
            self.clock.advance(1)
            for node in living:
                await node.beat()


@pytest.fixture
async def cluster(reused_postgres_url: str, tmp_path: Path) -> AsyncIterator[Cluster]:
    made = Cluster(reused_postgres_url, tmp_path)
    yield made
    await made.db.aclose()


pytestmark = pytest.mark.postgres


async def refused(cluster: Cluster, node: NodeKeeper, *living: NodeKeeper) -> NodeRefused:
    """The error of a start, while the living nodes renew their rows."""
    errors: list[NodeRefused] = []

    async def enter() -> None:
        try:
            await node.enter()
        except NodeRefused as error:
            errors.append(error)
        tasks.cancel_scope.cancel()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(enter)
        for _ in range(400):
            await anyio.wait_all_tasks_blocked()
            await cluster.pass_time(1, *living)
    assert errors, "it was not refused"
    return errors[0]


async def test_a_second_node_that_fits_starts_at_once(cluster: Cluster) -> None:
    for node in (cluster.node("a"), cluster.node("b")):
        await node.enter()
    assert await cluster.states() == {"a": True, "b": True}


async def test_a_node_with_other_blobs_is_refused_while_the_first_lives(cluster: Cluster) -> None:
    first, second = cluster.node("a"), cluster.node("b", blobs="folder-2")
    await first.enter()
    error = await refused(cluster, second, first)
    assert error.fields["node_id"] == "nod_a"
    assert "blobs.url" in error.hint
    assert await cluster.states() == {"a": True}


async def test_a_second_node_with_local_sandboxes_is_refused(cluster: Cluster) -> None:
    first, second = cluster.node("a", sandbox="local"), cluster.node("b", sandbox="local")
    await first.enter()
    assert "sandbox.provider" in (await refused(cluster, second, first)).hint


async def test_a_start_waits_for_a_killed_node_that_does_not_fit_and_then_goes_on(cluster: Cluster) -> None:
    await cluster.node("a", sandbox="local").enter()
    second = cluster.node("b", sandbox="local")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(second.enter)
        while "b" not in await cluster.states():
            await anyio.wait_all_tasks_blocked()
            await cluster.pass_time(1)
    assert await cluster.states() == {"a": False, "b": True}


async def test_a_node_that_stopped_cleanly_is_in_nobodys_way_and_its_restart_is_no_second_node(
    cluster: Cluster,
) -> None:
    first = cluster.node("a", sandbox="local")
    await first.enter()
    await first.leave()
    await cluster.node("b", sandbox="local").enter()
    assert await cluster.states() == {"a": False, "b": True}
    await cluster.node("b", blobs="folder-2").enter()
    assert await cluster.states() == {"a": False, "b": True}


async def test_nodes_that_start_together_and_do_not_fit_leave_one(cluster: Cluster) -> None:
    outcomes: list[str] = []

    async def start(node: NodeKeeper, name: str) -> None:
        with anyio.move_on_after(0.5):  # the clock stands still: what does not fit waits
            await node.enter()
            outcomes.append(name)

    async with anyio.create_task_group() as tasks:
        for name in "abcd":
            tasks.start_soon(start, cluster.node(name, blobs=f"folder-{name}"), name)
    assert len(outcomes) == 1
    assert list(await cluster.states()) == outcomes


async def test_the_dead_are_reported_once_and_their_rows_removed_after_a_day(cluster: Cluster) -> None:
    first, second = cluster.node("a"), cluster.node("b")
    reported: list[set[str]] = []

    async def note(node_ids: Collection[str]) -> None:
        reported.append(set(node_ids))

    first.on_dead = note
    for node in (first, second):
        await node.enter()
    await cluster.pass_time(LEASE_S - 1, first)
    assert not reported
    await cluster.pass_time(2 * LEASE_S, first)
    assert reported == [{"nod_b"}]
    assert await cluster.states() == {"a": True, "b": False}
    await second.beat()  # it was only stopped, and goes on
    assert await cluster.states() == {"a": True, "b": True}
    cluster.clock.advance(25 * 3600)
    await first.beat()
    await first.beat()
    assert await cluster.states() == {"a": True}
    await second.beat()
    assert await cluster.states() == {"a": True, "b": True}


async def test_a_report_that_fails_is_repeated(cluster: Cluster) -> None:
    first, tries = cluster.node("a"), []

    async def fail(_node_ids: Collection[str]) -> None:
        tries.append(1)
        if len(tries) == 1:
            raise NodeRefused("such as a database that does not answer")

    first.on_dead = fail
    for node in (first, cluster.node("b")):
        await node.enter()
    cluster.clock.advance(LEASE_S + 1)
    for _ in range(3):
        await first.beat()
    assert len(tries) == 2


async def test_on_sqlite_a_node_has_no_row(sqlite_url: str, tmp_path: Path) -> None:
    alone = Cluster(sqlite_url, tmp_path)
    node = alone.node("a", sandbox="local")
    await node.enter()
    await node.leave()
    assert await alone.db.read(lambda tx: tx.execute(sa.select(nodes)).all()) == []
    assert await alone.db.read(store.living, "nod_a", LEASE_S) is None
    await alone.db.aclose()
