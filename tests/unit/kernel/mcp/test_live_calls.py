"""Calls of MCP servers that ask people over their open connection."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio

from outlast.base.errors import StorageUnavailable
from outlast.kernel.mcp.connection import without_deadline
from outlast.kernel.mcp.live_calls import LOOK_S, Answer, Ask, LiveCalls
from outlast.kernel.mcp.outcomes import MOST_REQUESTS, Request
from outlast.testing.clock import ManualClock

WHY = Request("Why?", {})


class Runs:
    """Whether runs have ended, in a database that may be away."""

    def __init__(self) -> None:
        self.is_away = False
        self.looks = 0

    async def has_ended(self, _effect_id: str) -> bool:
        self.looks += 1
        if self.is_away:
            raise StorageUnavailable("The database is away.")
        return False


@asynccontextmanager
async def kept(runs: Runs, clock: ManualClock) -> AsyncIterator[LiveCalls]:
    calls = LiveCalls(clock, runs.has_ended)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(calls.run)
        await anyio.wait_all_tasks_blocked()
        yield calls
        tasks.cancel_scope.cancel()


async def test_questions_stay_open_while_the_database_is_away() -> None:
    async def asks(ask: Ask) -> Answer:
        return await ask(WHY)

    runs, clock = Runs(), ManualClock()
    async with kept(runs, clock) as calls:
        assert await calls.begin("one", asks) == WHY
        assert await calls.begin("other", asks) == WHY
        runs.is_away = True
        await anyio.wait_all_tasks_blocked()
        clock.advance(LOOK_S)
        await anyio.wait_all_tasks_blocked()
        assert runs.looks == 2
        for effect_id in ("one", "other"):
            call = calls.find(effect_id)
            assert call is not None
            call.answer({"action": "accept"})
            assert await calls.follow(effect_id, call) == {"action": "accept"}


async def test_a_call_has_a_few_questions_open_and_the_next_is_cancelled() -> None:
    answers: list[Answer] = []

    async def asks_often(ask: Ask) -> None:
        async def once() -> None:
            answers.append(await ask(WHY))

        async with anyio.create_task_group() as tasks:
            for _ in range(MOST_REQUESTS + 2):
                tasks.start_soon(once)

    async with kept(Runs(), ManualClock()) as calls:
        assert await calls.begin("one", asks_often) == WHY
        await anyio.wait_all_tasks_blocked()
        assert answers == [{"action": "cancel"}] * 2


async def test_the_time_of_the_server_begins_after_the_last_open_question_is_answered() -> None:
    first, second = anyio.Event(), anyio.Event()

    async def ask(request: Request) -> Answer:
        await (first if request is WHY else second).wait()
        return {"action": "accept"}

    with anyio.fail_after(20) as scope:
        patient = without_deadline(scope, 7, ask)
        async with anyio.create_task_group() as tasks:

            async def asked(request: Request) -> None:
                await patient(request)

            tasks.start_soon(asked, WHY)
            tasks.start_soon(asked, Request("How?", {}))
            await anyio.wait_all_tasks_blocked()
            first.set()
            await anyio.wait_all_tasks_blocked()
            assert scope.deadline == math.inf
            second.set()
        assert scope.deadline < math.inf


async def test_what_nothing_waits_for_is_done_beside_and_its_failure_ends_nothing() -> None:
    done = anyio.Event()

    async def fails() -> None:
        done.set()
        raise RuntimeError("its own trouble")

    async with kept(Runs(), ManualClock()) as calls:
        await calls.beside(fails)
        await done.wait()
        await anyio.wait_all_tasks_blocked()
        assert calls.find("one") is None
