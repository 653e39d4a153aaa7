"""The database's time, counted on between two measurements."""

from __future__ import annotations

import logging
from datetime import UTC, datetime, timedelta

import pytest

from outlast.db.database_clock import OLD_AFTER_S, DatabaseClock
from outlast.testing.clock import ManualClock

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)


class Stand:
    """A machine whose wall clock and whose elapsed seconds go apart, and a database with the right time."""

    def __init__(self, ahead_s: float = 0.0) -> None:
        self.own, self.elapsed_s, self.true = ManualClock(NOON + timedelta(seconds=ahead_s)), 100.0, NOON
        self.clock = DatabaseClock(self.own, 5.0, lambda: self.elapsed_s)

    def go_on(self, seconds: float) -> None:
        self.elapsed_s += seconds
        self.true += timedelta(seconds=seconds)
        self.own.advance(seconds)

    async def measure(self, there_s: float = 0.0, back_s: float = 0.0) -> None:
        async def ask() -> datetime:
            self.go_on(there_s)
            told = self.true
            self.go_on(back_s)
            return told

        await self.clock.measure(ask)

    @property
    def off_s(self) -> float:
        return (self.clock.now() - self.true).total_seconds()


async def test_until_it_is_measured_the_time_is_the_machines() -> None:
    it = Stand(ahead_s=7)
    assert it.off_s == 7
    assert it.clock.is_old
    await it.measure()
    assert it.off_s == 0
    was_old = it.clock.is_old
    it.go_on(OLD_AFTER_S + 1)
    assert (was_old, it.clock.is_old) == (False, True)
    assert it.off_s == 0


@pytest.mark.parametrize("jump_s", [-3600.0, 3600.0])
async def test_a_wall_clock_that_jumps_moves_nothing(jump_s: float) -> None:
    it = Stand()
    await it.measure()
    it.own.advance(jump_s)
    it.go_on(10)
    assert it.off_s == 0
    await it.measure()
    assert it.off_s == 0
    assert it.clock.ahead_s == jump_s


async def test_it_is_at_most_a_round_trip_off_whichever_way_was_slow() -> None:
    for there_s, back_s in ((0.4, 0.0), (0.0, 0.4), (0.2, 0.2)):
        it = Stand()
        await it.measure(there_s, back_s)
        assert abs(it.off_s) <= 0.2 + 1e-6
        assert it.clock.error_s == pytest.approx(0.4)


async def test_a_slow_answer_that_does_not_contradict_what_is_known_moves_nothing() -> None:
    it = Stand()
    await it.measure()
    for there_s, back_s in ((3.0, 0.0), (0.0, 3.0)):
        await it.measure(there_s, back_s)
        assert it.off_s == 0


async def test_seconds_that_the_machine_did_not_count_are_made_up_at_the_next_measurement() -> None:
    """A virtual machine that its host has paused."""
    it = Stand()
    await it.measure()
    it.true += timedelta(seconds=40)
    await it.measure(0.001, 0.001)
    assert abs(it.off_s) <= 0.002


async def test_a_clock_that_is_further_off_than_is_tolerated_is_logged_once_and_once_when_it_is_right_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "outlast.database")
    it = Stand(ahead_s=4.9)
    await it.measure()
    assert (it.clock.is_skewed, caplog.records) == (False, [])
    it.own.advance(0.2)
    for _ in range(3):
        await it.measure()
    assert it.clock.is_skewed
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    it.own.advance(-5)
    for _ in range(3):
        await it.measure()
    assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"]
    it.own.advance(-6)
    await it.measure()
    assert it.clock.is_skewed
