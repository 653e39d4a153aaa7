"""What time does to runs, with a clock that the test moves: abandonment, leases, keys and clean-up."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from outlast.base.errors import RunCleanedUp
from outlast.db.connect import open_database
from outlast.db.database import Database, Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.runs import claims, timers
from outlast.kernel.runs.actions import cancel_run, continue_run, export_run, start_run
from outlast.kernel.runs.shapes import StartedAnswer
from outlast.kernel.runs.sweeper import Sweeper
from outlast.kernel.runs.tables import followers, runs
from outlast.kernel.services import Services
from outlast.kernel.streams.fold import fold_lines
from outlast.kernel.streams.log_store import read_all
from outlast.kernel.threads.user_input import Draft
from outlast.testing.clock import ManualClock
from tests.factories import make_project, make_services, make_thread, make_user


class Quiet:
    """A server whose worker and sweeper do only what the test asks of them."""

    def __init__(self, db: Database, clock: ManualClock, services: Services, owner: Actor, thread_id: str) -> None:
        self.db, self.clock, self.services, self.owner, self.thread_id = db, clock, services, owner, thread_id

    async def start(self, **options: str) -> StartedAnswer:
        return await start_run(self.services, self.owner, self.thread_id, Draft("Hello"), **options)  # type: ignore[arg-type]

    async def later(self, seconds: float) -> None:
        """So much later, the sweeper has done its work (twice: late and double firing change nothing)."""
        self.clock.advance(seconds)
        for _ in range(2):
            await Sweeper(self.services.engine, None).sweep()

    async def status(self, run_id: str) -> tuple[str, str | None]:
        row = sa.select(runs.c.status, runs.c.stop_reason).where(runs.c.id == run_id)
        found = await self.db.read(lambda tx: tx.execute(row).one())
        return found.status, found.stop_reason


@pytest.fixture
async def it(database_url: str, tmp_path: Path) -> AsyncIterator[Quiet]:
    clock = ManualClock()
    db = open_database(database_url, tmp_path, clock)
    services = make_services(db, tmp_path, clock=clock)

    def make(tx: Tx) -> tuple[Actor, str]:
        owner = make_user(tx)
        return owner, make_thread(tx, make_project(tx, owner), owner)

    owner, thread_id = await db.write(make)
    yield Quiet(db, clock, services, owner, thread_id)
    await db.aclose()


HALF_AN_HOUR = 1_800


async def test_a_queued_run_does_not_age_until_its_turn_comes(it: Quiet) -> None:
    # A run that waited behind another for half an hour had used up its time before it began: its clock fired while it
    # could not be cancelled, and then nothing watched over it any more.
    first = await it.start()
    second = await it.start(on_busy="enqueue")
    await it.later(HALF_AN_HOUR - 60)
    assert await it.status(second.run_id) == ("queued", None)
    await cancel_run(it.services, it.owner, first.run_id)
    await it.later(120)
    assert await it.status(second.run_id) == ("queued", None)
    await it.later(HALF_AN_HOUR)
    assert await it.status(second.run_id) == ("cancelled", "abandoned")


async def test_a_follower_whose_node_vanished_keeps_no_run_alive_for_ever(it: Quiet) -> None:
    # The clock was dropped while somebody followed, and only the follower's own node set it again. When that node
    # died, nobody did; now the clock goes on looking.
    started = await it.start()

    def follow(tx: Tx) -> None:
        lease = {
            "thread_id": it.thread_id,
            "node_id": "nod_gone",
            "lease_until": tx.now + timedelta(seconds=HALF_AN_HOUR + 90),
        }
        tx.execute(sa.insert(followers).values(**lease))
        tx.execute(sa.update(runs).where(runs.c.id == started.run_id).values(unwatched_since=None))

    await it.db.write(follow)
    await it.later(HALF_AN_HOUR + 1)
    assert await it.status(started.run_id) == ("queued", None)
    await it.later(HALF_AN_HOUR)
    await it.later(HALF_AN_HOUR + 1)
    assert await it.status(started.run_id) == ("cancelled", "abandoned")


async def test_a_lapsed_run_is_taken_up_by_another_worker_with_a_higher_fence(it: Quiet) -> None:
    started = await it.start()
    lease = timedelta(seconds=15)
    (first, _) = (await it.db.write(claims.claim_ready, "nod_a", lease, 5))[0]
    await it.later(14)
    assert await it.db.write(claims.claim_ready, "nod_b", lease, 5) == []
    await it.later(2)
    ((second, first_number),) = await it.db.write(claims.claim_ready, "nod_b", lease, 5)
    assert (second.id, second.attempt) == (started.run_id, first.attempt + 1)
    assert first_number > first.seq_reserved


async def test_a_key_is_forgotten_after_a_day(it: Quiet) -> None:
    first = await it.start(key="k")
    assert await it.start(key="k") == first
    await cancel_run(it.services, it.owner, first.run_id)
    await it.later(86_401)
    assert (await it.start(key="k")).run_id != first.run_id


async def test_after_a_week_only_a_short_log_is_left_that_tells_the_same_end(it: Quiet) -> None:
    started = await it.start()
    await cancel_run(it.services, it.owner, started.run_id)
    before = fold_lines(await it.db.read(read_all, started.run_id))
    await it.later(7 * 86_400 - 60)
    await export_run(it.services, it.owner, started.run_id)
    await it.later(120)
    after = fold_lines(await it.db.read(read_all, started.run_id))
    assert (after.status, after.stop_reason, after.ended) == (before.status, before.stop_reason, True)
    for action in (export_run, continue_run):
        with pytest.raises(RunCleanedUp):
            await action(it.services, it.owner, started.run_id)
    await it.later(86_400)


async def test_the_timers_of_a_deleted_thread_are_forgotten(it: Quiet) -> None:
    # A timer whose run was gone failed, was set again five seconds later, and failed again, for ever.
    await it.db.write(lambda tx: timers.set_timer(tx, "clean_up", "run_gone", tx.now))
    await it.later(1)
    assert await it.db.read(timers.next_due) is None
