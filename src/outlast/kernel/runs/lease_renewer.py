"""Renews leases from a thread: a tool that blocks the event loop does not cost the runs of this process."""

import asyncio
import time
from collections.abc import Callable, Collection
from datetime import timedelta
from math import ceil
from typing import Final

import anyio
from anyio.from_thread import start_blocking_portal

from outlast.base.errors import OutlastError
from outlast.base.supervision.loop_watch import LoopWatch
from outlast.db.database import Database
from outlast.kernel.runs import leases
from outlast.kernel.runs.engine import Engine

PING_S: Final = 0.5
CONFIRM_S: Final = 1.0  # a leg that has just ended its run gets this long to notice before it counts as outlived
LegKey = tuple[str, int]  # run id, attempt


class LeaseRenewer:
    """A service of the worker: a thread with an event loop of its own, asleep while no legs run.

    It renews only while the worker's loop answers: otherwise a process that is stuck forever would keep its runs. If
    the loop runs again after all, the fence decides: legs whose run another attempt has are reported. So are legs that
    could not be renewed for a whole lease: by then another process may work on their runs.
    """

    def __init__(
        self, engine: Engine, legs: Callable[[], Collection[LegKey]], on_lost: Callable[[Collection[LegKey]], None]
    ) -> None:
        """`legs` gives a copy of the keys of the running legs, and is called from the thread; `on_lost` is called on
        the worker's loop."""
        self._engine, self._legs, self._on_lost = engine, legs, on_lost
        # A third of the lease at most: one renewal may fail, and the next is still in time.
        lease_s = engine.settings.runs.lease_s
        self._interval_s = min(engine.settings.runs.heartbeat_s, lease_s / 3)
        self._patience_s = max(lease_s / 3, min(lease_s, 2.0))  # for one renewal: a busy machine needs a moment
        self._held_at: dict[LegKey, float] = {}  # when each leg was last known to hold its run
        self._wake: Callable[[], object] | None = None  # set while the thread sleeps

    def wake(self) -> None:
        """A leg has begun."""
        wake, self._wake = self._wake, None
        if wake is not None:
            wake()

    async def run(self) -> None:
        """Until cancelled; the thread has ended then."""
        worker, watch = asyncio.get_running_loop(), LoopWatch()
        with start_blocking_portal(name="lease-renewer") as thread:
            await thread.call_async(self._renew_forever, worker, watch)

    async def _renew_forever(self, worker: asyncio.AbstractEventLoop, watch: LoopWatch) -> None:
        pings = ceil(self._interval_s / PING_S)
        async with self._engine.db.in_thread() as db:
            await self._renew(db)  # opens the connection: a short lease has no time for that later
            while True:
                await self._sleep_while_idle()
                answers = True
                for _ in range(pings):  # on real time: a lease does not wait for a test's clock
                    await anyio.sleep(self._interval_s / pings)
                    answers = watch.ping()
                if answers and (lost := await self._renew(db)):
                    worker.call_soon_threadsafe(worker.call_later, CONFIRM_S, self._on_lost, lost)

    async def _sleep_while_idle(self) -> None:
        """Until there are legs."""
        loop, news = asyncio.get_running_loop(), asyncio.Event()
        self._wake = lambda: loop.call_soon_threadsafe(news.set)
        try:
            if not self._legs():  # after `_wake` is set: a leg that begins now wakes
                await news.wait()
        finally:
            self._wake = None

    async def _renew(self, db: Database) -> set[LegKey]:
        """Renew the leases of the running legs. Returns the legs whose run another attempt has, or may have because the
        database has not answered for too long."""
        legs, engine, began = set(self._legs()), self._engine, time.monotonic()
        run_ids = list({run_id for run_id, _ in legs})
        lease = timedelta(seconds=engine.settings.runs.lease_s)
        self._held_at = {leg: self._held_at.get(leg, began - self._interval_s) for leg in legs}
        try:
            with anyio.fail_after(self._patience_s):  # a connection that hangs is replaced
                held = await db.write(leases.renew_leases, engine.node_id, run_ids, lease)
        except (OutlastError, TimeoutError) as error:
            engine.log("leases not renewed", error=error)
            return self._outlived(lease.total_seconds()) if db.dialect == "postgresql" else set()
        self._held_at |= dict.fromkeys(held & legs, began)
        return legs - held

    def _outlived(self, lease_s: float) -> set[LegKey]:
        now = time.monotonic()
        return {leg for leg, at in self._held_at.items() if now - at > lease_s}
