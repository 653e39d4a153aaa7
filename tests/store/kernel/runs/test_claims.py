"""Nodes claim ready runs: suspects one at a time, all others at once."""

from __future__ import annotations

from datetime import timedelta

import anyio

from outlast.db.database import Database, Tx
from outlast.kernel.runs import claims, leases
from tests.factories import make_project, make_run, make_thread, make_user

LEASE = timedelta(seconds=15)
NODE = "node_1"


def _ready(tx: Tx, /, deaths: int, count: int) -> list[str]:
    owner = make_user(tx)
    project_id = make_project(tx, owner)
    threads = [make_thread(tx, project_id, owner) for _ in range(count)]
    return [make_run(tx, one, owner, leg="ready", status="queued", attempt=1, deaths=deaths) for one in threads]


async def _claimed(db: Database, limit: int = 50) -> list[str]:
    return [run.id for run, _ in await db.write(claims.claim_ready, NODE, LEASE, limit)]


async def test_suspects_are_claimed_one_at_a_time_the_others_all_at_once(db: Database) -> None:
    suspects = await db.write(_ready, 2, 3)
    others = await db.write(_ready, 1, 3)
    claimed = await _claimed(db)
    assert set(others) < set(claimed)
    assert len(claimed) == 4
    assert await _claimed(db) == []
    (first,) = set(claimed) - set(others)
    await db.write(leases.hand_back, first, 2)
    assert len(await _claimed(db)) == 1
    assert {first, *await _claimed(db)} <= set(suspects)


async def test_two_nodes_at_once_execute_one_suspect(db: Database) -> None:
    await db.write(_ready, 2, 4)
    found: list[str] = []

    async def claim(node: str) -> None:
        found.extend(run.id for run, _ in await db.write(claims.claim_ready, node, LEASE, 50))

    async with anyio.create_task_group() as group:
        for n in range(4):
            group.start_soon(claim, f"node_{n}")
    assert len(found) == 1
