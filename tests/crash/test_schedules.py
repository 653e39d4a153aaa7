"""SIGKILL around the start of a schedule's run: each due time starts one run, whatever was killed."""

from __future__ import annotations

from collections import Counter
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import anyio
import pytest
import sqlalchemy as sa

from outlast.db.connect import open_database
from outlast.db.database import Database, Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.accounts.tables import users
from outlast.kernel.runs.rules import ENDED
from outlast.kernel.runs.tables import runs
from outlast.kernel.runs.timers import set_timer
from outlast.kernel.schedules.tables import schedules
from outlast.testing.model_server import ModelServer
from tests.crash import kills
from tests.crash.conftest import MakeServer
from tests.crash.crash_database import CrashPoint
from tests.crash.crash_server import ShiftedClock
from tests.crash.outcome import check_ledger
from tests.crash.server import CrashServer, until
from tests.factories import make_schedule
from tests.flow.schedules.test_many import KINDS, START, STRIDE, expected

pytestmark = pytest.mark.timeout(300)
MESSAGE = 'Sum up. [[model {"text": "Nothing new."}]]'
SIDES: list[tuple[int, Literal["before", "after"]]] = [(2, "before"), (3, "after")]


def make_due(tx: Tx, schedule_id: str) -> None:
    moment = tx.now - timedelta(seconds=5)
    tx.update(schedules, {"id": schedule_id}, next_at=moment)
    set_timer(tx, "schedule", schedule_id, moment)


def ended_runs(tx: Tx, schedule_id: str) -> tuple[int, int]:
    """How many runs the schedule has started, and how many of them have ended."""
    found = [row for row in tx.execute(sa.select(runs.c.trigger, runs.c.status)) if row.trigger["id"] == schedule_id]
    return len(found), sum(row.status in ENDED for row in found)


async def come_due(server: CrashServer, db: Database, schedule_id: str, count: int, point: CrashPoint | None) -> None:
    """The server starts when the schedule has just come due, and is killed at this point; then `count` runs ended."""
    await server.kill()
    await db.write(make_due, schedule_id)
    if point is not None:
        server.arm(point)

    async def is_done() -> bool:
        await server.revive()
        return await db.read(ended_runs, schedule_id) == (count, count)

    with anyio.fail_after(90):
        await until(is_done)


async def test_a_due_time_starts_one_run_whatever_is_killed(make_server: MakeServer, model: ModelServer) -> None:
    server = make_server()
    async with kills.opened(server) as db:
        project = (await server.get("/v1/me"))["default_project_id"]
        body: dict[str, Any] = {"title": "Digest", "agent": "chat", "message": MESSAGE, "cron": "0 8 1 1 *"}
        status, made = await server.call("POST", f"/v1/projects/{project}/schedules", body)
        assert status == 201, made
        await come_due(server, db, made["id"], 1, None)
        [label] = [one for one in server.commits() if one.startswith("_fire")]
        for count, when in SIDES:
            before = server.starts
            await come_due(server, db, made["id"], count, CrashPoint(label, 1, when))
            assert server.starts - before == 2, "it was killed at the point"
        await check_ledger(db)


STARTS = [  # of the next servers; a due time is missed after a minute, and a start takes less
    datetime(2026, 3, 29, 1, 0, 2, tzinfo=UTC),  # when in Europe the clock skips an hour
    datetime(2026, 3, 29, 6, 10, tzinfo=UTC),
    datetime(2026, 3, 30, 8, 0, 2, tzinfo=UTC),
]


def make_many(tx: Tx, project_id: str, kinds: list[tuple[str, str, str]]) -> dict[str, tuple[str, str, str]]:
    actor = Actor(tx.execute(sa.select(users.c.id)).scalars().first() or "", "Ada", "token")
    return {
        make_schedule(tx, project_id, actor, cron=cron, zone=zone, on_missed=on_missed, message=MESSAGE): kind
        for kind in kinds
        for cron, zone, on_missed in [kind]
    }


def is_late(tx: Tx) -> bool:
    """True while something that is due was not handled."""
    return bool(tx.execute(sa.select(schedules.c.id).where(schedules.c.next_at <= tx.now).limit(1)).first())


@pytest.mark.parametrize("how_many", [21, pytest.param(500, marks=pytest.mark.deep)])
async def test_many_fire_as_their_kind_says_over_a_change_of_the_clock_and_three_kills(
    make_server: MakeServer, model: ModelServer, how_many: int
) -> None:
    server = make_server()

    def set_clock(moment: datetime) -> ShiftedClock:
        server.ahead_s = (moment - datetime.now(UTC)).total_seconds()
        return ShiftedClock(server.ahead_s)

    clock = set_clock(START)
    async with server:
        project = (await server.get("/v1/me"))["default_project_id"]
        kinds = [KINDS[number * STRIDE % len(KINDS)] for number in range(how_many)]
        async with aclosing(open_database(server.database, server.data_dir, clock)) as db:
            made = await db.write(make_many, project, kinds)
        for moment in STARTS:
            await server.kill()
            clock = set_clock(moment)
            await server.start()
            async with aclosing(open_database(server.database, server.data_dir, clock)) as db:

                async def is_done(db: Database = db) -> bool:
                    return not await db.read(is_late)

                with anyio.fail_after(200):
                    await until(is_done)
        async with aclosing(server.open_database()) as db:
            triggers = await db.read(lambda tx: list(tx.execute(sa.select(runs.c.trigger)).scalars()))
    fired = Counter(trigger["id"] for trigger in triggers if trigger is not None)
    assert {one: fired[one] for one in made} == {one: expected(*kind, STARTS) for one, kind in made.items()}
    assert len(set(fired.values())) > 1
