"""Time as an argument: production uses the system clock, tests a manual one (`outlast.testing.clock`)."""

from datetime import UTC, datetime

import anyio

from outlast_sandbox.clock import Clock, SystemClock

__all__ = ["Clock", "SystemClock", "iso", "wait_at_most"]


async def wait_at_most(clock: Clock, news: anyio.Event, most_s: float | None) -> None:
    """Wait until `news` is set, or for `most_s` seconds (None waits without a limit)."""

    async def end_later(seconds: float) -> None:
        await clock.sleep(seconds)
        tasks.cancel_scope.cancel()

    async with anyio.create_task_group() as tasks:
        if most_s is not None:
            tasks.start_soon(end_later, max(0.0, most_s))
        await news.wait()
        tasks.cancel_scope.cancel()


def iso(moment: datetime) -> str:
    """ISO 8601 in UTC with milliseconds and a Z: the form every API answer and event uses."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds")[:-6] + "Z"
