"""A lease belongs to a run that somebody works on."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from outlast.db.database import Database, Tx
from outlast.kernel.runs import leases
from tests.factories import make_project, make_run, make_thread, make_user

LEASE = timedelta(seconds=15)


def _two_held(tx: Tx, since: timedelta) -> list[str]:
    owner = make_user(tx)
    project_id = make_project(tx, owner)
    held: dict[str, Any] = {"owner": "node_1", "lease_until": tx.now - since}
    return [make_run(tx, make_thread(tx, project_id, owner), owner, **held) for _ in range(2)]


async def test_a_run_that_its_worker_lost_lapses_while_the_worker_renews_the_others(db: Database) -> None:
    kept, lost = await db.write(_two_held, timedelta(seconds=1))
    await db.write(leases.renew_leases, "node_1", [kept], LEASE)
    assert await db.write(leases.free_lapsed) == [lost]


async def test_a_run_that_another_worker_has_taken_is_not_renewed(db: Database) -> None:
    _, taken = await db.write(_two_held, timedelta(seconds=1))
    await db.write(leases.renew_leases, "node_2", [taken], LEASE)
    assert taken in await db.write(leases.free_lapsed)
