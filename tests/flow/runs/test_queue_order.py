"""A conversation reads in the order in which it was answered: as it is stored, and as it is folded from the stream."""

from __future__ import annotations

from pathlib import Path

import pytest

from outlast.db.database import Database
from outlast.kernel.runs.actions import cancel_run, retry_run
from outlast.kernel.streams.actions import follow_thread
from outlast.kernel.threads.actions import fork_thread, rename_thread
from outlast.testing.scripted_model import HANG, ScriptedModel, turn
from tests.flow.harness import Stage, frames, stage
from tests.thread_fold import ThreadFold, apply_to_thread


async def said(it: Stage) -> list[str]:
    """What was said, by the beginning of its text."""
    return [message.parts[0].text if message.parts else "" for message in await it.messages()]


async def test_a_queued_message_stands_before_its_own_answer(db: Database, tmp_path: Path) -> None:
    # It stood above the answer that was being made when it was sent, and stayed there for ever.
    model = ScriptedModel([turn("One.", HANG), turn("Two.")])
    async with stage(db, tmp_path, model) as it:
        first = await it.start("first")
        await it.until(first.run_id, "text.delta")
        second = await it.start("second", on_busy="enqueue")
        await cancel_run(it.services, it.owner, first.run_id)
        assert await it.ended(second.run_id) == "completed"
        assert await said(it) == ["first", "One.", "second", "Two."]
        positions = [message.position for message in await it.messages()]
        assert positions == sorted(set(positions))


async def test_who_interrupts_goes_next_and_takes_nothing_out_of_the_queue(db: Database, tmp_path: Path) -> None:
    # An interruption cancelled what others had queued as well, without a word.
    model = ScriptedModel([turn("One.", HANG), turn("Now."), turn("Two."), turn("Three.")])
    async with stage(db, tmp_path, model) as it:
        first = await it.start("first")
        await it.until(first.run_id, "text.delta")
        second = await it.start("second", on_busy="enqueue")
        third = await it.start("third", on_busy="enqueue")
        now = await it.start("now", on_busy="interrupt")
        assert await it.ended(first.run_id) == "cancelled"
        for run in (now, second, third):
            assert await it.ended(run.run_id) == "completed"
        assert await said(it) == ["first", "One.", "now", "Now.", "second", "Two.", "third", "Three."]


async def test_a_message_taken_out_of_the_queue_says_that_nothing_answered_it(db: Database, tmp_path: Path) -> None:
    # It stood there unanswered, without a mark, as soon as the page was loaded anew.
    model = ScriptedModel([turn("One.", HANG), turn("Two.")])
    async with stage(db, tmp_path, model) as it:
        first = await it.start("first")
        await it.until(first.run_id, "text.delta")
        second = await it.start("second", on_busy="enqueue")
        await cancel_run(it.services, it.owner, second.run_id)
        await cancel_run(it.services, it.owner, first.run_id)
        marks = {message.id: message.status for message in await it.messages() if message.role == "user"}
        assert marks == {first.message_id: "complete", second.message_id: "cancelled"}
        again = await retry_run(it.services, it.owner, second.run_id)
        assert await it.ended(again.run_id) == "completed"
        assert await said(it) == ["first", "One.", "second", "Two."]
        assert {message.status for message in await it.messages() if message.role == "user"} == {"complete"}


async def test_a_fork_counts_the_messages_that_it_has(db: Database, tmp_path: Path) -> None:
    model = ScriptedModel([turn("One.", HANG), turn("Two."), turn("More.")])
    async with stage(db, tmp_path, model) as it:
        first = await it.start("first")
        await it.until(first.run_id, "text.delta")
        second = await it.start("second", on_busy="enqueue")
        await cancel_run(it.services, it.owner, first.run_id)
        assert await it.ended(second.run_id) == "completed"
        fork = await fork_thread(it.services, it.owner, it.thread_id)
        assert fork.message_count == 4


@pytest.mark.parametrize("on_busy", ["enqueue", "interrupt"])
async def test_the_stream_folds_to_what_is_stored(db: Database, tmp_path: Path, on_busy: str) -> None:
    model = ScriptedModel([turn("One.", HANG), turn("Two."), turn("Three.")])
    async with stage(db, tmp_path, model) as it:
        first = await it.start("first")
        await it.until(first.run_id, "text.delta")
        second = await it.start("second", on_busy="enqueue")
        third = await it.start("third", on_busy=on_busy)
        if on_busy == "enqueue":
            await cancel_run(it.services, it.owner, first.run_id)
        for run in (third, second):
            assert await it.ended(run.run_id) == "completed"
        await rename_thread(it.services, it.owner, it.thread_id, "The end")
        folded = ThreadFold()
        async for _, event in frames(await follow_thread(it.services, it.owner, it.thread_id, "0")):
            apply_to_thread(folded, event)
            if folded.thread is not None and folded.thread["title"] == "The end":
                break
        stored = [message.model_dump(mode="json") for message in await it.messages()]
        assert folded.messages == stored
