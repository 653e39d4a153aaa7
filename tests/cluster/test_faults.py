"""Three servers under faults that overlap: nothing acknowledged is lost, nothing is done twice, all go on."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from tests.cluster.checks import Findings, check_all
from tests.cluster.faults import KINDS, plan
from tests.cluster.load import Load
from tests.cluster.rig import Rig
from tests.cluster.storm import storm
from tests.crash.kills import SEED_VARIABLE, seed_of_this_run

pytestmark = [pytest.mark.postgres, pytest.mark.timeout(300)]


async def test_runs_end_as_written_where_nothing_goes_wrong(tmp_path: Path) -> None:
    findings = Findings()
    async with Rig(tmp_path / "rig") as rig:
        load = Load(rig, seed=1, width=6)
        async with load.running():
            await anyio.sleep(3)
            await load.settle(30)
        db = rig.open_database()
        await check_all(load.jobs, rig.ledger, db, findings)
        await db.aclose()
        unavailable = rig.door.unavailable
    print(findings)
    assert findings.counts["runs"] >= 6
    assert not findings.problems, str(findings)
    assert not unavailable


async def test_runs_end_as_written_where_every_kind_of_fault_strikes(tmp_path: Path) -> None:
    seed = seed_of_this_run()
    rounds = plan(seed, len(KINDS), longest_stop_s=10)
    findings = await storm(tmp_path / "rig", seed, rounds, redis=True, s3=True)
    print(findings)
    assert not findings.problems, f"{SEED_VARIABLE}={seed}\n{findings}"
