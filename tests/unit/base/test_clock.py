"""Time as every answer writes it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from outlast.base.clock import SystemClock, iso


@pytest.mark.parametrize(
    ("moment", "written"),
    [
        (datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC), "2030-01-02T03:04:05.000Z"),
        (datetime(2030, 1, 2, 3, 4, 5, 678_999, tzinfo=UTC), "2030-01-02T03:04:05.678Z"),
        (datetime(2030, 1, 1, 0, 30, tzinfo=timezone(timedelta(hours=2))), "2029-12-31T22:30:00.000Z"),
    ],
)
def test_moments_are_written_in_utc_with_milliseconds(moment: datetime, written: str) -> None:
    assert iso(moment) == written


def test_written_moments_sort_as_they_follow() -> None:
    start = datetime(2030, 1, 1, tzinfo=UTC)
    moments = [start + timedelta(milliseconds=7 * n) for n in range(500)]
    assert [iso(m) for m in moments] == sorted(iso(m) for m in moments)


async def test_the_systems_clock_goes_forward_in_utc() -> None:
    clock = SystemClock()
    before = clock.monotonic()
    await clock.sleep(0)
    assert clock.monotonic() >= before
    assert clock.now().tzinfo is UTC
