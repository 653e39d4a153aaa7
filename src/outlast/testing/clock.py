"""A clock that only moves when a test moves it.

    clock = ManualClock()
    database = open_database(url, folder, clock)
    clock.advance(300)  # five minutes later: due sleepers continue

Clocks of the database, the engine and the HTTP server may be one and the same, so that all of them agree on the time.
"""

from datetime import UTC, datetime, timedelta
from typing import Final

import anyio

START: Final = datetime(2030, 1, 1, 12, tzinfo=UTC)


class ManualClock:
    """A `Clock`. `monotonic` begins at 1,000 s and moves with `now`. `advance` wakes sleepers in order of their
    times."""

    def __init__(self, start: datetime = START) -> None:
        self._now = start
        self._start = start
        self._sleepers: list[tuple[datetime, anyio.Event]] = []
        self._arrived = anyio.Event()

    def now(self) -> datetime:
        return self._now

    def monotonic(self) -> float:
        return 1_000 + (self._now - self._start).total_seconds()

    async def sleep(self, seconds: float) -> None:
        """Return once the clock has been moved this far; for zero or less, return after other tasks have run once."""
        if seconds <= 0:
            await anyio.lowlevel.checkpoint()
            return
        sleeper = (self._now + timedelta(seconds=seconds), anyio.Event())
        self._sleepers.append(sleeper)
        self._arrived.set()
        self._arrived = anyio.Event()
        try:
            await sleeper[1].wait()
        finally:
            self._sleepers = [other for other in self._sleepers if other is not sleeper]

    def advance(self, seconds: float) -> None:
        """Move the clock and wake every sleeper whose time has come."""
        self._now += timedelta(seconds=seconds)
        for until, event in sorted(self._sleepers, key=lambda sleeper: sleeper[0]):
            if until <= self._now:
                event.set()

    async def wait_sleepers(self, count: int = 1) -> None:
        """Return once at least `count` tasks sleep on this clock."""
        while len(self._sleepers) < count:
            await self._arrived.wait()

    def next_wake_s(self) -> float | None:
        """Seconds until the next sleeper's time; None if no task sleeps."""
        next_wake = min((until for until, _ in self._sleepers), default=None)
        return None if next_wake is None else (next_wake - self._now).total_seconds()
