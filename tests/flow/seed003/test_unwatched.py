"""Seed 003, the life cycle without a watcher: a run goes on, is saved as it goes, given up only when forgotten."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path

import anyio
import anyio.lowlevel
import sqlalchemy as sa

from outlast.base.errors import ModelOverloaded
from outlast.db.database import Database, Tx
from outlast.kernel.runs.actions import NewThread, read_run
from outlast.kernel.runs.rows import EffectRow
from outlast.kernel.runs.store import run_of
from outlast.kernel.runs.sweeper import Sweeper
from outlast.kernel.runs.tables import runs, timers
from outlast.kernel.streams.actions import follow_thread
from outlast.kernel.threads.store import thread_data
from outlast.testing.agents import FakeTool
from outlast.testing.scripted_model import HANG, Call, Fail, ScriptedModel, turn
from tests.flow.harness import Stage, frames, stage


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    """Waits for what only the database tells."""
    while not await holds():
        await anyio.lowlevel.checkpoint()


async def ended_alone(it: Stage, run_id: str) -> str:
    """Waits for the end without following: only the row is read."""

    async def ended() -> bool:
        return (await it.services.db.read(run_of, run_id)).leg == "ended"

    await until(ended)
    return (await it.services.db.read(run_of, run_id)).status


async def forget(it: Stage, run_id: str) -> None:
    """Half an hour passes for the run's clock, and the sweeper looks."""

    def change(tx: Tx) -> None:
        past = tx.now - timedelta(minutes=31)
        unwatched = runs.c.id == run_id, runs.c.unwatched_since.is_not(None)
        tx.execute(sa.update(runs).where(*unwatched).values(unwatched_since=past))
        tx.execute(
            sa.update(timers).where(timers.c.subject_id == run_id, timers.c.kind == "abandon").values(due_at=past)
        )

    await it.services.db.write(change)
    await Sweeper(it.services.engine, None).sweep()


async def test_a_run_that_nobody_follows_ends_in_a_saved_answer(db: Database, tmp_path: Path) -> None:
    async with stage(db, tmp_path, [turn(Call("look", {})), turn("Done.")], FakeTool("look")) as it:
        started = await it.start()
        assert await ended_alone(it, started.run_id) == "completed"
        answer = (await it.messages())[-1]
        assert (answer.status, answer.parts[-1].text) == ("complete", "Done.")


async def test_a_start_without_a_thread_makes_one_and_answers_at_once(db: Database, tmp_path: Path) -> None:
    async with stage(db, tmp_path, [turn("Hi.", HANG)]) as it:
        started = await it.start("Where do herons sleep?", target=NewThread())
        thread = await it.services.db.read(thread_data, started.thread_id)
        assert started.thread_id != it.thread_id
        assert (thread.title, thread.run_status) == ("Where do herons sleep?", "generating")
        assert thread.active_run_id == started.run_id


async def test_a_follower_who_leaves_in_the_middle_changes_nothing(db: Database, tmp_path: Path) -> None:
    async with stage(db, tmp_path, [turn("One two three. ", Call("look", {})), turn("Four.")], FakeTool("look")) as it:
        started = await it.start()
        first = await it.until(started.run_id, "text.delta")  # and the stream is closed
        assert await ended_alone(it, started.run_id) == "completed"
        rest = await it.events(started.run_id, first["sequenceNumber"])
        assert [event["sequenceNumber"] for event in rest] == sorted({event["sequenceNumber"] for event in rest})
        assert rest[0]["sequenceNumber"] > first["sequenceNumber"]
        assert rest[-1]["event"] == "stream.ended"


async def test_what_is_shown_is_soon_saved_also_while_the_model_hangs(db: Database, tmp_path: Path) -> None:
    async with stage(db, tmp_path, [turn("Half an answer", HANG)]) as it:
        started = await it.start()
        await it.until(started.run_id, "text.delta")

        async def saved() -> bool:
            """The polling fallback reads only what is saved."""
            details = await read_run(it.services, it.owner, started.run_id)
            return [getattr(part, "text", None) for part in details.parts] == ["Half an answer"]

        await until(saved)


async def test_a_tool_result_is_saved_before_the_model_is_asked_again(db: Database, tmp_path: Path) -> None:
    model = ScriptedModel([turn(Call("look", {})), turn(HANG)])
    async with stage(db, tmp_path, model, FakeTool("look")) as it:
        started = await it.start()

        async def asked_again() -> bool:
            return len(model.requests) == 2

        await until(asked_again)
        transcript = await it.services.db.read(_results, started.run_id)
        assert transcript == [("model", "finished"), ("tool", "finished"), ("model", "started")]


async def test_a_run_that_works_with_nobody_following_for_half_an_hour_is_cancelled(
    db: Database, tmp_path: Path
) -> None:
    async with stage(db, tmp_path, [turn("Endless", HANG)]) as it:
        started = await it.start()
        run_id = started.run_id

        async def held() -> bool:
            return (await it.services.db.read(run_of, run_id)).leg == "held"

        await until(held)
        await forget(it, run_id)
        assert await ended_alone(it, run_id) == "cancelled"
        assert await db.read(lambda tx: tx.value(runs.c.stop_reason, {"id": run_id})) == "abandoned"


async def test_a_run_that_somebody_follows_is_never_abandoned(db: Database, tmp_path: Path) -> None:
    async with stage(db, tmp_path, [turn("Endless", HANG)]) as it:
        started = await it.start()
        chunks = await follow_thread(it.services, it.owner, it.thread_id, "0")
        async for _, event in frames(chunks):
            if event["event"] == "text.delta":
                break

        async def watched() -> bool:
            return not await db.read(_unwatched, started.run_id)

        await until(watched)
        await forget(it, started.run_id)
        assert (await it.services.db.read(run_of, started.run_id)).status == "running"
        await chunks.aclose()  # type: ignore[attr-defined]


async def test_retries_used_up_save_what_was_written_with_an_error_to_act_on(db: Database, tmp_path: Path) -> None:
    busy = turn("Half an ans", Fail(ModelOverloaded("busy", retry_after_s=0.01)))
    async with stage(db, tmp_path, [busy, busy, busy]) as it:
        started = await it.start()
        assert await ended_alone(it, started.run_id) == "error"
        assert len(it.model.requests) == 3
        answer = (await it.messages())[-1]
        assert (answer.status, answer.parts[0].text) == ("error", "Half an ans")
        assert answer.error is not None
        assert answer.error.code == "model_overloaded"
        thread = await it.services.db.read(thread_data, it.thread_id)
        assert thread.run_status == "error"


def _results(tx: Tx, run_id: str) -> list[tuple[str, str]]:
    from outlast.kernel.runs.tables import effects

    rows = tx.rows(EffectRow, sa.select(effects).where(effects.c.run_id == run_id).order_by(effects.c.ordinal))
    return [(row.kind, row.status) for row in rows]


def _unwatched(tx: Tx, run_id: str) -> bool:
    return tx.value(runs.c.unwatched_since, {"id": run_id}) is not None
