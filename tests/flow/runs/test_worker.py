"""The worker: how many runs at once, leases, the fence, and stopping."""

import threading
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from outlast.base.errors import StorageUnavailable
from outlast.db.database import Database
from outlast.kernel.agents.context import Context
from outlast.kernel.agents.tool import ToolResult
from outlast.kernel.runs import claims, leases, store
from outlast.kernel.runs.actions import read_run, retry_run
from outlast.kernel.runs.settings import RunSettings
from outlast.kernel.runs.sweeper import Sweeper, look
from outlast.kernel.runs.worker import Worker
from outlast.kernel.settings import Settings
from outlast.testing.agents import FakeTool
from outlast.testing.scripted_model import Call, ScriptedModel, WaitFor, turn
from tests.factories import make_thread
from tests.faults import Faults
from tests.flow.harness import stage


async def test_a_full_worker_lets_the_others_wait_and_the_server_breathe(db: Database, tmp_path: Path) -> None:
    # With as many runs as allowed, the worker asked for more without ever pausing: the whole server stood still.
    # Found with max_concurrent = 1 and a second run; it now waits until a run ends.
    gate = anyio.Event()
    model = ScriptedModel([turn("First.", WaitFor(gate)), turn("Second.")])
    settings = Settings(runs=RunSettings(max_concurrent=1))
    async with stage(db, tmp_path, model, settings=settings) as it:
        first = await it.start()
        await it.until(first.run_id, "text.delta")
        other = await db.write(make_thread, it.project_id, it.owner)
        second = await it.start(target=other)
        await anyio.wait_all_tasks_blocked()
        assert len(model.requests) == 1
        gate.set()
        assert await it.ended(first.run_id) == "completed"
        assert await it.ended(second.run_id) == "completed"


async def test_a_run_that_its_own_worker_claims_again_goes_on_once_and_its_numbers_upwards(
    db: Database, tmp_path: Path
) -> None:
    # A process that slept through its lease and took its own run up again kept two legs: the old one went on showing
    # its lower numbers, and took the new one's entry with it, whose lease then lapsed again and again.
    gate = anyio.Event()
    model = ScriptedModel([turn("Half ", WaitFor(gate), "an answer."), turn("A whole answer.")])
    async with stage(db, tmp_path, model) as it:
        first = await it.start()
        seen: list[int] = []

        async def follow() -> None:
            seen.extend([event["sequenceNumber"] for event in await it.events(first.run_id)])

        async with anyio.create_task_group() as group:
            group.start_soon(follow)
            await it.until(first.run_id, "text.delta")
            await db.write(leases.free_lapsed, everything=True)
            it.services.hub.ring(store.BELL)
            assert await it.ended(first.run_id) == "completed"
        run = await db.read(store.run_of, first.run_id)
        assert (run.attempt, run.deaths) == (2, 0)
        assert seen == sorted(set(seen))
        (answer,) = [message for message in await it.messages() if message.role == "assistant"]
        assert [part.model_dump()["text"] for part in answer.parts] == ["A whole answer."]


async def test_a_run_under_which_three_processes_died_ends_with_what_it_has_and_may_go_on(
    db: Database, tmp_path: Path
) -> None:
    async with stage(db, tmp_path, ScriptedModel([turn("Again.")]), working=False) as it:
        first = await it.start()
        for _ in range(3):
            await db.write(claims.claim_ready, "node_dead", timedelta(seconds=15), 1)
            await db.write(leases.free_lapsed, everything=True)
        async with anyio.create_task_group() as group:
            worker = Worker(it.services.engine)
            group.start_soon(worker.run)
            assert await it.ended(first.run_id) == "error"
            summary = await read_run(it.services, it.owner, first.run_id)
            assert summary.error is not None
            assert summary.error.code == "run_crashes_server"
            again = await retry_run(it.services, it.owner, first.run_id)
            assert await it.ended(again.run_id) == "completed"
            group.cancel_scope.cancel()


