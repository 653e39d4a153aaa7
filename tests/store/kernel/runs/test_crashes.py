"""A run is counted the processes that died under it, and nothing else."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from outlast.db.database import Database, Tx
from outlast.kernel.runs import crashes, leases, store
from outlast.kernel.runs.tables import runs
from tests.factories import make_project, make_run, make_thread, make_user

NODE = "node_1"


def _held(tx: Tx, /, count: int = 1, **fields: Any) -> list[str]:
    owner = make_user(tx)
    project_id = make_project(tx, owner)
    values = {"owner": NODE, "attempt": 1, "lease_until": tx.now - timedelta(seconds=1), **fields}
    return [make_run(tx, make_thread(tx, project_id, owner), owner, **values) for _ in range(count)]


def _deaths(tx: Tx, run_id: str) -> int:
    return int(tx.execute(sa.select(runs.c.deaths).where(runs.c.id == run_id)).scalar_one())


async def test_a_lease_that_lapses_counts_as_a_death(db: Database) -> None:
    (run_id,) = await db.write(_held)
    await db.write(leases.free_lapsed)
    assert await db.read(_deaths, run_id) == 1


@pytest.mark.parametrize("everything", [True, False])
async def test_an_attempt_that_recorded_a_result_starts_the_count_anew(db: Database, everything: bool) -> None:
    (run_id,) = await db.write(_held, deaths=2)
    values = {"status": "finished", "attempt": 1}
    await db.write(lambda tx: store.insert_effect(tx, run_id, 1, 1, "model", **values))
    await db.write(leases.free_lapsed, everything)
    assert await db.read(_deaths, run_id) == 0


@pytest.mark.parametrize(
    "effect",
    [
        {"status": "finished", "attempt": 0},
        {"status": "finished", "attempt": 1, "inherited": True},
        {"status": "started", "attempt": 1},
    ],
)
async def test_what_an_earlier_attempt_or_another_run_recorded_and_what_was_only_begun_is_no_result(
    db: Database, effect: dict[str, Any]
) -> None:
    (run_id,) = await db.write(_held, deaths=1)
    await db.write(lambda tx: store.insert_effect(tx, run_id, 1, 1, "model", **effect))
    await db.write(leases.free_lapsed)
    assert await db.read(_deaths, run_id) == 2


async def test_a_process_that_lives_takes_the_death_back_once(db: Database) -> None:
    (run_id,) = await db.write(_held, deaths=1)
    await db.write(leases.free_lapsed)
    for _ in range(2):
        await db.write(crashes.take_back_death, run_id, 1)
    assert await db.read(_deaths, run_id) == 1


async def test_a_death_of_another_attempt_is_not_taken_back(db: Database) -> None:
    (run_id,) = await db.write(_held, attempt=3)
    await db.write(leases.free_lapsed)
    await db.write(crashes.take_back_death, run_id, 2)
    assert await db.read(_deaths, run_id) == 1


async def test_a_run_that_is_handed_back_counts_nothing(db: Database) -> None:
    (run_id,) = await db.write(_held)
    await db.write(leases.hand_back, run_id, 1)
    assert await db.read(_deaths, run_id) == 0


async def test_a_process_that_hands_back_too_late_lives_and_takes_the_death_back(db: Database) -> None:
    """While the database was away the lease lapsed, and another node freed the run first."""
    (run_id,) = await db.write(_held, deaths=2)
    await db.write(leases.free_lapsed)
    for _ in range(2):
        await db.write(leases.hand_back, run_id, 1, 1.0)
    assert await db.read(_deaths, run_id) == 2


async def test_handing_back_an_attempt_that_did_not_die_takes_nothing_back(db: Database) -> None:
    (run_id,) = await db.write(_held, attempt=3)
    await db.write(leases.free_lapsed)
    await db.write(leases.hand_back, run_id, 2)
    assert await db.read(_deaths, run_id) == 1
