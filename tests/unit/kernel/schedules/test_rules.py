"""When a schedule comes due: in every zone, over changes of the clock, and after downtime."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.base.schedule_errors import CronTooFrequent, InvalidCron, UnknownZone
from outlast.kernel.schedules.rules import (
    GRACE,
    OnMissed,
    checked_cron,
    checked_zone,
    next_time,
    next_times,
    starts_run,
)

BERLIN = "Europe/Berlin"
NOW = datetime(2030, 1, 1, 12, tzinfo=UTC)
SPRING = datetime(2026, 3, 29, tzinfo=UTC)  # at 01:00 UTC the clock goes from 2:00 to 3:00
AUTUMN = datetime(2026, 10, 25, tzinfo=UTC)  # at 01:00 UTC the clock goes from 3:00 to 2:00

zones = st.sampled_from(sorted(available_timezones() - {"localtime"}))
moments = st.integers(0, 17 * 366 * 86_400).map(
    lambda seconds: datetime(2020, 1, 1, tzinfo=UTC) + timedelta(0, seconds)
)
minutes, hours = st.integers(0, 59), st.integers(0, 23)
crons = st.one_of(
    st.builds("{} {} * * *".format, minutes, hours),
    st.builds("*/{} * * * *".format, st.integers(1, 59)),
    st.builds("{} */{} * * 1-5".format, minutes, st.integers(1, 12)),
    st.builds("{0},{0} {1},3 1,15 * *".format, minutes, hours),
    st.builds("{} {} * * MON#1".format, minutes, hours),
    st.builds("{} {} L * *".format, minutes, hours),
)


def at(day: datetime, *times: str) -> list[datetime]:
    """These times of the day, in UTC."""
    return [datetime.fromisoformat(f"{day:%Y-%m-%d}T{time}+00:00") for time in times]


def due(cron: str, day: datetime) -> list[datetime]:
    """Its due times in Berlin in the four hours around the change of the clock."""
    found = next_times(cron, BERLIN, day - timedelta(hours=1), 100)
    return [one for one in found if one < day + timedelta(hours=3)]


@pytest.mark.parametrize(
    ("cron", "expected"),
    [
        ("30 2 * * *", ["01:00"]),
        ("0,15,30,45 2 * * *", ["01:00"]),
        ("0 3 * * *", ["01:00"]),
        ("0 2,3 * * *", ["01:00"]),
        ("30 1 * * *", ["00:30"]),
        ("0 * * * *", ["00:00", "01:00", "02:00"]),
        ("*/30 * * * *", ["00:00", "00:30", "01:00", "01:30", "02:00", "02:30"]),
    ],
)
def test_a_time_that_the_clock_skips_comes_due_once_at_the_end_of_the_gap(cron: str, expected: list[str]) -> None:
    assert [one for one in due(cron, SPRING) if one >= SPRING] == at(SPRING, *expected)


@pytest.mark.parametrize(
    ("cron", "expected"),
    [
        ("30 2 * * *", ["00:30"]),
        ("0,30 2 * * *", ["00:00", "00:30"]),
        ("0 3 * * *", ["02:00"]),
        ("0 * * * *", ["00:00", "01:00", "02:00"]),
        ("*/30 * * * *", ["00:00", "00:30", "01:00", "01:30", "02:00", "02:30"]),
    ],
)
def test_a_time_that_the_clock_shows_twice_comes_due_once_and_a_rhythm_goes_on(cron: str, expected: list[str]) -> None:
    assert [one for one in due(cron, AUTUMN) if one >= AUTUMN] == at(AUTUMN, *expected)


@pytest.mark.parametrize("minute", range(0, 180, 7))
def test_no_time_is_given_that_is_over(minute: int) -> None:
    """In the second pass of the hour that the clock shows twice, the library begins with the first one."""
    now = AUTUMN + timedelta(minutes=minute)
    assert all(one > now for one in next_times("30 2 * * *", BERLIN, now))


@given(crons, zones, moments)
def test_times_rise_and_do_not_depend_on_when_they_are_asked_for(cron: str, zone: str, after: datetime) -> None:
    found = next_times(cron, zone, after, 8)
    assert all(one < other for one, other in pairwise([after, *found]))
    for earlier, later in pairwise(found):
        assert next_time(cron, zone, earlier) == later
        assert next_time(cron, zone, later - timedelta(seconds=1)) == later


@given(minutes, hours, zones, moments)
def test_a_time_of_day_comes_due_once_each_day(minute: int, hour: int, zone: str, after: datetime) -> None:
    found = next_times(f"{minute} {hour} * * *", zone, after, 40)
    days = Counter(one.astimezone(ZoneInfo(zone)).date() for one in found)
    # A gap at midnight moves a time of the day before to the next; whole days that a zone skips have no time.
    assert all(count <= 2 for count in days.values())
    assert abs((found[-1] - found[0]) - timedelta(days=39)) <= timedelta(days=1)


@given(st.text(st.sampled_from("0123456789*/,-#LWMONJAN ²٣"), max_size=40))
def test_any_text_is_a_cron_expression_or_refused(text: str) -> None:
    with suppress(InvalidCron):
        assert next_times(checked_cron(text, BERLIN, NOW), BERLIN, NOW, 3)


@pytest.mark.parametrize("cron", ["", "* * * *", "* * * * * *", "60 * * * *", "0 24 * * *", "0 0 30 2 *", "@daily"])
def test_a_bad_expression_is_refused(cron: str) -> None:
    with pytest.raises(InvalidCron):
        checked_cron(cron, "UTC", NOW)


def test_an_expression_is_kept_in_one_form() -> None:
    assert checked_cron("  0  8 * *\tmon-fri ", "UTC", NOW) == "0 8 * * mon-fri"


@pytest.mark.parametrize("zone", ["", "Europe", "Mars/Olympus", "../etc/passwd", "a\0b", "x" * 5000])
def test_an_unknown_zone_is_refused(zone: str) -> None:
    with pytest.raises(UnknownZone):
        checked_zone(zone)


@pytest.mark.parametrize(
    ("cron", "least_s", "is_allowed"),
    [
        ("* * * * *", 60, True),
        ("* * * * *", 61, False),
        ("0,1 0 1 1 *", 120, False),
        ("0,59 0,23 * * *", 120, False),
        ("0 * * * *", 3_600, True),
        ("0 8 * * *", 86_400, True),
        ("0 8,20 * * *", 86_400, False),
    ],
)
def test_an_expression_may_be_too_frequent(cron: str, least_s: float, is_allowed: bool) -> None:
    if is_allowed:
        assert checked_cron(cron, BERLIN, NOW, least_s)
    else:
        with pytest.raises(CronTooFrequent, match="more often"):
            checked_cron(cron, BERLIN, NOW, least_s)


@pytest.mark.parametrize("on_missed", ["skip", "one"])
@pytest.mark.parametrize("late_s", [0, 1, 59, 60])
def test_a_due_time_starts_a_run_in_time(on_missed: OnMissed, late_s: int) -> None:
    assert starts_run(NOW - timedelta(seconds=late_s), NOW, "0 12 * * *", "UTC", on_missed)


def test_after_downtime_missed_times_start_nothing_or_one_run() -> None:
    before = NOW - timedelta(days=1)
    for now in (NOW - timedelta(hours=1), NOW + GRACE + timedelta(seconds=1)):
        assert not starts_run(before, now, "0 12 * * *", "UTC", "skip")
        assert starts_run(before, now, "0 12 * * *", "UTC", "one")


def test_after_downtime_a_time_that_is_just_now_is_not_missed() -> None:
    assert starts_run(NOW - timedelta(days=3), NOW + timedelta(seconds=30), "0 12 * * *", "UTC", "skip")
