"""A database that does not answer for a moment says nothing about the services that run meanwhile."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path

import anyio
import pytest

from outlast.base.clock import SystemClock
from outlast.base.errors import StorageUnavailable
from outlast.base.supervision.supervisor import Supervisor
from outlast.db.connect import open_database
from outlast.kernel.agents.tools.start_service import start_service_tool
from outlast.kernel.agents.workspaces import Workspaces
from outlast.kernel.sandboxes.manager import SandboxManager
from outlast.kernel.sandboxes.services.keeper import ServiceKeeper
from outlast.kernel.sandboxes.services.logs import ServiceLogs
from outlast.kernel.sandboxes.settings import SandboxSettings
from outlast.testing.scripted_model import Call, turn
from tests.faults import Faults
from tests.flow.chaos.house import HastyClock
from tests.flow.chaos.machines import ServingProvider
from tests.flow.harness import Stage, stage, told


@asynccontextmanager
async def at_work(sqlite_url: str, folder: Path, faults: Faults) -> AsyncIterator[Stage]:
    """A stage whose keeper of services has a database that can fail."""
    db = open_database(sqlite_url, folder, SystemClock())
    async with ServingProvider() as provider, anyio.create_task_group() as tasks:
        machines = SandboxManager(db, provider, SystemClock(), SandboxSettings(provider="memory"), folder)
        keeper = ServiceKeeper(
            faults.wrap("database", db),
            SystemClock(),
            ServiceLogs(folder / "services"),
            find=machines.find,
            supervisor=Supervisor(HastyClock()),
        )
        machines.attend(keeper)
        await tasks.start(keeper.run)
        async with stage(db, folder, [], start_service_tool(Workspaces(db, machines), keeper)) as it:
            yield it
        tasks.cancel_scope.cancel()
        await machines.aclose()
    await db.aclose()


@pytest.mark.parametrize("after", [False, True])
async def test_a_service_comes_up_whichever_call_of_the_database_fails_as_it_starts(
    sqlite_url: str, tmp_path: Path, after: bool
) -> None:
    """It was given up for good, with the database's words as its reason, and went on running."""
    faults = Faults()
    async with at_work(sqlite_url, tmp_path, faults) as it:
        for nth in count(1):
            web = {"name": f"web{nth}", "command": "serve", "port": 3000 + nth}
            it.model.add(turn(Call("start_service", web)), turn("It runs."))
            faults.arm("database", nth, lambda: StorageUnavailable("Away.", retry_after_s=0.1), after=after)
            started = await it.start("Serve the folder")
            assert await it.ended(started.run_id) == "completed"
            (up,) = told(it.model.requests[-1].messages[-1])
            assert "is up and answers" in up, (nth, faults.fired)
            if faults.fired is None:
                return
