"""The database's time, for all processes that share a PostgreSQL: leases are written by one and judged by others."""

import logging
import time
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Final

from outlast.base.clock import Clock

OLD_AFTER_S: Final = 60.0  # a measurement is used for so long; a server repeats it much earlier
log: Final = logging.getLogger("outlast.database")


def elapsed() -> float:
    """Seconds that go on while the machine is suspended, and that no correction of its clock touches."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


class DatabaseClock:
    """A `Clock` whose `now` is the database's: measured now and then, and counted on from there, without asking for it.
    Until the first measurement it is the machine's own. It is at most a measurement's round trip behind or ahead.

    Any thread may use it. It logs once if the own clock is further from the database's than `tolerated_s`, and once
    when it is right again.
    """

    def __init__(self, own: Clock, tolerated_s: float, elapsed: Callable[[], float] = elapsed) -> None:
        self._own, self._elapsed = own, elapsed
        self._known: tuple[datetime, float] | None = None  # the database's time, and the elapsed seconds then
        self._measured_at = float("-inf")
        self.tolerated_s = tolerated_s
        self.ahead_s = 0.0  # of the own clock before the database's, as last measured
        self.error_s = 0.0  # the round trip of the last measurement

    def now(self) -> datetime:
        known = self._known
        if known is None:
            return self._own.now()
        return known[0] + timedelta(seconds=self._elapsed() - known[1])

    def monotonic(self) -> float:
        return self._own.monotonic()

    async def sleep(self, seconds: float) -> None:
        await self._own.sleep(seconds)

    @property
    def is_old(self) -> bool:
        """True if the time should be measured again."""
        return self._elapsed() - self._measured_at > OLD_AFTER_S

    @property
    def is_skewed(self) -> bool:
        """True if the own clock is further from the database's than is tolerated."""
        return abs(self.ahead_s) > self.tolerated_s

    async def measure(self, ask: Callable[[], Awaitable[datetime]]) -> None:
        """Ask the database for its time; raises what `ask` raises."""
        began = self._elapsed()
        told = await ask()
        ended, own = self._elapsed(), self._own.now()
        # When the answer came, it was between `told` and a round trip later. What was known stays unless that is wrong:
        # no step back for a slow answer.
        latest = told + timedelta(seconds=ended - began)
        if self._known is None:
            counted = told + (latest - told) / 2
        else:
            counted = min(max(self._known[0] + timedelta(seconds=ended - self._known[1]), told), latest)
        self._known, self._measured_at, self.error_s = (counted, ended), ended, ended - began
        was_skewed, self.ahead_s = self.is_skewed, (own - counted).total_seconds()
        if self.is_skewed != was_skewed:
            self._tell()

    def _tell(self) -> None:
        if self.is_skewed:
            log.warning(
                "this machine's clock differs from the database's, whose time is used; set it right (NTP)",
                extra={"ahead_s": round(self.ahead_s, 1)},
            )
        else:
            log.info("this machine's clock agrees with the database's again")