async def test_a_claim_that_fails_cuts_no_run_that_is_at_work(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker ended with its claim, and every run that it was at work on: each waited until its lease lapsed, and
    counted as one under which the process had died."""
    gate = anyio.Event()
    model = ScriptedModel([turn("Half ", WaitFor(gate), "an answer."), turn("Another.")])
    claim, failed = claims.claim_ready, threading.Event()

    def failing(*args: Any) -> Any:
        if model.requests and not failed.is_set():
            failed.set()
            raise RecursionError("maximum recursion depth exceeded")
        return claim(*args)

    async with stage(db, tmp_path, model) as it:
        first = await it.start()
        await it.until(first.run_id, "text.delta")
        monkeypatch.setattr(claims, "claim_ready", failing)
        # Otherwise the start itself would claim the run.
        monkeypatch.setattr(it.services.engine.intake, "take_place", lambda: False)
        second = await it.start(target=await db.write(make_thread, it.project_id, it.owner))
        assert await anyio.to_thread.run_sync(failed.wait, 30)
        gate.set()
        assert await it.ended(first.run_id) == "completed"
        assert await it.ended(second.run_id) == "completed"
        run = await db.read(store.run_of, first.run_id)
        assert (run.attempt, run.deaths) == (1, 0)
        assert len(model.requests) == 2


async def test_a_claim_whose_answer_is_lost_is_given_back_and_counts_as_nobodys_death(
    db: Database, tmp_path: Path, claimed: list[str]
) -> None:
    """The run waited until its lease had lapsed, and counted as one under which the process had died."""
    faults = Faults()
    wrapped = faults.wrap("database", db)
    async with stage(db, tmp_path, [turn("Done.")], working=False) as it:
        started = await it.start()
        engine = replace(it.services.engine, db=wrapped)
        faults.arm("database", 1, lambda: StorageUnavailable("Away.", retry_after_s=0.01), after=True)
        async with anyio.create_task_group() as group:
            group.start_soon(Worker(engine).run)
            assert await it.ended(started.run_id) == "completed"
            group.cancel_scope.cancel()
        run = await db.read(store.run_of, started.run_id)
        assert claimed == [started.run_id] * 2
        assert (faults.fired, run.attempt, run.deaths) == ("database.write", 2, 0)


class Untidy(FakeTool):
    """A tool whose cleaning up fails."""

    async def run(self, context: Context, arguments: Mapping[str, Any]) -> ToolResult:
        context.on_recorded(self._fail)
        return ToolResult("done")

    async def _fail(self) -> None:
        raise RecursionError("maximum recursion depth exceeded")


async def test_a_call_whose_cleaning_up_fails_ends_no_run(db: Database, tmp_path: Path) -> None:
    """Its result was recorded, and the run ended with an internal error."""
    turns = [turn("I use it.", Call("untidy")), turn("Done.")]
    async with stage(db, tmp_path, turns, Untidy("untidy")) as it:
        started = await it.start()
        assert await it.ended(started.run_id) == "completed"


async def test_a_lease_that_lapses_is_noticed_by_a_server_that_had_nothing_to_do(db: Database, tmp_path: Path) -> None:
    """On SQLite a run whose worker had failed waited for up to a minute."""
    settings = Settings(runs=RunSettings(lease_s=0.3, heartbeat_s=0.1))
    async with stage(db, tmp_path, [], settings=settings, working=False) as it, anyio.create_task_group() as group:
        engine = it.services.engine
        sweeper = Sweeper(engine, None)
        assert sweeper._until_next(await db.read(look, frozenset())) == (60, db.dialect == "sqlite")
        group.start_soon(sweeper.run)
        started = await it.start()
        await db.write(claims.claim_ready, "gone", timedelta(seconds=0.3), 1, None)
        with engine.hub.listen(store.BELL) as bell:
            while True:
                version = bell.version
                if (await db.read(store.run_of, started.run_id)).leg == "ready":
                    break
                await bell.wait(version)
        group.cancel_scope.cancel()
