"""Calls that their servers carry on as tasks: collected, asked about, cancelled, and forgotten."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
import sqlalchemy as sa

from outlast.db.database import Database
from outlast.kernel.mcp.task_calls import TIMER
from outlast.kernel.mcp.tools import ConnectedTools
from outlast.kernel.runs import timers
from outlast.kernel.runs.actions import cancel_run
from outlast.kernel.runs.approval_actions import answer_question
from outlast.kernel.runs.settings import PolicyRule
from outlast.kernel.runs.tables import function_steps
from outlast.testing.scripted_model import Call, turn
from tests.flow.harness import Stage, stage, told_last
from tests.flow.mcp.task_server import TaskServer, older_task_server, task_server
from tests.flow.mcp.test_runs import allow_all, connect, settings_for

Servers = Callable[[], AbstractAsyncContextManager[TaskServer]]
BOTH = pytest.mark.parametrize("servers", [task_server, older_task_server], ids=["2026-07-28", "2025-11-25"])


@asynccontextmanager
async def travelling(
    db: Database, folder: Path, servers: Servers = task_server, **state: Any
) -> AsyncIterator[tuple[Stage, TaskServer, str]]:
    """A run whose tool call is a task that was looked at once."""
    async with servers() as server:
        for name, value in state.items():
            setattr(server, name, value)
        rules = (PolicyRule(name="all", tool="tracker__*", decision="allow"),)
        settings = replace(settings_for(server), policy=rules)  # type: ignore[arg-type]  # it has a place, too
        turns = [turn(Call("tracker__travel", {})), turn("Done.")]
        async with stage(db, folder, turns, settings=settings, patience_s=20) as it:
            await allow_all(it, await connect(it, server))  # type: ignore[arg-type]
            run_id = (await it.start()).run_id
            await server.polled.wait()
            yield it, server, run_id


async def task_step(it: Stage, run_id: str) -> str:
    query = sa.select(function_steps.c.id).where(function_steps.c.run_id == run_id, function_steps.c.path == "0")
    return str(await it.services.db.read(lambda tx: tx.execute(query).scalar_one()))


@BOTH
async def test_the_result_of_a_task_is_the_result_of_the_call(db: Database, tmp_path: Path, servers: Servers) -> None:
    async with travelling(db, tmp_path, servers) as (it, server, run_id):
        server.done.set()
        assert await it.ended(run_id) == "completed"
        assert told_last(it.model.requests[1]) == ["done"]
        assert server.begun == 1


async def test_people_see_what_the_task_is_at(db: Database, tmp_path: Path) -> None:
    async with travelling(db, tmp_path) as (it, server, run_id):
        shown = await it.until(run_id, "tool_call.output.delta")
        assert shown["data"]["delta"] == "Looking at trains\n"
        server.done.set()
        assert await it.ended(run_id) == "completed"


async def test_a_task_that_asks_a_person_gets_the_answer_and_goes_on(db: Database, tmp_path: Path) -> None:
    async with travelling(db, tmp_path, asks=True) as (it, server, run_id):
        asked = (await it.until(run_id, "question.asked"))["data"]["question"]
        assert [one["question"] for one in asked["questions"]] == ["tracker asks: How many?", "seats"]
        await answer_question(it.services, it.owner, asked["id"], {"decision": "Accept", "seats": "4"})
        assert await it.ended(run_id) == "completed"
        assert '"seats":4' in told_last(it.model.requests[1])[0]
        assert server.asked_for.count("update") == server.begun == 1


@BOTH
async def test_a_task_that_its_server_has_forgotten_is_not_begun_again(
    db: Database, tmp_path: Path, servers: Servers
) -> None:
    async with travelling(db, tmp_path, servers) as (it, server, run_id):
        server.tasks.clear()
        assert await it.ended(run_id) == "completed"
        [told] = told_last(it.model.requests[1])
        assert told.startswith("The MCP server tracker no longer knows the task of this call (Task not found).")
        assert server.begun == 1


async def test_a_task_outlives_the_session_that_began_it(db: Database, tmp_path: Path) -> None:
    async with travelling(db, tmp_path, older_task_server) as (it, server, run_id):
        server.sessions.clear()
        server.done.set()
        assert await it.ended(run_id) == "completed"
        assert told_last(it.model.requests[1]) == ["done"]
        assert server.begun == 1


@BOTH
async def test_cancelling_the_run_cancels_the_task(db: Database, tmp_path: Path, servers: Servers) -> None:
    async with travelling(db, tmp_path, servers) as (it, server, run_id):
        await cancel_run(it.services, it.owner, run_id)
        assert await it.ended(run_id) == "cancelled"
        with anyio.fail_after(10):
            await server.cancelled.wait()


async def test_the_task_of_a_run_that_was_cancelled_while_it_waited_for_a_person_is_ended_by_its_timer(
    db: Database, tmp_path: Path
) -> None:
    async with travelling(db, tmp_path, asks=True) as (it, server, run_id):
        await it.until(run_id, "question.asked")
        step_id = await task_step(it, run_id)
        connected = it.services.engine.connected
        assert isinstance(connected, ConnectedTools)
        await connected.end_task(step_id)
        assert not server.cancelled.is_set()  # the run may still go on: its timer was moved
        assert [one.kind for one in await it.services.db.read(timers.timers_of, step_id)] == [TIMER]
        await cancel_run(it.services, it.owner, run_id)
        assert await it.ended(run_id) == "cancelled"
        await connected.end_task(step_id)
        with anyio.fail_after(10):
            await server.cancelled.wait()
