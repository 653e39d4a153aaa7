"""Steps of idle sandboxes: frozen, then stopped, then killed, each when it is due.

Nothing polls: the ladder sleeps until the next step is due, or until one more sandbox is awake.
"""

import logging
from collections.abc import Awaitable, Callable, Collection
from datetime import datetime, timedelta
from typing import Final

import anyio

from outlast.base.clock import wait_at_most
from outlast.base.errors import OutlastError
from outlast.kernel.sandboxes import store
from outlast.kernel.sandboxes.manager import SandboxManager
from outlast.kernel.sandboxes.orphans import SWEEP_EVERY_S
from outlast.kernel.sandboxes.rules import IdleStep, State, idle_due_s, idle_step
from outlast.kernel.sandboxes.store import SandboxRecord
from outlast.kernel.set_aside import kinds

IDLE: Final = "idle"
SHORTEST_SLEEP_S: Final = 1.0  # a due step that was not taken must not cause a busy loop
RETRY_S: Final = 30.0  # after a failed call of the provider or database
log = logging.getLogger("outlast.sandboxes")


async def step_down(machines: SandboxManager, busy: Collection[str] = ()) -> None:
    """Freeze, stop or kill sandboxes that have been idle for as long as the settings allow, and stop those beyond the
    limit. The workspaces named in `busy` are in use now: their clocks start again. If every server reaches the
    sandboxes, one of them does this at a time."""
    async with machines.alone(IDLE) as mine:
        if mine:
            await _step_down(machines, busy)


async def _step_down(machines: SandboxManager, busy: Collection[str]) -> None:
    await machines.trim()
    rows, now = await machines.recorded(), machines.clock.now()
    at_work = [row for row in rows if row.workspace_id in busy]
    if at_work:
        await machines.db.write(store.touch, [(row.id, row.workspace_id) for row in at_work])
    for row in rows:
        due = _due_at(machines, row)
        if due is not None and due <= now and row.workspace_id not in busy:
            await machines.guard.attempt(kinds.SANDBOX_SLEEP, row.id, _step, machines, row)


class Ladder:
    """For the server itself: `step` is called when a step of any sandbox is due, `sweep` every few minutes. Both may
    fail, and are retried."""

    def __init__(
        self, machines: SandboxManager, step: Callable[[], Awaitable[None]], sweep: Callable[[], Awaitable[None]]
    ) -> None:
        self._machines, self._step, self._sweep = machines, step, sweep

    async def run(self) -> None:
        """Until cancelled."""
        clock, rest_s = self._machines.clock, SHORTEST_SLEEP_S
        sweep_at = clock.now() + timedelta(seconds=SWEEP_EVERY_S)
        while True:
            woken = self._machines.woken  # before the rows are read: one that wakes meanwhile is not missed
            try:
                due = await self._next_due()
                wake_at = sweep_at if due is None else min(due, sweep_at)
                rest_s = max((wake_at - clock.now()).total_seconds(), SHORTEST_SLEEP_S)
                await self._rest(rest_s, woken)
                if due is not None and due <= clock.now():
                    await self._step()
                if sweep_at <= clock.now():
                    # Before it: a failed one waits for its next time.
                    sweep_at = clock.now() + timedelta(seconds=SWEEP_EVERY_S)
                    await self._sweep()
            except OutlastError as error:
                log.warning("idle sandboxes not handled", extra={"code": error.code, "reason": error.message})
                await clock.sleep(RETRY_S)

    async def _next_due(self) -> datetime | None:
        """The time of the next step of any sandbox, or None if none will be due."""
        guard, now, found = self._machines.guard, self._machines.clock.now(), []
        for row in await self._machines.recorded():
            due = _due_at(self._machines, row)
            if due is not None and not await guard.is_set_aside(kinds.SANDBOX_SLEEP, row.id):
                # A failed step is due when it may be retried: otherwise this would be a busy loop.
                found.append(max(due, now + timedelta(seconds=guard.wait_s(kinds.SANDBOX_SLEEP, row.id))))
        return min(found, default=None)

    async def _rest(self, seconds: float, woken: anyio.Event) -> None:
        """Until this time has passed, or one more sandbox is awake."""
        await wait_at_most(self._machines.clock, woken, seconds)


async def _step(machines: SandboxManager, seen: SandboxRecord) -> None:
    async with machines.step(seen.workspace_id):
        row = await machines.db.read(store.newest, seen.workspace_id)
        if row is None or row.id != seen.id:
            return
        # Computed again: it may have been used during the wait for the lock.
        idle_s = (machines.clock.now() - row.last_used_at).total_seconds()
        match idle_step(row.life, idle_s, machines.settings):
            case IdleStep.FREEZE:
                await machines.lives.freeze(row)
            case IdleStep.STOP:
                await machines.lives.stop(row)
            case IdleStep.KILL:
                await machines.lives.end(row, State.KILLED)


def _due_at(machines: SandboxManager, row: SandboxRecord) -> datetime | None:
    due_s = idle_due_s(row.life, machines.settings)
    return None if due_s is None else row.last_used_at + timedelta(seconds=due_s)
