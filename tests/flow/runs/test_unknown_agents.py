"""Runs of an agent that a server does not know: they are left for one that does."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio

from outlast.db.connect import open_database
from outlast.db.database import Database
from outlast.kernel.agents.registry import Agents
from outlast.kernel.runs import timers
from outlast.kernel.runs.actions import cancel_run, start_run
from outlast.kernel.runs.engine import Engine
from outlast.kernel.runs.store import run_of
from outlast.kernel.runs.sweeper import Sweeper
from outlast.kernel.runs.tables import runs
from outlast.kernel.runs.worker import Worker
from outlast.kernel.services import Services
from outlast.kernel.streams.fold import RunFold, fold_lines
from outlast.kernel.streams.log_store import read_all
from outlast.kernel.threads.user_input import Draft
from outlast.testing.agents import FakeAgent
from outlast.testing.catalog import ScriptedCatalog
from outlast.testing.clock import ManualClock
from outlast.testing.scripted_model import ScriptedModel, turn
from tests.factories import make_project, make_services, make_thread, make_user
from tests.flow.harness import Stage, stage

DAY_S = 86_400.0
HALF_AN_HOUR_S = 1_800.0


def without(engine: Engine, *others: str) -> Engine:
    """The engine of another server, which knows only these agents."""
    agents = Agents({"tests": [FakeAgent(name=name).agent for name in others]})
    return replace(engine, agents=agents, node_id="nod_other")


async def threads_of(it: Stage, db: Database, agent: str, count: int) -> list[str]:
    return [await db.write(make_thread, it.project_id, it.owner, profile=agent) for _ in range(count)]


async def test_a_server_leaves_runs_of_agents_that_it_does_not_know_to_one_that_does(
    db: Database, tmp_path: Path
) -> None:
    """A run whose agent was not registered was ended by whichever server claimed it first."""
    model = ScriptedModel([turn("Here.")] * 40)
    async with stage(db, tmp_path, model, working=False) as it, anyio.create_task_group() as group:
        unknown = [(await it.start(target=id_)).run_id for id_ in await threads_of(it, db, "chat", 20)]
        known = [(await it.start(target=id_)).run_id for id_ in await threads_of(it, db, "other", 20)]
        group.start_soon(Worker(without(it.services.engine, "other")).run)
        for run_id in known:  # younger than the others, so the worker has passed those by
            assert await it.ended(run_id) == "completed"
        rows = [await db.read(run_of, run_id) for run_id in unknown]
        assert {(row.status, row.leg, row.attempt) for row in rows} == {("queued", "ready", 0)}
        group.start_soon(Worker(it.services.engine).run)
        assert [await it.ended(run_id) for run_id in unknown] == ["completed"] * 20
        group.cancel_scope.cancel()


async def test_a_run_that_was_cut_off_is_taken_up_by_a_server_that_knows_its_agent(
    db: Database, tmp_path: Path
) -> None:
    async with stage(db, tmp_path, [turn("Here.")] * 2, working=False) as it, anyio.create_task_group() as group:
        started = await it.start()
        await db.write(lambda tx: tx.update(runs, {"id": started.run_id}, attempt=1, deaths=2))
        (other,) = await threads_of(it, db, "other", 1)
        group.start_soon(Worker(without(it.services.engine, "other")).run)
        assert await it.ended((await it.start(target=other)).run_id) == "completed"
        assert (await db.read(run_of, started.run_id)).leg == "ready"
        group.start_soon(Worker(it.services.engine).run)
        assert await it.ended(started.run_id) == "completed"
        group.cancel_scope.cancel()


class Waiting:
    """A run of the agent `chat` on a server that knows only `other`, and a clock."""

    def __init__(self, services: Services, clock: ManualClock, run_id: str, owner: Any) -> None:
        self.services, self.clock, self.run_id, self.owner = services, clock, run_id, owner
        self.other = without(services.engine, "other")

    async def later(self, seconds: float) -> None:
        """So much later, the sweepers of both servers have done their work, twice."""
        self.clock.advance(seconds)
        for engine in (self.other, self.services.engine) * 2:
            await Sweeper(engine, None).sweep()

    async def shown(self) -> RunFold:
        return fold_lines(await self.services.db.read(read_all, self.run_id))

    async def notices(self) -> list[str]:
        return [part["text"] for part in (await self.shown()).parts if part.get("code") == "agent_unknown"]


@asynccontextmanager
async def waiting(database_url: str, folder: Path) -> AsyncIterator[Waiting]:
    clock = ManualClock()
    db = open_database(database_url, folder, clock)
    catalog = ScriptedCatalog(ScriptedModel([turn("Here.")]))
    services = make_services(db, folder, clock=clock, catalog=catalog)
    owner = await db.write(make_user)
    thread_id = await db.write(make_thread, await db.write(make_project, owner), owner)
    started = await start_run(services, owner, thread_id, Draft("Hello"))
    try:
        yield Waiting(services, clock, started.run_id, owner)
    finally:
        await db.aclose()


async def test_after_a_day_the_person_is_told_once_and_the_run_waits_on(database_url: str, tmp_path: Path) -> None:
    async with waiting(database_url, tmp_path) as it:
        await it.later(DAY_S - 60)
        assert await it.notices() == []
        await it.later(60)
        (text,) = await it.notices()
        assert "'chat'" in text
        for _ in range(3):
            await it.later(DAY_S)
        assert len(await it.notices()) == 1
        run = await it.services.db.read(run_of, it.run_id)
        assert (run.status, run.leg) == ("queued", "ready")


async def test_a_run_that_was_told_to_wait_is_answered_by_a_server_that_comes_later(
    database_url: str, tmp_path: Path
) -> None:
    async with waiting(database_url, tmp_path) as it:
        await it.later(DAY_S)
        async with anyio.create_task_group() as group:
            group.start_soon(Worker(it.services.engine).run)
            with anyio.fail_after(20):
                while (await it.shown()).status != "completed":
                    await anyio.lowlevel.checkpoint()
            group.cancel_scope.cancel()
        assert [part["type"] for part in (await it.shown()).parts] == ["notice", "text"]
        assert await it.services.db.read(timers.timers_of, it.run_id) != []
        kinds = {timer.kind for timer in await it.services.db.read(timers.timers_of, it.run_id)}
        assert "agent_unknown" not in kinds


async def test_a_run_that_waits_for_its_agent_is_not_given_up_because_nobody_follows_it(
    database_url: str, tmp_path: Path
) -> None:
    async with waiting(database_url, tmp_path) as it:
        for _ in range(3):
            it.clock.advance(HALF_AN_HOUR_S + 1)
            await Sweeper(it.other, None).sweep()
        assert (await it.services.db.read(run_of, it.run_id)).status == "queued"


async def test_a_run_that_waits_for_its_agent_can_be_cancelled(database_url: str, tmp_path: Path) -> None:
    async with waiting(database_url, tmp_path) as it:
        await it.later(DAY_S)
        await cancel_run(replace(it.services, engine=it.other), it.owner, it.run_id)
        assert (await it.services.db.read(run_of, it.run_id)).status == "cancelled"
        await it.later(DAY_S)
        assert len(await it.notices()) == 1
