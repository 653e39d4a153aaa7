"""All servers are restarted one after the other, under people who read and write: no request fails."""

from __future__ import annotations

import signal
from pathlib import Path

import anyio
import pytest

from tests.cluster.checks import Findings, check_all
from tests.cluster.load import Load
from tests.cluster.rig import Rig

pytestmark = [pytest.mark.postgres, pytest.mark.deep, pytest.mark.timeout(600)]
WIDTH = 20


@pytest.mark.parametrize(("followers", "pace_s"), [(200, 0.2), (2000, 1.0)])
async def test_a_rolling_restart_under_followers_answers_nothing_with_an_error_of_the_server(
    tmp_path: Path, followers: int, pace_s: float
) -> None:
    findings = Findings()
    async with Rig(tmp_path / "rig") as rig:
        if rig.balancer is None:
            pytest.skip("a rolling restart needs a balancer: nginx is not installed (make setup-dev)")
        load = Load(rig, seed=1, width=WIDTH, balanced=followers // WIDTH, pace_s=pace_s)
        async with load.running():
            await anyio.sleep(5)
            for node in rig.nodes:
                exit_code = await node.end(signal.SIGTERM)
                assert exit_code == 0, node.log()[-2000:]
                await node.start()
                await anyio.sleep(1)
            await load.settle(300)
        db = rig.open_database()
        await check_all(load.jobs, rig.ledger, db, findings)
        await db.aclose()
        unavailable = rig.door.unavailable
    print(findings)
    assert not unavailable, f"{len(unavailable)}: {unavailable[:5]}"
    assert not findings.problems, str(findings)
