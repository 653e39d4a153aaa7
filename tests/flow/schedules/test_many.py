"""Many schedules over a change of the clock and three restarts: each fires as its `on_missed` says."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path

import pytest

from outlast.kernel.limits.settings import LimitSettings
from outlast.kernel.schedules.rules import GRACE, next_times
from outlast.kernel.settings import Settings
from tests.flow.schedules.rig import rig

START = datetime(2026, 3, 28, 12, 15, tzinfo=UTC)  # in Europe, the clock skips an hour at 01:00 UTC of the 29th
STEP_S = 1_800
# Hours of work and of downtime after it: the second is over the change of the clock, the last longer than a day.
DAYS = [(6, 2), (3.5, 5.5), (8, 26.5), (6, 0)]
CRONS = ["0 2 * * *", "30 2 * * *", "0 3 * * *", "0 */2 * * *", "30 * * * *", "0 8 * * SUN", "0 6,18 * * *"]
ZONES = ["Europe/Berlin", "Europe/London", "UTC", "America/New_York", "Africa/Casablanca", "Asia/Kathmandu"]
KINDS = list(product(CRONS, ZONES, ["skip", "one"]))

STRIDE = 5  # without a divisor in common with the number of kinds: any part of them is mixed


def expected(cron: str, zone: str, on_missed: str, looks: list[datetime]) -> int:
    """How many runs the schedule starts, if what is due is handled at these moments: said anew, without its rules."""
    due = [one for one in next_times(cron, zone, START, 500) if one <= looks[-1]]
    count, before = 0, START
    for now in looks:
        here = [one for one in due if before < one <= now]
        if here and (on_missed == "one" or here[-1] >= now - GRACE):
            count += 1
        before = now
    return count


@pytest.mark.parametrize("how_many", [len(KINDS) // 4, pytest.param(500, marks=pytest.mark.deep)])
async def test_they_fire_as_their_kind_says(database_url: str, tmp_path: Path, how_many: int) -> None:
    unlimited = LimitSettings(runs_per_minute_per_user=0, runs_per_minute_per_project=0)
    async with rig(database_url, tmp_path, start=START, settings=Settings(limits=unlimited)) as it:
        kinds = [KINDS[number * STRIDE % len(KINDS)] for number in range(how_many)]
        made = {
            await it.make(cron=cron, zone=zone, on_missed=on_missed): (cron, zone, on_missed)
            for cron, zone, on_missed in kinds
        }
        looks: list[datetime] = []
        it.clock.advance(STEP_S / 2)  # from now on at each full and half hour, when all of them are due
        for up_h, down_h in DAYS:
            for _ in range(int(up_h * 3_600 / STEP_S)):
                await it.sweep()
                looks.append(it.clock.now())
                it.clock.advance(STEP_S)
            if down_h:
                await it.restart_after(down_h * 3_600 + GRACE.total_seconds() + 1)
                looks.append(it.clock.now())
                it.clock.advance(STEP_S - GRACE.total_seconds() - 1)
        fired = Counter(run.trigger["id"] for run in await it.runs() if run.trigger is not None)
        assert {one: fired[one] for one in made} == {one: expected(*kind, looks) for one, kind in made.items()}
        assert looks[-1] - START > timedelta(days=2)
        assert len(set(fired.values())) > 3
