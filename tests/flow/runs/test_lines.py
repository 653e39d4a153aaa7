"""Runs whose model writes lines: taken as they come, told when they stand, taken back when they are asked for again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio

from outlast.base.errors import ModelCut
from outlast.db.database import Database
from outlast.kernel.agents.context import StageContext
from outlast.kernel.agents.hooks import StageResult
from outlast.kernel.models.protocol import ModelMessage, TextPiece
from outlast.kernel.runs.actions import cancel_run, continue_run, read_run
from outlast.kernel.runs.line_stream import LINES_AT_ONCE, LONG_LINE_CHARS
from outlast.kernel.runs.settings import RetrySettings, RunSettings
from outlast.kernel.runs.sweeper import Sweeper
from outlast.kernel.runs.worker import Worker
from outlast.kernel.settings import Settings
from outlast.kernel.streams.actions import follow_run
from outlast.testing.agents import FakeTool
from outlast.testing.scripted_model import HANG, Call, Fail, Think, WaitFor, turn
from tests.flow.harness import Event, Stage, frames, stage
from tests.lined_agents import FakeLinedAgent, FakeStagedLinedAgent

QUICK = Settings(retry=RetrySettings(attempts=1, base_s=0.01))


def named(events: list[Event], name: str) -> list[Any]:
    return [event["data"] for event in events if event["event"] == name]


def names(events: list[Event], *chosen: str) -> list[str]:
    return [event["event"] for event in events if event["event"] in chosen]


def words(agent: FakeLinedAgent) -> list[str]:
    return [word for _, _, word in agent.words]


def user_texts(messages: tuple[ModelMessage, ...]) -> list[str]:
    return [p.text for m in messages if m.role == "user" for p in m.pieces if isinstance(p, TextPiece)]


def answer(events: list[Event]) -> list[dict[str, Any]]:
    """The parts of the saved answer, without ids."""
    message = named(events, "message.created")[-1]["message"]
    return [{key: value for key, value in part.items() if key != "id"} for part in message["parts"]]


async def until_patched(it: Stage, run_id: str, count: int) -> None:
    """Waits for this many `page.patch`."""
    chunks = await follow_run(it.services, it.owner, run_id, "0")
    assert chunks is not None
    async for _, event in frames(chunks):
        count -= event["event"] == "page.patch"
        if count == 0:
            return


async def test_a_long_line_is_prepared_before_the_transaction_that_takes_it(db: Database, tmp_path: Path) -> None:
    """The transaction of a large page held up every other write for a third of a second."""
    agent = FakeLinedAgent()
    long = "+" + "x" * LONG_LINE_CHARS
    async with stage(db, tmp_path, [turn("+short\n", f"{long}\n")], agent=agent) as it:
        await it.ended((await it.start()).run_id)
    ((takes, lines),) = agent.prepared
    assert long in lines
    assert long in agent.takes[takes]


async def test_lines_are_taken_as_they_come_and_only_prose_is_shown(db: Database, tmp_path: Path) -> None:
    agent = FakeLinedAgent()
    text = "I begin.\n+one\n\n+two\r\nDone."
    async with stage(db, tmp_path, [turn(text)], agent=agent) as it:
        started = await it.start()
        events = await it.events(started.run_id)
        assert words(agent) == ["one", "two"]
        shown = "".join(delta["delta"] for delta in named(events, "text.delta"))
        assert shown == "I begin.\n\nDone.\n"
        assert [p["op"] for data in named(events, "page.patch") for p in data["patches"]] == ["text", "text"]
        text_part, page_part = answer(events)
        assert text_part["text"] == shown
        assert page_part == {
            "type": "page",
            "step": 1,
            "page_id": "page_1",
            "base_version": 0,
            "version": 2,
            "patches": 2,
            "whole": False,
            "refused": 0,
            "summary": "",
        }
        assert agent.ends == ["completed"]
        assert named(events, "run.completed")[0]["stop_reason"] == "end"


async def test_the_raw_text_stays_in_the_transcript(db: Database, tmp_path: Path) -> None:
    agent = FakeLinedAgent(FakeTool("look"))
    turns = [turn("+one\n", Call("look")), turn("+two")]
    async with stage(db, tmp_path, turns, agent=agent) as it:
        await it.ended((await it.start()).run_id)
        told = it.model.requests[1].messages
        assert [p.text for m in told for p in m.pieces if isinstance(p, TextPiece)] == ["+one\n"]


async def test_a_line_is_seen_while_the_model_still_writes_and_stands_before_it_is_seen(
    db: Database, tmp_path: Path
) -> None:
    go_on = anyio.Event()
    agent = FakeLinedAgent()
    async with stage(db, tmp_path, [turn("+one\n", WaitFor(go_on), "+two")], agent=agent) as it:
        started = await it.start()
        assert (await it.until(started.run_id, "page.patch"))["data"]["version"] == 1
        assert words(agent) == ["one"]
        go_on.set()
        await it.ended(started.run_id)
        assert words(agent) == ["one", "two"]


async def test_a_thought_a_call_and_lines_keep_their_order(db: Database, tmp_path: Path) -> None:
    agent = FakeLinedAgent(FakeTool("look"))
    turns = [turn(Think("Hm."), "First.\n+one", Call("look")), turn("+two\nLast.")]
    async with stage(db, tmp_path, turns, agent=agent) as it:
        events = await it.events((await it.start()).run_id)
        kinds = [part["type"] for part in answer(events)]
        assert kinds == ["reasoning", "text", "tool_call", "page", "text", "page"]
        facts = names(events, "part.created", "page.patch", "tool_call.result", "step.completed")
        assert facts.index("page.patch") < facts.index("tool_call.result")


async def test_what_could_not_be_taken_is_told_to_the_model_before_its_next_turn(db: Database, tmp_path: Path) -> None:
    agent = FakeLinedAgent(FakeTool("look"))
    turns = [turn("+one\n!bad\n", Call("look")), turn("+two")]
    async with stage(db, tmp_path, turns, agent=agent) as it:
        events = await it.events((await it.start()).run_id)
        roles = [message.role for message in it.model.requests[1].messages]
        assert roles == ["assistant", "tool", "user"]
        assert "1. Not a word: !bad" in user_texts(it.model.requests[1].messages)[-1]
        assert named(events, "run.completed")[0]["problems"] == []


async def test_a_run_without_a_check_ends_with_the_problems_of_its_last_lines(db: Database, tmp_path: Path) -> None:
    async with stage(db, tmp_path, [turn("+one\n!bad")], agent=FakeLinedAgent()) as it:
        events = await it.events((await it.start()).run_id)
        assert named(events, "run.completed")[0]["problems"] == ["Not a word: !bad"]


async def test_a_check_finds_the_untold_problems_and_the_model_mends_them(db: Database, tmp_path: Path) -> None:
    seen: list[list[str]] = []

    async def checking(context: StageContext) -> StageResult:
        seen.append(list(context.untold))
        return StageResult(problems=(*context.untold, "And this."))

    async def later(context: StageContext) -> StageResult:
        agent.checking = None
        return await checking(context)

    agent = FakeStagedLinedAgent(checking=later)
    async with stage(db, tmp_path, [turn("!bad"), turn("+good")], agent=agent) as it:
        events = await it.events((await it.start()).run_id)
        assert seen == [["Not a word: !bad"]]
        (told,) = user_texts(it.model.requests[1].messages)
        assert told.count("Not a word: !bad") == 1
        assert "2. And this." in told
        assert words(agent) == ["good"]
        assert named(events, "run.completed")[0]["stop_reason"] == "end"


async def test_untold_problems_stand_among_those_of_a_check_that_says_nothing_of_them(
    db: Database, tmp_path: Path
) -> None:
    agent = FakeStagedLinedAgent()
    settings = Settings(runs=RunSettings(max_steps=2))
    turns = [turn("!first"), turn("!second")]
    async with stage(db, tmp_path, turns, agent=agent, settings=settings) as it:
        events = await it.events((await it.start()).run_id)
        assert "Not a word: !first" in user_texts(it.model.requests[1].messages)[-1]
        completed = named(events, "run.completed")[0]
        assert completed["stop_reason"] == "problems"
        assert completed["problems"] == ["Not a word: !second"]
        assert ("save_chat", "done") in [(step["name"], step["status"]) for step in named(events, "workflow.step")]


async def test_a_line_that_stays_wrong_is_told_once_and_ends_the_run(db: Database, tmp_path: Path) -> None:
    agent = FakeStagedLinedAgent()
    async with stage(db, tmp_path, [turn("+one\n!bad"), turn("!bad")], agent=agent) as it:
        events = await it.events((await it.start()).run_id)
        assert len(it.model.requests) == 2
        assert named(events, "run.completed")[0]["problems"] == ["Not a word: !bad"]


async def test_a_broken_stream_takes_its_lines_back_before_the_model_is_asked_again(
    db: Database, tmp_path: Path
) -> None:
    agent = FakeLinedAgent()
    turns = [turn("+lost\nWords.\n", Fail(ModelCut("cut"))), turn("+kept")]
    async with stage(db, tmp_path, turns, agent=agent, settings=QUICK) as it:
        events = await it.events((await it.start()).run_id)
        assert words(agent) == ["kept"]
        facts = names(events, "page.patch", "step.reset", "page.html", "run.status")
        assert facts == ["page.patch", "step.reset", "page.html", "run.status", "page.patch"]
        assert named(events, "page.html")[0]["reason"] == "reset"
        assert [part["type"] for part in answer(events)] == ["page"]
        assert answer(events)[0]["patches"] == 1


async def test_a_failed_run_keeps_what_was_taken_and_says_so_in_its_answer(db: Database, tmp_path: Path) -> None:
    agent = FakeLinedAgent()
    failure = Fail(ModelCut("down"))
    turns = [turn("+lost\n", failure), turn("+one\n+two\n", failure)]
    async with stage(db, tmp_path, turns, agent=agent, settings=QUICK) as it:
        events = await it.events((await it.start()).run_id)
        assert words(agent) == ["one", "two"]
        assert named(events, "run.error")
        assert [(part["type"], part["patches"], part["step"]) for part in answer(events)] == [("page", 2, 1)]
        assert agent.ends == ["error"]
        before_end = names(events, "part.completed", "message.created", "run.error")
        assert before_end == ["part.completed", "message.created", "run.error"]


async def test_a_cancelled_run_keeps_what_was_taken_and_may_be_continued(db: Database, tmp_path: Path) -> None:
    agent = FakeLinedAgent(FakeTool("look"))
    turns = [turn("+one\n", Call("look")), turn("+two\n+thr", HANG), turn("+four")]
    async with stage(db, tmp_path, turns, agent=agent) as it:
        started = await it.start()
        await until_patched(it, started.run_id, 2)
        await cancel_run(it.services, it.owner, started.run_id)
        events = await it.events(started.run_id)
        assert [part["type"] for part in answer(events)] == ["tool_call", "page", "page"]
        assert agent.ends == ["cancelled"]
        again = await continue_run(it.services, it.owner, started.run_id)
        await it.ended(again.run_id)
        assert words(agent) == ["one", "two", "four"]
        assert len(it.model.requests[2].messages) == 2  # the whole turn with its result, not the cut one


async def test_another_attempt_takes_the_cut_step_back_in_the_commit_that_resets_it(
    db: Database, tmp_path: Path
) -> None:
    agent = FakeLinedAgent(FakeTool("look"))
    turns = [turn("+one\n", Call("look")), turn("+two\n", HANG), turn("+three")]
    async with stage(db, tmp_path, turns, agent=agent, working=False) as it:
        started = await it.start()
        async with anyio.create_task_group() as group:
            worker = Worker(it.services.engine)
            group.start_soon(worker.run)
            await until_patched(it, started.run_id, 2)
            worker.stop_softly()
            await worker.stop_hard()
            group.cancel_scope.cancel()
        async with anyio.create_task_group() as group:
            group.start_soon(Worker(it.services.engine).run)
            events = await it.events(started.run_id)
            group.cancel_scope.cancel()
        assert words(agent) == ["one", "three"]
        facts = names(events, "step.reset", "page.html", "step.started")
        assert facts[-3:] == ["step.reset", "page.html", "step.started"]
        assert [part["patches"] for part in answer(events) if part["type"] == "page"] == [1, 1]


async def test_a_run_whose_worker_is_gone_is_cancelled_with_what_its_lines_did(db: Database, tmp_path: Path) -> None:
    settings = Settings(runs=RunSettings(cancel_force_s=0.05))
    agent = FakeLinedAgent()
    turns = [turn("+one\n", HANG)]
    async with stage(db, tmp_path, turns, agent=agent, settings=settings, working=False) as it:
        started = await it.start()
        async with anyio.create_task_group() as group:
            group.start_soon(Worker(it.services.engine).run)
            await until_patched(it, started.run_id, 1)
            group.cancel_scope.cancel()  # it is gone without a word: its lease still stands
        await cancel_run(it.services, it.owner, started.run_id)
        async with anyio.create_task_group() as group:
            group.start_soon(Sweeper(it.services.engine, None).run)
            events = await it.events(started.run_id)
            group.cancel_scope.cancel()
        assert words(agent) == ["one"]
        assert [(part["type"], part["patches"]) for part in answer(events)] == [("page", 1)]
        assert agent.ends == ["cancelled"]


async def test_a_failure_in_taking_lines_is_a_problem_and_not_the_end_of_the_run(db: Database, tmp_path: Path) -> None:
    agent = FakeLinedAgent(FakeTool("look"))
    turns = [turn("+one\n?\n", Call("look")), turn("+two")]
    async with stage(db, tmp_path, turns, agent=agent) as it:
        events = await it.events((await it.start()).run_id)
        assert "could not be taken" in user_texts(it.model.requests[1].messages)[-1]
        assert named(events, "run.completed")[0]["stop_reason"] == "end"


async def test_lines_that_come_fast_go_together_and_none_is_lost(db: Database, tmp_path: Path) -> None:
    agent = FakeLinedAgent()
    count = 3 * LINES_AT_ONCE
    text = "".join(f"+{number}\n" for number in range(count))
    async with stage(db, tmp_path, [turn(text)], agent=agent) as it:
        events = await it.events((await it.start()).run_id)
        assert words(agent) == [str(number) for number in range(count)]
        assert max(len(lines) for lines in agent.takes) <= LINES_AT_ONCE
        patches = named(events, "page.patch")
        assert [data["base_version"] for data in patches[1:]] == [data["version"] for data in patches[:-1]]


async def test_a_refused_answer_ends_the_run_with_the_reason(db: Database, tmp_path: Path) -> None:
    async with stage(db, tmp_path, [turn("No.", finish="refused")], agent=FakeLinedAgent()) as it:
        events = await it.events((await it.start()).run_id)
        assert named(events, "run.error")[0]["error"]["code"] == "model_policy_refused"


async def test_a_run_shows_its_steps_as_ever(db: Database, tmp_path: Path) -> None:
    async with stage(db, tmp_path, [turn("+one")], agent=FakeLinedAgent()) as it:
        started = await it.start()
        await it.ended(started.run_id)
        details = await read_run(it.services, it.owner, started.run_id)
        assert [step.kind for step in details.steps] == ["start", "model", "settle"]
