"""A message to a run that works: read in its next turn, once, and standing at its place ever after."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import pytest

from outlast.base.errors import (
    EmptyMessage,
    Forbidden,
    IdempotencyMismatch,
    NotFound,
    RateLimited,
    RunFinished,
    ThreadLocked,
)
from outlast.db.database import Database
from outlast.kernel.agents.agent import Agent
from outlast.kernel.agents.context import Context
from outlast.kernel.models.protocol import ModelRequest, TextPiece
from outlast.kernel.runs.actions import NewThread, cancel_run, continue_run, read_run
from outlast.kernel.runs.approval_actions import decide_approval
from outlast.kernel.runs.settings import PolicyRule, RunSettings
from outlast.kernel.runs.steer import MAX_UNREAD
from outlast.kernel.runs.steer_actions import steer_run
from outlast.kernel.settings import Settings
from outlast.kernel.streams.actions import follow_thread
from outlast.kernel.threads.actions import fork_thread, rename_thread
from outlast.kernel.threads.shapes import MessageData
from outlast.kernel.threads.user_input import Draft
from outlast.testing.agents import FakeTool
from outlast.testing.scripted_model import HANG, Call, ScriptedModel, WaitFor, turn
from tests.factories import join, make_user
from tests.flow.harness import Stage, frames
from tests.flow.harness import stage as bare_stage
from tests.thread_fold import ThreadFold, apply_to_thread

ASKING = Settings(policy=(PolicyRule(tool="look", decision="ask"),))


def stage(db: Database, folder: Path, turns: Any, *tools: FakeTool, **options: Any) -> Any:
    """An agent whose model reads the whole conversation."""
    return bare_stage(db, folder, turns, agent=Agent("chat", instructions="Answer.", tools=tools), **options)


async def steer(it: Stage, run_id: str, text: str = "In French.", **options: Any) -> MessageData:
    actor = options.pop("actor", it.owner)
    return await steer_run(it.services, actor, run_id, Draft(text), **options)


def read(request: ModelRequest) -> list[tuple[str, str]]:
    """What a model reads: roles and texts."""
    return [
        (message.role, "".join(piece.text for piece in message.pieces if isinstance(piece, TextPiece)))
        for message in request.messages
    ]


async def test_the_model_reads_it_after_the_results_of_its_calls(db: Database, tmp_path: Path) -> None:
    begun, free = anyio.Event(), anyio.Event()

    async def body(_context: Context, _arguments: Mapping[str, Any]) -> str:
        begun.set()
        await free.wait()
        return "two files"

    turns = [turn("Let me look.", Call("look", {})), turn("Deux fichiers.")]
    async with stage(db, tmp_path, turns, FakeTool("look", body)) as it:
        started = await it.start("How many?")
        await begun.wait()
        sent = await steer(it, started.run_id)
        assert (sent.run_id, sent.sender_id, sent.role, sent.status) == (
            started.run_id, it.owner.user_id, "user", "complete",
        )  # fmt: skip
        free.set()
        assert await it.ended(started.run_id) == "completed"
        assert read(it.model.requests[1]) == [
            ("user", "How many?"), ("assistant", "Let me look."), ("tool", ""), ("user", "In French."),
        ]  # fmt: skip
        asked, message, answer = await it.messages()
        assert (asked.id, message.id, message.sender_name) == (started.message_id, sent.id, asked.sender_name)
        assert [(part.type, part.step) for part in answer.parts] == [
            ("text", 1), ("tool_call", 1), ("message", 1), ("text", 2),
        ]  # fmt: skip
        shown = answer.parts[2]
        assert (shown.message_id, shown.sender_id, shown.text) == (sent.id, it.owner.user_id, "In French.")


async def test_followers_see_it_where_the_model_reads_it(db: Database, tmp_path: Path) -> None:
    free = anyio.Event()
    async with stage(db, tmp_path, [turn("One.", WaitFor(free)), turn("Un.")]) as it:
        started = await it.start()
        await it.until(started.run_id, "text.delta")
        await steer(it, started.run_id)
        free.set()
        names = [
            event["event"]
            for event in await it.events(started.run_id)
            if event["event"].startswith(("step.", "part.created")) or event["event"] == "run.completed"
        ]
        assert names == [
            "step.started", "part.created", "step.completed",
            "part.created", "step.started", "part.created", "step.completed", "run.completed",
        ]  # fmt: skip


async def test_a_run_whose_last_turn_did_not_read_it_takes_another(db: Database, tmp_path: Path) -> None:
    free = anyio.Event()
    async with stage(db, tmp_path, [turn("One.", WaitFor(free)), turn("Un, deux.")]) as it:
        started = await it.start("Count")
        await it.until(started.run_id, "text.delta")
        await steer(it, started.run_id)
        await steer(it, started.run_id, "To two.")
        free.set()
        assert await it.ended(started.run_id) == "completed"
        assert read(it.model.requests[1])[1:] == [
            ("assistant", "One."), ("user", "In French."), ("user", "To two."),
        ]  # fmt: skip
        summary = await read_run(it.services, it.owner, started.run_id)
        assert (summary.stop_reason, summary.step_count) == ("end", 2)
        assert [step.kind for step in summary.steps] == ["start", "model", "model", "settle"]


async def test_a_run_that_waits_for_a_decision_reads_it_when_it_goes_on(db: Database, tmp_path: Path) -> None:
    turns = [turn("Let me look.", Call("look", {})), turn("Deux.")]
    async with stage(db, tmp_path, turns, FakeTool("look"), settings=ASKING) as it:
        started = await it.start()
        await it.until_status(started.run_id, "awaiting_approval")
        await steer(it, started.run_id)
        waiting = await read_run(it.services, it.owner, started.run_id)
        assert (waiting.status, len(waiting.pending), len(it.model.requests)) == ("awaiting_approval", 1, 1)
        await decide_approval(it.services, it.owner, waiting.pending[0].id, "approve")
        assert await it.ended(started.run_id) == "completed"
        assert [role for role, _ in read(it.model.requests[1])] == ["user", "assistant", "tool", "user"]


async def test_a_run_that_no_worker_has_taken_reads_it_in_its_first_turn(db: Database, tmp_path: Path) -> None:
    model = ScriptedModel([turn("One.", HANG), turn("Deux.")])
    async with stage(db, tmp_path, model) as it:
        first = await it.start("first")
        await it.until(first.run_id, "text.delta")
        second = await it.start("second", on_busy="enqueue")
        await steer(it, second.run_id)
        await cancel_run(it.services, it.owner, first.run_id)
        assert await it.ended(second.run_id) == "completed"
        assert read(model.requests[1])[-2:] == [("user", "second"), ("user", "In French.")]
        assert [part.type for part in (await it.messages())[-1].parts] == ["message", "text"]


@pytest.mark.parametrize("how", ["completed", "cancelled"])
async def test_a_run_that_has_ended_takes_nothing(db: Database, tmp_path: Path, how: str) -> None:
    async with stage(db, tmp_path, [turn("One.", *([HANG] if how == "cancelled" else []))]) as it:
        started = await it.start()
        if how == "cancelled":
            await it.until(started.run_id, "text.delta")
            await cancel_run(it.services, it.owner, started.run_id)
        await it.ended(started.run_id)
        with pytest.raises(RunFinished):
            await steer(it, started.run_id)
        assert len(await it.messages()) == 2


async def test_however_it_meets_the_end_it_is_read_or_refused(db: Database, tmp_path: Path) -> None:
    model = ScriptedModel([turn("Said.")], repeat_last=True)
    async with stage(db, tmp_path, model) as it:
        for number in range(8):
            taken: list[str] = []

            async def send(run_id: str, text: str, taken: list[str] = taken) -> None:
                with suppress(RunFinished):
                    taken.append((await steer(it, run_id, text)).id)

            started = await it.start(f"Job {number}")
            async with anyio.create_task_group() as group:
                for one in range(3):
                    group.start_soon(send, started.run_id, f"Note {number}-{one}")
            assert await it.ended(started.run_id) == "completed"
            messages = await it.messages()
            parts = messages[-1].parts
            assert sorted(part.message_id for part in parts if part.type == "message") == sorted(taken)
            assert {one.id for one in messages if one.run_id == started.run_id and one.role == "user"} == set(taken)
            last = [text for _, text in read(model.requests[-1])]
            assert sorted(text for text in last if text.startswith(f"Note {number}-")) == sorted(
                part.text for part in parts if part.type == "message"
            )


async def test_the_same_key_sends_it_once(db: Database, tmp_path: Path) -> None:
    free = anyio.Event()
    async with stage(db, tmp_path, [turn("One.", WaitFor(free)), turn("Un.")]) as it:
        started = await it.start()
        await it.until(started.run_id, "text.delta")
        first = await steer(it, started.run_id, key="k")
        assert await steer(it, started.run_id, key="k") == first
        with pytest.raises(IdempotencyMismatch):
            await steer(it, started.run_id, "Another", key="k")
        free.set()
        assert await it.ended(started.run_id) == "completed"
        assert await steer(it, started.run_id, key="k") == first  # its answer was lost
        assert [text for _, text in read(it.model.requests[1])].count("In French.") == 1


async def test_it_needs_what_a_message_in_the_thread_needs(db: Database, tmp_path: Path) -> None:
    async with stage(db, tmp_path, [turn("One.", HANG)]) as it:
        started = await it.start()
        await it.until(started.run_id, "text.delta")
        viewer, editor = await db.write(make_user, "Vera"), await db.write(make_user, "Edith")
        await db.write(join, it.project_id, viewer, "viewer")
        await db.write(join, it.project_id, editor, "editor")
        with pytest.raises(NotFound):
            await steer(it, started.run_id, actor=await db.write(make_user, "Stranger"))
        with pytest.raises(Forbidden):
            await steer(it, started.run_id, actor=viewer)
        with pytest.raises(ThreadLocked):
            await steer(it, started.run_id, actor=editor)
        with pytest.raises(EmptyMessage):
            await steer(it, started.run_id, " ")
        assert len(await it.messages()) == 1


async def test_a_run_holds_so_many_unread_messages_and_no_more(db: Database, tmp_path: Path) -> None:
    free = anyio.Event()
    async with stage(db, tmp_path, [turn("One.", WaitFor(free)), turn("Un.", HANG)]) as it:
        started = await it.start()
        await it.until(started.run_id, "text.delta")
        for number in range(MAX_UNREAD):
            await steer(it, started.run_id, f"Note {number}")
        with pytest.raises(RateLimited):
            await steer(it, started.run_id)
        free.set()
        await it.model.wait_requests(2)
        await steer(it, started.run_id, "There is room again.")


async def test_at_the_limit_of_turns_it_stays_behind_the_answer_and_the_next_run_reads_it(
    db: Database, tmp_path: Path
) -> None:
    free, settings = anyio.Event(), Settings(runs=RunSettings(max_steps=1))
    async with stage(db, tmp_path, [turn("One.", WaitFor(free)), turn("Un.")], settings=settings) as it:
        started = await it.start("Count")
        await it.until(started.run_id, "text.delta")
        sent = await steer(it, started.run_id)
        free.set()
        assert await it.ended(started.run_id) == "completed"
        assert (await read_run(it.services, it.owner, started.run_id)).stop_reason == "steps"
        assert [(message.id == sent.id, message.status) for message in await it.messages()] == [
            (False, "complete"), (False, "complete"), (True, "cancelled"),
        ]  # fmt: skip
        assert await it.ended((await it.start("Again")).run_id) == "completed"


async def test_a_later_run_reads_the_answer_cut_at_the_message(db: Database, tmp_path: Path) -> None:
    free = anyio.Event()
    turns = [turn("One.", WaitFor(free), Call("look", {})), turn("Un."), turn("Bye."), turn("Copied.")]
    async with stage(db, tmp_path, turns, FakeTool("look")) as it:
        started = await it.start("Count")
        await it.until(started.run_id, "text.delta")
        await steer(it, started.run_id)
        free.set()
        assert await it.ended(started.run_id) == "completed"
        assert await it.ended((await it.start("And now?")).run_id) == "completed"
        expected = [
            ("user", "Count"), ("assistant", "One."), ("tool", ""), ("user", "In French."), ("assistant", "Un."),
            ("user", "And now?"),
        ]  # fmt: skip
        assert read(it.model.requests[2]) == expected
        fork = await fork_thread(it.services, it.owner, it.thread_id)
        assert await it.ended((await it.start("In a fork", target=fork.id)).run_id) == "completed"
        assert read(it.model.requests[3])[:6] == expected


async def test_a_run_that_continues_a_cancelled_one_reads_what_that_one_did_not(db: Database, tmp_path: Path) -> None:
    turns = [turn("One.", Call("look", {})), turn("Two.", HANG), turn("Un."), turn("Bye.")]
    async with stage(db, tmp_path, turns, FakeTool("look")) as it:
        started = await it.start("Count")
        await it.model.wait_requests(2)
        await it.until(started.run_id, "step.completed")
        sent = await steer(it, started.run_id)
        await cancel_run(it.services, it.owner, started.run_id)
        assert await it.ended(started.run_id) == "cancelled"
        assert (await it.messages())[-1].status == "cancelled"
        again = await continue_run(it.services, it.owner, started.run_id)
        assert await it.ended(again.run_id) == "completed"
        assert read(it.model.requests[2]) == [
            ("user", "Count"), ("assistant", "One."), ("tool", ""), ("user", "In French."),
        ]  # fmt: skip
        assert {message.id: message.status for message in await it.messages()}[sent.id] == "complete"
        assert await it.ended((await it.start("And now?")).run_id) == "completed"
        assert [text for _, text in read(it.model.requests[3])].count("In French.") == 1


async def test_the_stream_of_the_thread_folds_to_what_is_stored(db: Database, tmp_path: Path) -> None:
    free, settings = anyio.Event(), Settings(runs=RunSettings(max_steps=2))
    async with stage(db, tmp_path, [turn("One.", WaitFor(free)), turn("Un.", HANG)], settings=settings) as it:
        started = await it.start("Count")
        await it.until(started.run_id, "text.delta")
        await steer(it, started.run_id)
        free.set()
        await it.model.wait_requests(2)
        await steer(it, started.run_id, "Unread.")
        await cancel_run(it.services, it.owner, started.run_id)
        assert await it.ended(started.run_id) == "cancelled"
        await rename_thread(it.services, it.owner, it.thread_id, "The end")
        folded = ThreadFold()
        async for _, event in frames(await follow_thread(it.services, it.owner, it.thread_id, "0")):
            apply_to_thread(folded, event)
            if folded.thread is not None and folded.thread["title"] == "The end":
                break
        stored = [message.model_dump(mode="json") for message in await it.messages()]
        assert folded.messages == stored
        assert [message["status"] for message in stored] == ["complete", "complete", "cancelled", "cancelled"]


async def test_a_queued_message_is_sent_now_and_leaves_the_queue(db: Database, tmp_path: Path) -> None:
    free = anyio.Event()
    model = ScriptedModel([turn("One.", WaitFor(free)), turn("Two."), turn("Three.")])
    async with stage(db, tmp_path, model) as it:
        first = await it.start("first")
        await it.until(first.run_id, "text.delta")
        second = await it.start("second", on_busy="enqueue")
        third = await it.start("third", on_busy="enqueue")
        sent = await steer_run(it.services, it.owner, first.run_id, second.run_id, key="k")
        assert (sent.id, sent.run_id, sent.status) == (second.message_id, first.run_id, "complete")
        assert await steer_run(it.services, it.owner, first.run_id, second.run_id, key="k") == sent
        assert await it.ended(second.run_id) == "cancelled"
        free.set()
        assert await it.ended(first.run_id) == "completed"
        assert await it.ended(third.run_id) == "completed"
        assert read(model.requests[1])[1:] == [("assistant", "One."), ("user", "second")]
        assert read(model.requests[2]) == [
            ("user", "first"), ("assistant", "One."), ("user", "second"), ("assistant", "Two."), ("user", "third"),
        ]  # fmt: skip


async def test_only_a_message_that_waits_in_the_same_queue_is_sent_now(db: Database, tmp_path: Path) -> None:
    async with stage(db, tmp_path, [turn("One.", HANG), turn("Two.", HANG)]) as it:
        first = await it.start("first")
        await it.until(first.run_id, "text.delta")
        elsewhere = await it.start("elsewhere", target=NewThread())
        queued = await it.start("queued", on_busy="enqueue")
        with pytest.raises(NotFound):
            await steer_run(it.services, it.owner, first.run_id, elsewhere.run_id)
        with pytest.raises(RunFinished):  # it does not wait behind itself
            await steer_run(it.services, it.owner, first.run_id, first.run_id)
        await cancel_run(it.services, it.owner, queued.run_id)
        with pytest.raises(RunFinished):
            await steer_run(it.services, it.owner, first.run_id, queued.run_id)
        assert [part.text for message in await it.messages() for part in message.parts] == ["first", "queued"]
