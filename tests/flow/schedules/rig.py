"""Servers over one database and one clock, whose sweepers handle what comes due when a test moves the clock."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import sqlalchemy as sa

from outlast.db.connect import open_database
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.agents.agent import Agent
from outlast.kernel.mentions.inbox_items import InboxItem
from outlast.kernel.runs import timers
from outlast.kernel.runs.rows import RunRow
from outlast.kernel.runs.sweeper import Sweeper
from outlast.kernel.runs.tables import runs
from outlast.kernel.schedules import actions, store
from outlast.kernel.schedules.due_runs import fire
from outlast.kernel.schedules.shapes import ScheduleAnswer
from outlast.kernel.settings import Settings
from outlast.testing.agents import FakeAgent
from outlast.testing.clock import ManualClock
from tests.factories import list_inbox, make_project, make_schedule, make_services, make_user

START = datetime(2030, 1, 1, 12, tzinfo=UTC)
HOUR_S, DAY_S = 3_600.0, 86_400.0


class Rig:
    def __init__(self, database_url: str, folder: Path, start: datetime, **more: Any) -> None:
        self.clock = ManualClock(start)
        self.database_url, self.folder, self.more = database_url, folder, more
        self.owner: Actor
        self.project_id: str
        self.open()

    def open(self) -> None:
        """A server starts."""
        self.db = open_database(self.database_url, self.folder, self.clock)
        self.services = make_services(self.db, self.folder, clock=self.clock, **self.more)

    async def restart_after(self, seconds: float) -> None:
        """No server runs for so long."""
        await self.db.aclose()
        self.clock.advance(seconds)
        self.open()
        await self.sweep()

    def sweeper(self) -> Sweeper:
        return Sweeper(self.services.engine, None, {store.TIMER: partial(fire, self.services)})

    async def sweep(self, servers: int = 1) -> None:
        async with anyio.create_task_group() as tasks:
            for _ in range(servers):
                tasks.start_soon(self.sweeper().sweep)

    async def later(self, seconds: float) -> None:
        """So much later, what is due was handled."""
        self.clock.advance(seconds)
        await self.sweep()

    async def make(self, **fields: Any) -> str:
        """A schedule of the owner, by default at 8:00 UTC."""
        actor = fields.pop("actor", self.owner)
        return await self.db.write(make_schedule, self.project_id, actor, **fields)

    async def read(self, schedule_id: str) -> ScheduleAnswer:
        return await actions.read_schedule(self.services, self.owner, schedule_id)

    async def runs(self) -> list[RunRow]:
        """All runs, the oldest first."""
        return await self.db.read(lambda tx: tx.rows(RunRow, sa.select(runs).order_by(runs.c.id)))

    async def timer(self, schedule_id: str) -> datetime | None:
        found = await self.db.read(timers.timers_of, schedule_id)
        return found[0].due_at if found else None

    async def inbox(self, actor: Actor | None = None) -> list[InboxItem]:
        return await list_inbox(self.services, actor or self.owner)


@asynccontextmanager
async def rig(
    database_url: str,
    folder: Path,
    *,
    start: datetime = START,
    settings: Settings | None = None,
    agents: Sequence[FakeAgent | Agent] = (),
) -> AsyncIterator[Rig]:
    it = Rig(database_url, folder, start, settings=settings, agents=list(agents) or None)
    it.owner = await it.db.write(make_user)
    it.project_id = await it.db.write(make_project, it.owner)
    try:
        yield it
    finally:
        await it.db.aclose()
