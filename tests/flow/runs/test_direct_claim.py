"""Runs that are claimed in the transaction that makes them ready."""

from pathlib import Path

import anyio
import pytest
import sqlalchemy as sa

from outlast.base.errors import OutlastError
from outlast.db.database import Database, Tx
from outlast.kernel.runs import store
from outlast.kernel.runs.actions import NewThread, start_in
from outlast.kernel.runs.approval_actions import decide_approval
from outlast.kernel.runs.settings import PolicyRule, RunSettings
from outlast.kernel.runs.tables import effects, runs
from outlast.kernel.settings import Settings
from outlast.kernel.threads.user_input import Draft
from outlast.testing.agents import FakeTool
from outlast.testing.scripted_model import Call, ScriptedModel, WaitFor, turn
from tests.factories import make_thread
from tests.flow.harness import Stage, stage


async def _at_work(it: Stage) -> None:
    """Wait until the worker has claimed what there was, so that runs may come in."""
    while not it.services.engine.intake.take_place():
        await anyio.wait_all_tasks_blocked()
    it.services.engine.intake.free_place()


async def test_a_start_is_claimed_and_its_turn_named_before_it_is_answered(
    db: Database, tmp_path: Path, claimed: list[str]
) -> None:
    gate = anyio.Event()
    async with stage(db, tmp_path, [turn(WaitFor(gate), "Hello.")]) as it:
        await _at_work(it)
        started = await it.start()
        run = await db.read(store.run_of, started.run_id)
        assert (run.leg, run.status, run.attempt) == ("held", "running", 1)
        of_run = sa.select(effects.c.kind, effects.c.status).where(effects.c.run_id == started.run_id)
        assert await db.read(lambda tx: [tuple(row) for row in tx.execute(of_run)]) == [("model", "started")]
        gate.set()
        events = await it.events(started.run_id)
        assert [event["event"] for event in events[:3]] == ["run.queued", "run.started", "step.started"]
        numbers = [event["sequenceNumber"] for event in events]
        assert numbers == sorted(set(numbers))
        assert events[-2]["event"] == "run.completed"
    assert claimed == []


async def test_a_decision_claims_the_run_that_waited_for_it(db: Database, tmp_path: Path, claimed: list[str]) -> None:
    settings = Settings(policy=(PolicyRule(tool="look", decision="ask"),))
    turns = [turn("I ask.", Call("look")), turn("Done.")]
    async with stage(db, tmp_path, turns, FakeTool("look"), settings=settings) as it:
        await _at_work(it)
        started = await it.start()
        asked = await it.until(started.run_id, "approval.requested")
        await it.until_status(started.run_id, "awaiting_approval")
        await decide_approval(it.services, it.owner, asked["data"]["approval"]["id"], "approve")
        assert (await db.read(store.run_of, started.run_id)).leg != "ready"
        assert await it.ended(started.run_id) == "completed"
    assert claimed == []


async def test_a_start_that_is_undone_begins_nothing(db: Database, tmp_path: Path) -> None:
    model = ScriptedModel([])
    async with stage(db, tmp_path, model) as it:
        await _at_work(it)

        def fail(tx: Tx) -> None:
            start_in(tx, it.services, it.owner, NewThread(it.project_id), Draft("Hello"), None, "reject")
            tx.before_commit(_refuse)

        with pytest.raises(OutlastError):
            await db.write(fail)
        await anyio.wait_all_tasks_blocked()
        assert await db.read(lambda tx: tx.execute(sa.select(sa.func.count()).select_from(runs)).scalar()) == 0
    assert model.requests == []


def _refuse() -> None:
    raise OutlastError("Undone.")


async def test_one_that_finds_no_place_goes_before_those_that_come_later(db: Database, tmp_path: Path) -> None:
    gate = anyio.Event()
    model = ScriptedModel([turn(WaitFor(gate), "First."), turn("Second."), turn("Third.")])
    settings = Settings(runs=RunSettings(max_concurrent=1))
    async with stage(db, tmp_path, model, settings=settings) as it:
        await _at_work(it)
        started = [await it.start(str(number), target=await _thread(db, it)) for number in range(3)]
        gate.set()
        for one in started:
            assert await it.ended(one.run_id) == "completed"
        ends = [(await db.read(store.run_of, one.run_id)).started_at for one in started]
    assert ends == sorted(ends, key=lambda moment: moment or 0)


async def _thread(db: Database, it: Stage) -> str:
    return await db.write(make_thread, it.project_id, it.owner)
