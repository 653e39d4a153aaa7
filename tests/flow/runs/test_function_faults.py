"""Functions that do what they should not, and what happens around them: the run ends or goes on, and never hangs."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
import sqlalchemy as sa

from outlast import Agent, Context, flow, tool
from outlast.base.agent_errors import StepFailed
from outlast.base.clock import SystemClock
from outlast.db.connect import open_database
from outlast.db.database import Database, Tx
from outlast.kernel.runs.actions import NewThread, cancel_run, export_run, start_run
from outlast.kernel.runs.approval_actions import answer_question, decide_approval
from outlast.kernel.runs.intake import Intake
from outlast.kernel.runs.retention import clean_up
from outlast.kernel.runs.store import run_of
from outlast.kernel.runs.sweeper import Sweeper
from outlast.kernel.runs.tables import effects, function_steps, runs, timers
from outlast.kernel.runs.worker import Worker
from outlast.kernel.threads.actions import delete_thread, fork_thread, list_messages
from outlast.kernel.threads.tables import messages, threads
from outlast.kernel.threads.user_input import Draft
from outlast.testing.scripted_model import Call, turn
from tests.crash.server import until
from tests.factories import make_services
from tests.flow.harness import Stage, stage, told
from tests.flow.runs.test_function_bounds import UNLIMITED
from tests.flow.runs.test_functions import playing, texts

COUNT = 100  # runs that two servers share
WORKER = Agent("worker", instructions="Work.", listed=False)


async def _error(it: Stage) -> dict[str, Any]:
    error = (await it.events((await it.start()).run_id))[-2]
    assert error["event"] == "run.error", error
    return dict(error["data"]["error"])


async def test_a_finally_and_a_hidden_wait_do_nothing_while_the_function_waits(db: Database, tmp_path: Path) -> None:
    done: list[str] = []

    @flow("chat")
    async def careful(ctx: Context) -> str:
        try:
            async with anyio.create_task_group():  # would hide the wait in a group of errors
                answer = await ctx.ask("Go?", ["yes", "no"])
        finally:
            await ctx.step("close", done.append, "close")
        try:
            await ctx.sleep(0.01)
        except BaseException:
            done.append("hidden")
        return str(answer)

    async with playing(db, tmp_path, careful) as it:
        run_id = (await it.start()).run_id
        question = (await it.until(run_id, "question.asked"))["data"]["question"]
        await it.until_status(run_id, "awaiting_approval")
        assert done == []
        await answer_question(it.services, it.owner, question["id"], {"answer": "yes"})
        assert texts(await it.events(run_id)) == ["yes"]
        assert done == ["close", "hidden"]


async def test_a_function_that_ends_or_cancels_itself_ends_only_its_run(db: Database, tmp_path: Path) -> None:
    async def cancelled() -> None:
        raise asyncio.CancelledError

    ends: list[Any] = [lambda: sys.exit(3), cancelled]

    @flow("chat")
    async def leaving(ctx: Context) -> str:
        match ctx.message:
            case "steps":
                found = []
                for end in ends:
                    with pytest.raises(StepFailed) as failed:
                        await ctx.step("leave", end)
                    found.append(failed.value.message)
                return "; ".join(found)
            case "branches":
                await ctx.gather(cancelled())
            case "exit":
                sys.exit(3)
            case _:
                await cancelled()
        return "never"

    async with playing(db, tmp_path, leaving) as it:
        assert texts(await it.events((await it.start("steps")).run_id)) == [
            "leave: sys.exit(3) was called; leave: something that it waited for was cancelled"
        ]
        for text in ("branches", "exit", "cancel"):
            error = (await it.events((await it.start(text)).run_id))[-2]
            assert error["data"]["error"]["code"] == "flow_failed", text


async def test_a_flow_that_never_asks_for_a_step_can_be_cancelled(db: Database, tmp_path: Path) -> None:
    began = anyio.Event()

    @flow("chat")
    async def endless(_ctx: Context) -> str:
        began.set()
        await anyio.sleep_forever()
        return "never"

    async with playing(db, tmp_path, endless) as it:
        run_id = (await it.start()).run_id
        await began.wait()
        await cancel_run(it.services, it.owner, run_id)
        assert await it.ended(run_id) == "cancelled"


async def test_a_step_that_returns_too_much_fails_with_the_sizes_and_a_tool_is_cut(
    db: Database, tmp_path: Path
) -> None:
    @flow("chat")
    async def long(ctx: Context) -> str:
        with pytest.raises(StepFailed) as failed:
            await ctx.step("long", lambda: "x" * 20_000_000)
        return failed.value.message

    @tool
    def longer() -> str:
        """Say much."""
        return "x" * 50_000_000

    async with playing(db, tmp_path, long) as it:
        [said] = texts(await it.events((await it.start()).run_id))
        assert said == "long: its value has 20,000,002 bytes; at most 1,048,576 can be kept"
    chat = Agent("chat", instructions="", tools=[longer])
    async with playing(db, tmp_path, chat, turns=[turn(Call("longer", {})), turn("Done.")]) as it:
        assert texts(await it.events((await it.start()).run_id)) == ["Done."]
        assert len(told(it.model.requests[1].messages[-1])[0]) < 70_000


async def test_an_answer_that_is_too_long_or_no_text_for_a_database_ends_the_run_clearly(
    db: Database, tmp_path: Path
) -> None:
    @flow("chat")
    async def odd(ctx: Context) -> str:
        if ctx.message == "long":
            return "x" * 50_000_000
        ctx.show("shown \0 \ud83d")
        await ctx.step("na\0me \ud83d", str)
        return "an\0swer \ud83d"

    async with playing(db, tmp_path, odd) as it:
        assert texts(await it.events((await it.start()).run_id)) == ["an\ufffdswer \ufffd"]
        error = (await it.events((await it.start("long")).run_id))[-2]["data"]["error"]
        assert error["code"] == "flow_misused"
        assert "50,000,000" in error["message"]


async def test_a_question_that_is_no_text_ends_the_run_instead_of_going_round(db: Database, tmp_path: Path) -> None:
    @flow("chat")
    async def odd(ctx: Context) -> str:
        return str(await ctx.ask("Which?", [1, 2]))  # type: ignore[list-item]

    async with playing(db, tmp_path, odd) as it:
        assert (await _error(it))["code"] == "flow_failed"


async def test_many_runs_that_are_refused_side_by_side_all_fail(db: Database, tmp_path: Path) -> None:
    # The ninth waited for the eight that were being started, and for ever once these were refused.
    @flow("chat")
    async def many(ctx: Context) -> str:
        return str(len(await ctx.gather(*(ctx.run("nobody-has-it", "Hi", key=str(n)) for n in range(20)))))

    async with playing(db, tmp_path, many) as it:
        assert "no agent" in (await _error(it))["message"]


async def test_an_answer_that_comes_while_the_function_works_is_shown_as_one(db: Database, tmp_path: Path) -> None:
    # The run was held: the answer was read by the function, but the question was shown as cancelled.
    answered = anyio.Event()

    @flow("chat")
    async def busy(ctx: Context) -> str:
        answer, _ = await ctx.gather(ctx.ask("Go?", ["yes", "no"]), ctx.step("work", answered.wait))
        return str(answer)

    async with playing(db, tmp_path, busy) as it:
        run_id = (await it.start()).run_id
        question = (await it.until(run_id, "question.asked"))["data"]["question"]
        await answer_question(it.services, it.owner, question["id"], {"answer": "yes"})
        answered.set()
        assert texts(await it.events(run_id)) == ["yes"]
        [asked] = [part for part in (await it.messages())[-1].parts if part.type == "tool_call"]
        assert asked.status == "done"


async def test_a_message_to_an_agent_is_at_most_as_long_as_one_of_a_person(db: Database, tmp_path: Path) -> None:
    @flow("chat")
    async def telling(ctx: Context) -> str:
        with pytest.raises(StepFailed, match="300,000 bytes"):
            await ctx.run(WORKER, "x" * 300_000)
        return "refused"

    async with playing(db, tmp_path, telling) as it:
        assert texts(await it.events((await it.start()).run_id)) == ["refused"]


async def test_a_branch_reads_its_own_time_and_shows_its_own_texts_when_called_again(
    db: Database, tmp_path: Path
) -> None:
    times: list[list[Any]] = []

    async def branch(ctx: Context, number: int, wait_s: float) -> None:
        await ctx.step(f"wait {number}", anyio.sleep, wait_s)
        times[-1].append((number, ctx.now()))
        ctx.show(f"branch {number} ")
        await ctx.sleep(0.01)

    @flow("chat")
    async def two(ctx: Context) -> str:
        times.append([])
        await ctx.gather(branch(ctx, 0, 0.05), branch(ctx, 1, 0))
        return "done"

    async with playing(db, tmp_path, two) as it:
        events = await it.events((await it.start()).run_id)
        assert texts(events) == ["done"]
        assert len({repr(sorted(called)) for called in times}) == 1
        shown = [event["data"]["part"]["text"] for event in events if event["event"] == "part.created"]
        assert sorted(text for text in shown if text.startswith("branch")) == ["branch 0 ", "branch 1 "]


def _asking() -> Agent:
    @tool(ask="Always")
    async def guarded() -> str:
        """Guarded."""
        return "ok"

    return Agent("worker", instructions="Ask.", tools=[guarded], listed=False)


@flow("chat")
async def calling(ctx: Context) -> str:
    await ctx.step("first", int)
    return " ".join(await ctx.gather(*(ctx.run(WORKER, f"part {n}", key=str(n)) for n in range(3))))


GUARDED = turn(Call("guarded", {}))


async def test_the_parts_of_children_of_a_cancelled_run_are_closed(db: Database, tmp_path: Path) -> None:
    async with playing(db, tmp_path, calling, _asking(), turns=[GUARDED] * 3) as it:
        run_id = (await it.start()).run_id
        await it.until_status(run_id, "running")
        await cancel_run(it.services, it.owner, run_id)
        events = await it.events(run_id)
        parts = {event["data"]["part"]["id"]: event["data"]["part"] for event in events if "part" in event["data"]}
        shown = [part["status"] for part in parts.values() if part["type"] == "subrun"]
        assert shown == ["cancelled"] * 3
        saved = (await it.messages())[-1].parts
        assert [part.status for part in saved if part.type == "subrun"] == ["cancelled"] * 3


async def test_a_run_waits_for_a_child_whose_agent_no_server_has_and_both_can_be_cancelled(
    db: Database, tmp_path: Path
) -> None:
    async with playing(db, tmp_path, calling) as it:  # `worker` is registered on another server, or no more
        run_id = (await it.start()).run_id
        child = (await it.until(run_id, "part.created"))["data"]["part"]["run_id"]
        await it.until_status(run_id, "running")
        assert (await db.read(run_of, child)).leg == "ready"
        await cancel_run(it.services, it.owner, run_id)
        assert await it.ended(run_id) == "cancelled"
        assert await it.ended(child) == "cancelled"


async def test_a_deleted_thread_leaves_no_row_of_its_children_steps_and_timers(db: Database, tmp_path: Path) -> None:
    @flow("chat")
    async def later(ctx: Context) -> str:
        await ctx.run(WORKER, "Hi")
        await ctx.sleep(86_400)
        return "never"

    tables = (threads, messages, runs, effects, function_steps, timers)

    def count(tx: Tx) -> list[int]:
        return [tx.execute(sa.select(sa.func.count()).select_from(table)).scalar_one() for table in tables]

    async with playing(db, tmp_path, later, WORKER, turns=[turn("Hello.")]) as it:
        before = await db.read(count)
        run_id = (await it.start()).run_id
        chunks = await it.until(run_id, "part.completed")
        assert chunks["data"]["part"]["type"] == "subrun"
        await cancel_run(it.services, it.owner, run_id)
        await it.ended(run_id)
        await delete_thread(it.services, it.owner, it.thread_id)
        assert await db.read(count) == [before[0] - 1, *before[1:]]


async def test_an_export_has_the_steps_and_retention_removes_them(db: Database, tmp_path: Path) -> None:
    async with playing(db, tmp_path, calling, WORKER, turns=[turn("Hello.")] * 3) as it:
        run_id = (await it.start()).run_id
        await it.ended(run_id)
        exported = await export_run(it.services, it.owner, run_id)
        steps = exported["function_steps"]
        assert [step["name"] for step in steps] == ["first", "worker:0", "worker:1", "worker:2"]
        assert [step["result"] for step in steps] == ["0", *['"Hello."'] * 3]
        await clean_up(db, run_id)
        assert not await db.read(lambda tx: tx.exists(function_steps, {"run_id": run_id}))


async def test_a_fork_shows_the_runs_that_an_answer_started(db: Database, tmp_path: Path) -> None:
    async with playing(db, tmp_path, calling, WORKER, turns=[turn("Hello.")] * 3) as it:
        await it.ended((await it.start()).run_id)
        fork = await fork_thread(it.services, it.owner, it.thread_id)
        copied = (await list_messages(it.services, it.owner, fork.id)).items[-1].parts
        assert [part.status for part in copied if part.type == "subrun"] == ["completed"] * 3


async def test_a_run_waits_for_a_person_first_though_another_call_waits_for_a_run(db: Database, tmp_path: Path) -> None:
    @tool(ask="Always")
    async def guarded() -> str:
        """Guarded."""
        return "ok"

    chat = Agent("chat", instructions="", tools=[guarded], agents=[WORKER])
    both = turn(Call("guarded", {}), Call("worker", {"message": "Hi"}))
    async with playing(db, tmp_path, chat, turns=[both, turn("Done.")]) as it:
        run_id = (await it.start()).run_id  # no server has the worker: it waits
        approval = (await it.until(run_id, "approval.requested"))["data"]["approval"]
        await it.until_status(run_id, "awaiting_approval")
        await decide_approval(it.services, it.owner, approval["id"], "approve")
        await it.until(run_id, "tool_call.result")
        assert (await db.read(run_of, run_id)).status == "running"
        await cancel_run(it.services, it.owner, run_id)
        assert await it.ended(run_id) == "cancelled"


async def test_a_server_that_stops_begins_no_further_step_and_the_next_one_goes_on(
    db: Database, tmp_path: Path
) -> None:
    done: list[str] = []

    @flow("chat")
    async def two(ctx: Context) -> str:
        await ctx.step("first", stop)
        await ctx.step("second", done.append, "second")
        return "done"

    async def stop() -> None:
        first.stop_softly()
        done.append("first")

    async with stage(db, tmp_path, [], agent=two, working=False) as it:
        first = Worker(it.services.engine)
        run_id = (await it.start()).run_id
        await first.run()
        assert done == ["first"]
        assert (await db.read(run_of, run_id)).leg == "ready"
        async with anyio.create_task_group() as group:
            group.start_soon(Worker(replace(it.services.engine, intake=Intake())).run)
            assert texts(await it.events(run_id)) == ["done"]
            group.cancel_scope.cancel()
        assert done == ["first", "second"]


@pytest.mark.postgres
@pytest.mark.parametrize("count", [100, pytest.param(1_000, marks=[pytest.mark.deep, pytest.mark.timeout(1200)])])
async def test_a_server_without_an_agent_calls_it_all_the_same_and_another_does_its_work(
    postgres_url: str, tmp_path: Path, count: int
) -> None:
    where: Counter[str] = Counter()

    def calling_from(node: str) -> Agent:
        @flow("chat")
        async def calls(ctx: Context) -> str:
            where[node] += 1
            return str(await ctx.run(WORKER, "Hi"))

        return calls

    one, two = (open_database(postgres_url, tmp_path / name, SystemClock()) for name in ("one", "two"))
    try:
        turns = [turn("Hello.")] * count
        chat, patience_s = calling_from("one"), 60 + count / 2
        async with playing(one, tmp_path, chat, WORKER, turns=turns, settings=UNLIMITED, patience_s=patience_s) as it:
            lacking = make_services(two, tmp_path, UNLIMITED, agents=[calling_from("two")])
            engine = replace(lacking.engine, node_id="nod_two")
            async with anyio.create_task_group() as group:
                group.start_soon(Worker(engine).run)
                group.start_soon(Sweeper(engine, None).run)
                for services in [it.services, replace(lacking, engine=engine)] * (count // 2):
                    await start_run(services, it.owner, NewThread(it.project_id), Draft("Hello"))
                ended = sa.select(runs.c.profile, runs.c.status, sa.func.count()).group_by(
                    runs.c.profile, runs.c.status
                )

                async def all_ended() -> bool:
                    rows = await one.read(lambda tx: tx.execute(ended.where(runs.c.leg == "ended")).all())
                    return sum(tuple(row)[-1] for row in rows) == 2 * count

                await until(all_ended)
                group.cancel_scope.cancel()
            found = await one.read(lambda tx: sorted(tuple(row) for row in tx.execute(ended).all()))
        assert found == [("chat", "completed", count), ("worker", "completed", count)]
        assert where.keys() == {"one", "two"}
    finally:
        with anyio.CancelScope(shield=True):
            await one.aclose()
            await two.aclose()
