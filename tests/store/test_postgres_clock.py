"""The time of transactions on PostgreSQL is the database's, whatever the machine's clock says."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from outlast.base.clock import SystemClock
from outlast.db.database import Tx
from outlast.db.database_clock import DatabaseClock
from outlast.db.postgres import PostgresDatabase
from outlast.kernel.postgres_checks import clock_of, options_of, room_of, warn_of_room
from outlast.kernel.runs import leases
from outlast.kernel.settings import Settings
from outlast.kernel.settings.server import DatabaseSettings
from outlast.testing.clock import ManualClock
from tests.crash.crash_server import ShiftedClock
from tests.factories import make_project, make_run, make_thread, make_user

pytestmark = pytest.mark.postgres
NOW = sa.text("SELECT clock_timestamp()")
HOUR_S = 3600.0


def off_s(tx: Tx) -> float:
    return float((tx.now - tx.execute(NOW).scalar_one()).total_seconds())


@pytest.fixture
def measurements(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Grows with each measurement."""
    found: list[float] = []
    measure = DatabaseClock.measure

    async def counted(clock: DatabaseClock, ask: Callable[[], Awaitable[datetime]]) -> None:
        await measure(clock, ask)
        found.append(clock.error_s)

    monkeypatch.setattr(DatabaseClock, "measure", counted)
    return found


async def test_transactions_have_the_databases_time_and_ask_for_it_once(
    reused_postgres_url: str, measurements: list[float]
) -> None:
    for ahead_s in (HOUR_S, -HOUR_S):
        db = PostgresDatabase(reused_postgres_url, ShiftedClock(ahead_s))
        measurements.clear()
        for work in (db.read, db.write) * 10:
            assert abs(await work(off_s)) < 5, "a busy machine needs a moment between the two"
        assert len(measurements) == 1
        assert abs((db.clock.now() - SystemClock().now()).total_seconds()) < 5
        state = clock_of(db)
        assert state is not None
        assert not state.is_right
        assert abs(state.ahead_s - ahead_s) < 5
        await db.aclose()


async def test_the_thread_that_renews_leases_asks_for_the_time_whenever_it_renews(
    reused_postgres_url: str, measurements: list[float]
) -> None:
    db = PostgresDatabase(reused_postgres_url, ShiftedClock(HOUR_S))
    async with db.in_thread() as mine:
        for _ in range(3):
            assert abs(await mine.write(off_s)) < 5
    assert len(measurements) == 3
    await db.aclose()


async def test_a_tests_clock_stays_the_time_of_transactions(reused_postgres_url: str) -> None:
    clock = ManualClock()
    db = PostgresDatabase(reused_postgres_url, clock)
    for _ in range(2):
        assert await db.write(lambda tx: tx.now) == clock.now()
        clock.advance(60)
    assert db.clock is clock
    assert clock_of(db) is None
    await db.aclose()


@pytest.mark.parametrize("ahead_s", [HOUR_S, -HOUR_S])
async def test_a_node_whose_clock_is_wrong_takes_no_run_of_a_healthy_one_and_loses_none_to_it(
    reused_postgres_url: str, ahead_s: float
) -> None:
    """A node 20 s ahead took every run of the other within seconds, again and again."""
    right = PostgresDatabase(reused_postgres_url, SystemClock())
    wrong = PostgresDatabase(reused_postgres_url, ShiftedClock(ahead_s))
    lease = timedelta(seconds=15)

    def held(tx: Tx, owner: str) -> str:
        user = make_user(tx)
        until: dict[str, Any] = {"owner": owner, "lease_until": tx.now + lease}
        return make_run(tx, make_thread(tx, make_project(tx, user), user), user, **until)

    for owner, other in ((right, wrong), (wrong, right)):
        run_id = await owner.write(held, "node_1")
        assert await other.write(leases.free_lapsed) == []
        await owner.write(leases.renew_leases, "node_1", [run_id], lease)
        assert await other.write(leases.free_lapsed) == []
        until = await right.read(leases.next_lapse)
        now = await right.read(lambda tx: tx.execute(NOW).scalar_one())
        assert until is not None
        assert 0 < (until - now).total_seconds() <= 15.5
    await right.aclose()
    await wrong.aclose()


async def test_a_pool_that_postgresql_has_no_room_for_is_logged(
    reused_postgres_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    db = PostgresDatabase(reused_postgres_url, SystemClock())
    fits, large = Settings(), replace(Settings(), database=DatabaseSettings(pool_size=500))
    await warn_of_room(db, fits)
    assert not caplog.records
    await warn_of_room(db, large)
    assert "allows too few connections" in caplog.text
    room = await db.read(room_of, large)
    assert room is not None
    assert (room.needs, room.allows) == (502, 200)
    await db.aclose()
    assert options_of(large).pool_size == 500
    assert options_of(large).tolerated_s == large.runs.lease_s / 3
