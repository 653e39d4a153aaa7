"""Rounds of faults over runs that are always active, and what must hold after each and at the end."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import anyio

from tests.cluster import faults
from tests.cluster.checks import Findings, check_all
from tests.cluster.jobs import Job
from tests.cluster.load import Load
from tests.cluster.rig import Rig
from tests.crash.server import until

GRACE_S: Final = 5.0  # beside two leases: until whatever stood still goes on; for a loaded machine
SETTLE_S: Final = 60.0  # for the runs that are on their way at the end


async def storm(
    folder: Path, seed: int, rounds: Sequence[Sequence[faults.Strike]], *, width: int = 20, redis: bool, s3: bool
) -> Findings:
    """Go through the rounds on a new cluster; what was found."""
    findings = Findings()
    print(f"seed {seed}: {sum(map(len, rounds))} faults in {len(rounds)} rounds")
    async with Rig(folder, redis=redis, s3=s3) as rig:
        load = Load(rig, seed, width)
        async with load.running():
            await anyio.sleep(2)
            for number, strikes in enumerate(rounds, 1):
                print(f"round {number}: {'; '.join(map(str, strikes))}", flush=True)
                await faults.strike(rig, strikes)
                findings.counts["faults"] += len(strikes)
                await _check_going_on(rig, load, number, findings)
            await load.settle(SETTLE_S)
            _count_waits(load.jobs, findings)
        db = rig.open_database()
        try:
            await check_all(load.jobs, rig.ledger, db, findings)
        finally:
            await db.aclose()
        findings.counts["starts of servers"] = sum(node.starts for node in rig.nodes)
        findings.counts["failed starts"] = sum(len(node.failed_starts) for node in rig.nodes)
        findings.counts["answers of 500 and above"] = len(rig.door.unavailable)
    return findings


async def _check_going_on(rig: Rig, load: Load, number: int, findings: Findings) -> None:
    """Within two leases after the last fault of a round each run has moved on, for both of its followers."""
    began, within_s = anyio.current_time(), 2 * rig.lease_s + GRACE_S
    active = load.active

    def waiting() -> list[Job]:
        return [job for job in active if not all(_has_moved(job, began))]

    with anyio.move_on_after(within_s):
        await until(lambda: not waiting())
    findings.counts["longest wait after a round, ms"] = max(
        findings.counts["longest wait after a round, ms"], round((anyio.current_time() - began) * 1000)
    )
    for job in waiting():
        moved = list(_has_moved(job, began))
        kind = "followers that no longer get anything" if any(moved) else "runs that stand still"
        ages = [f"{one.label} from {one.moved_by} {anyio.current_time() - one.moved_at:.1f} s ago" for one in job.seen]
        row = await rig.row_of(job.run_id)
        findings.add(kind, f"round {number}, {within_s:.0f} s after it: {job}; last events {ages}; {row}")


def _has_moved(job: Job, since: float) -> list[bool]:
    return [one.has_ended or one.moved_at > since for one in job.seen]


def _count_waits(jobs: Sequence[Job], findings: Findings) -> None:
    waits = [one.longest_s for job in jobs for one in job.seen]
    findings.counts["longest wait of a follower, ms"] = round(max(waits, default=0) * 1000)
