"""A lease belongs to a run that somebody works on."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import anyio

from outlast.db.database import Database, Tx
from outlast.kernel.runs import leases, store
from tests.factories import make_project, make_run, make_thread, make_user
from tests.held_rows import DEADLINE_S, held

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


async def test_a_row_that_another_transaction_holds_keeps_no_other_run_from_being_renewed(db: Database) -> None:
    """If the event loop stands still in the middle of a transaction, its rows stay locked."""
    if db.dialect == "sqlite":
        return  # one writer: no row is locked
    first, second = await db.write(_two_held, timedelta(seconds=1))
    async with held(db, lambda tx: tuple([store.hold_run(tx, first)]) and None):
        with anyio.fail_after(DEADLINE_S):
            renewed = await db.write(leases.renew_leases, "node_1", [first, second], LEASE)
    assert {run_id for run_id, _ in renewed} == {first, second}, "both are held: none was lost"
    assert await db.write(leases.free_lapsed) == [first]
