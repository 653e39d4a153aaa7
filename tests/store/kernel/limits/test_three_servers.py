"""Rates are counted for all servers of a deployment together, also when they are asked at the same moment."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
import sqlalchemy as sa

from outlast.base.clock import SystemClock
from outlast.base.errors import RateLimited
from outlast.db.connect import open_database
from outlast.kernel.runs.actions import start_run
from outlast.kernel.runs.tables import runs
from outlast.kernel.threads.actions import create_thread
from outlast.kernel.threads.user_input import Draft
from outlast.testing.agents import FakeAgent
from outlast.testing.catalog import ScriptedCatalog
from outlast.testing.scripted_model import ScriptedModel
from tests.factories import Team, make_services

SERVERS = 3
TRIES = 40  # of each

pytestmark = pytest.mark.postgres


async def test_sixty_runs_a_minute_are_sixty_over_three_servers(reused_postgres_url: str, tmp_path: Path) -> None:
    databases = [open_database(reused_postgres_url, tmp_path / str(n), SystemClock()) for n in range(SERVERS)]
    try:
        servers = [
            make_services(db, tmp_path / str(n), catalog=ScriptedCatalog(ScriptedModel([])), agents=[FakeAgent()])
            for n, db in enumerate(databases)
        ]
        assert servers[0].settings.limits.runs_per_minute_per_user == 60
        team = await databases[0].write(Team)
        refused = 0

        async def ask(number: int) -> None:
            nonlocal refused
            services = servers[number % SERVERS]
            try:
                thread = await create_thread(services, team.owner, team.project_id)
                await start_run(services, team.owner, thread.id, Draft("Hello"))
            except RateLimited:
                refused += 1

        async with anyio.create_task_group() as tasks:
            for number in range(SERVERS * TRIES):
                tasks.start_soon(ask, number)
        started = await databases[0].read(lambda tx: tx.execute(sa.select(sa.func.count()).select_from(runs)).scalar())
        assert (started, refused) == (60, SERVERS * TRIES - 60)
    finally:
        for db in databases:
            await db.aclose()
