"""SIGKILL around the start of a schedule's run: each due time starts one run, whatever was killed."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Literal

import anyio
import pytest
import sqlalchemy as sa

from outlast.db.database import Database, Tx
from outlast.kernel.runs.rules import ENDED
from outlast.kernel.runs.tables import runs
from outlast.kernel.runs.timers import set_timer
from outlast.kernel.schedules.tables import schedules
from outlast.testing.model_server import ModelServer
from tests.crash import kills
from tests.crash.conftest import MakeServer
from tests.crash.crash_database import CrashPoint
from tests.crash.outcome import check_ledger
from tests.crash.server import CrashServer, until

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
