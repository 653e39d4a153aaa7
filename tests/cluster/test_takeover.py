"""A server that dies or stands still: another one goes on with its runs in time, and it does no harm when it wakes."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from outlast.db.database import Database
from outlast.kernel.streams.log_store import read_all
from tests.cluster.checks import Findings, check_all
from tests.cluster.jobs import Job, long_job
from tests.cluster.load import Load
from tests.cluster.node import Node
from tests.cluster.rig import Rig
from tests.crash.server import until

pytestmark = [pytest.mark.postgres, pytest.mark.deep, pytest.mark.timeout(300)]
TAKEOVER_S = 2.0  # beside the lease
WORDS, PACE_S = 200, 0.05


async def test_runs_of_a_killed_server_go_on_elsewhere_within_their_lease_and_two_seconds(tmp_path: Path) -> None:
    async with Rig(tmp_path / "rig") as rig:
        await anyio.sleep(3 * rig.lease_s)  # all are idle: what they looked for last was nothing
        async with _played(rig, [long_job(f"left{n}", WORDS, PACE_S) for n in range(6)]) as (load, jobs):
            dying = _busiest(rig, jobs)
            mine = [job for job in jobs if rig.worker_of(job.marker) is dying]
            began = anyio.current_time()
            await dying.end()
            with anyio.fail_after(60):
                await until(lambda: all(_moved_elsewhere(job, dying, began) for job in mine))
            took = anyio.current_time() - began
            await load.settle(60)
        print(f"{len(mine)} runs taken over {took:.1f} s after the kill, lease {rig.lease_s} s")
        await _check(rig, load)
    assert took <= rig.lease_s + TAKEOVER_S


@pytest.mark.parametrize("stopped_s", [12, 30])
async def test_a_server_that_wakes_after_its_lease_writes_nothing_and_calls_nothing(
    tmp_path: Path, stopped_s: float
) -> None:
    async with Rig(tmp_path / "rig") as rig:
        db = rig.open_database()
        jobs = [long_job(f"zombie{n}", 60, PACE_S, (rig.ledger.url, f"zombie{n}-1")) for n in range(6)]
        async with _played(rig, jobs) as (load, _):
            zombie = _busiest(rig, jobs)
            zombie.send(signal.SIGSTOP)
            try:
                await anyio.sleep(stopped_s)
                await load.settle(30)
                before = await _written(rig, db, jobs)
            finally:
                zombie.send(signal.SIGCONT)
            await anyio.sleep(rig.lease_s)  # it wakes, and finds what it was at
            after = await _written(rig, db, jobs)
        await _check(rig, load)
        await db.aclose()
    assert after == before


@asynccontextmanager
async def _played(rig: Rig, jobs: list[Job]) -> AsyncIterator[tuple[Load, list[Job]]]:
    """These jobs, all on their way."""
    load = Load(rig, seed=1, width=0)
    async with anyio.create_task_group() as group:
        for job in jobs:
            group.start_soon(load.play, job)
        with anyio.fail_after(60):
            await until(lambda: all(job.seen and job.seen[0].last > 5 for job in jobs))
        yield load, jobs
        group.cancel_scope.cancel()


def _busiest(rig: Rig, jobs: list[Job]) -> Node:
    """The server with most of the runs."""
    workers = [worker for job in jobs if (worker := rig.worker_of(job.marker))]
    return max(workers, key=workers.count)


def _moved_elsewhere(job: Job, dead: Node, since: float) -> bool:
    return any(one.moved_at > since + 0.5 and one.moved_by != dead.url for one in job.seen)


async def _written(rig: Rig, db: Database, jobs: list[Job]) -> tuple[object, ...]:
    """All that these runs have left: their logs, and the effects of their tools."""
    return rig.ledger.counts(), [await db.read(read_all, job.run_id) for job in jobs]


async def _check(rig: Rig, load: Load) -> None:
    findings, db = Findings(), rig.open_database()
    try:
        await check_all(load.jobs, rig.ledger, db, findings)
    finally:
        await db.aclose()
    print(findings)
    assert not findings.problems, str(findings)
