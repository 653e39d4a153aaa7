"""Seed 003, operators and clean-up: a run as a file, and how long its raw records stay."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import orjson
import pytest
import sqlalchemy as sa

from outlast.base.errors import ModelRejected, RunCleanedUp
from outlast.db.database import Database, Tx
from outlast.kernel.runs.actions import continue_run, export_run, list_runs, read_run
from outlast.kernel.runs.sweeper import Sweeper
from outlast.kernel.runs.tables import timers
from outlast.testing.agents import FakeTool
from outlast.testing.scripted_model import Call, Fail, turn
from tests.flow.harness import Stage, stage


async def test_a_run_is_exported_as_one_json_file_with_calls_and_events(db: Database, tmp_path: Path) -> None:
    """Sandbox effects carry SQLAlchemy's own key type: it must not reach the JSON encoder."""
    async with stage(db, tmp_path, [turn(Call("look", {"a": 1})), turn("Done.")], FakeTool("look")) as it:
        started = await it.start()
        await it.ended(started.run_id)
        content = orjson.loads(orjson.dumps(await export_run(it.services, it.owner, started.run_id)))
    assert content["run"]["id"] == started.run_id
    assert [effect["kind"] for effect in content["effects"]] == ["model", "tool", "model"]
    assert content["events"][-1]["event"] == "stream.ended"


async def test_operators_see_named_steps_and_find_the_run_by_words(db: Database, tmp_path: Path) -> None:
    async with stage(db, tmp_path, [turn(Call("look", {})), turn("Done.")], FakeTool("look")) as it:
        started = await it.start("Count the herons")
        await it.ended(started.run_id)
        details = await read_run(it.services, it.owner, started.run_id)
        found = await list_runs(it.services, it.owner, query="herons")
    names = [step.name for step in details.steps]
    assert names == ["start", "model turn 1", "look", "model turn 2", "settle"]
    assert [item.id for item in found.items] == [started.run_id]


@pytest.mark.parametrize(("ending", "days"), [("completed", 7), ("error", 30)])
async def test_raw_records_go_after_7_days_or_30_after_an_error_and_messages_stay(
    db: Database, tmp_path: Path, ending: str, days: int
) -> None:
    turns = [turn("All is well.") if ending == "completed" else turn("Half", Fail(ModelRejected("no")))]
    async with stage(db, tmp_path, turns) as it:
        started = await it.start()
        assert await it.ended(started.run_id) == ending
        before = await it.messages()
        ended_at, due_at = await db.read(_clean_up_of, started.run_id)
        assert due_at - ended_at == timedelta(days=days)
        await _make_due(it, started.run_id)
        assert await it.messages() == before
        with pytest.raises(RunCleanedUp):
            await export_run(it.services, it.owner, started.run_id)
        with pytest.raises(RunCleanedUp):
            await continue_run(it.services, it.owner, started.run_id)
        assert [event["event"] for event in await it.events(started.run_id)][-1] == "stream.ended"


def _clean_up_of(tx: Tx, run_id: str) -> tuple:
    from outlast.kernel.runs.tables import runs

    ended_at = tx.execute(sa.select(runs.c.ended_at).where(runs.c.id == run_id)).scalar()
    due_at = tx.execute(
        sa.select(timers.c.due_at).where(timers.c.subject_id == run_id, timers.c.kind == "clean_up")
    ).scalar()
    return ended_at, due_at


async def _make_due(it: Stage, run_id: str) -> None:
    """The clean-up is due now, and the sweeper looks."""

    def change(tx: Tx) -> None:
        due = sa.update(timers).where(timers.c.subject_id == run_id).values(due_at=tx.now)
        tx.execute(due)

    await it.services.db.write(change)
    await Sweeper(it.services.engine, None).sweep()
