"""When a schedule comes due, and whether a due time still starts a run. Pure.

Daylight saving time, as in Debian's cron: a time of day that the clock skips comes due at the first moment after the
gap, together with others in it; one that the clock shows twice comes due at its first moment only. An expression whose
minutes or hours begin with `*` means a rhythm instead of times of day, and keeps it: `*/15 * * * *` comes due each
quarter of an hour that passes.
"""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise
from typing import Final, Literal
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from outlast.base.schedule_errors import CronTooFrequent, InvalidCron, UnknownZone

GRACE: Final = timedelta(seconds=60)
"""A due time further back was missed. As long as a restart of the server may take, and no longer than the shortest
interval, so that a schedule of each minute misses what passes during downtime."""
FIELDS: Final = 5
CRON_CHARS: Final = 200
ZONE_CHARS: Final = 100
MINUTE_S: Final = 60
COMPARED: Final = 200  # due times whose distances are measured
PREVIEWED: Final = 5

OnMissed = Literal["skip", "one"]


def checked_zone(zone: str) -> str:
    """The name of a time zone. Raises `UnknownZone`."""
    try:
        return ZoneInfo(zone[:ZONE_CHARS]).key
    except (KeyError, ValueError, OSError):  # an unknown name; a path; a folder
        raise UnknownZone("There is no time zone with this name.", field="zone") from None


def checked_cron(cron: str, zone: str, now: datetime, least_s: float = MINUTE_S) -> str:
    """The expression in one line, its fields separated by one space. Raises `InvalidCron`, and `CronTooFrequent` if two
    due times are closer than `least_s`."""
    line = " ".join(cron[: CRON_CHARS + 1].split())
    if len(line.split()) != FIELDS or len(line) > CRON_CHARS:
        raise InvalidCron("A cron expression has five fields.", field="cron")
    try:
        first = next_times(line, zone, now, 1)
    except CronSimError as error:
        name = str(error).removeprefix("Bad ").replace("-", " ")
        raise InvalidCron(f"The {name} of the cron expression cannot be read.", field="cron") from None
    if not first:
        raise InvalidCron("This cron expression never comes due.", field="cron")
    if least_s > MINUTE_S:
        _demand_distance(line, now, least_s)
    return line


def _demand_distance(cron: str, now: datetime, least_s: float) -> None:
    # In UTC: a change of the clock is no reason to refuse a schedule.
    gaps = ((later - earlier).total_seconds() for earlier, later in pairwise(next_times(cron, "UTC", now, COMPARED)))
    if min(gaps, default=least_s) < least_s:
        raise CronTooFrequent(
            "This cron expression comes due more often than this server allows.",
            hint=f"Leave at least {least_s / MINUTE_S:g} minutes between two runs.",
            field="cron",
            least_s=least_s,
        )


def next_times(cron: str, zone: str, after: datetime, count: int = PREVIEWED) -> list[datetime]:
    """The next due times after a moment, in UTC and rising; fewer if the expression does not come due within 50
    years."""
    due = CronSim(cron, after.astimezone(ZoneInfo(zone)))
    return list(islice(_rising((one.astimezone(UTC) for one in due), after), count))


def _rising(times: Iterable[datetime], after: datetime) -> Iterator[datetime]:
    """In the hour that the clock shows twice, the library may begin with a time of the first pass."""
    for one in times:
        if one > after:
            yield (after := one)


def next_time(cron: str, zone: str, after: datetime) -> datetime | None:
    """The next due time after a moment; None if there is none."""
    return next(iter(next_times(cron, zone, after, 1)), None)


def starts_run(due_at: datetime, now: datetime, cron: str, zone: str, on_missed: OnMissed) -> bool:
    """True if the due times from `due_at` until `now` start a run: unless all of them were missed and the
    schedule skips those."""
    in_time = now - GRACE
    if on_missed == "one" or due_at >= in_time:
        return True
    last = next_time(cron, zone, in_time)
    return last is not None and last <= now
