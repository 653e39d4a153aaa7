"""SIGKILL while the MCP server of a call carries it on as a task, or waits for a person's answer."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import anyio
import pytest

from outlast.testing.model_server import ModelServer
from tests.crash import kills
from tests.crash.conftest import MakeServer
from tests.crash.outcome import check_followed, check_ledger
from tests.crash.scenario import Played, begin, follow, message
from tests.crash.server import CrashServer, until
from tests.crash.test_mcp_calls import connect, turns
from tests.flow.mcp.asking_server import asking_server
from tests.flow.mcp.task_server import TaskServer, older_task_server, task_server

pytestmark = [pytest.mark.timeout(300)]
RULES = '[[policy]]\ntool = "tracker__*"\ndecision = "allow"\n'


def make(make_server: MakeServer, place: str) -> CrashServer:
    return make_server(more=f'[mcp]\nallow_private = ["{place}"]\n{RULES}')


async def start(server: CrashServer, tracker: Any, tool: str, arguments: dict[str, Any] | None = None) -> Played:
    await connect(server, tracker)
    planned = turns(tool)
    planned[0]["calls"][0]["arguments"] = arguments or {}
    return await begin(server, tool, message(tool, planned, pace_s=0.0))


async def asked(server: CrashServer, played: Played) -> dict[str, Any]:
    """The question that the run waits for as a row."""
    found: list[dict[str, Any]] = []

    async def waits() -> bool:
        run = await server.get(f"/v1/runs/{played.run_id}")
        found[:] = run["pending"]
        return bool(run["status"] == "awaiting_approval" and found)

    with anyio.fail_after(60):
        await until(waits)
    return found[0]


async def ended(server: CrashServer, db: Any, played: Played) -> dict[str, Any]:
    """The run's first call, once the run has ended as it should."""
    async for _ in follow(server, played):
        pass
    state = played.fold()
    assert state.status == "completed", state
    await check_followed(db, played)
    await check_ledger(db)
    return next(part for part in state.parts if part["type"] == "tool_call")


@pytest.mark.parametrize("servers", [task_server, older_task_server], ids=["2026-07-28", "2025-11-25"])
async def test_a_kill_during_a_long_task_collects_the_same_task(
    make_server: MakeServer, model: ModelServer, servers: Callable[[], AbstractAsyncContextManager[TaskServer]]
) -> None:
    async with servers() as tracker:
        server = make(make_server, tracker.place)
        async with kills.opened(server) as db:
            played = await start(server, tracker, "travel")
            with anyio.fail_after(60):
                await tracker.polled.wait()
            await server.kill()
            tracker.polled = anyio.Event()
            await server.revive()
            with anyio.fail_after(60):
                await tracker.polled.wait()
            tracker.done.set()
            call = await ended(server, db, played)
            assert (call["status"], call["result"]) == ("done", "done")
            assert tracker.begun == 1


async def test_a_question_of_a_server_outlasts_a_kill_and_its_answer_continues_the_call(
    make_server: MakeServer, model: ModelServer
) -> None:
    async with asking_server(modern=True) as tracker:
        server = make(make_server, tracker.place)
        async with kills.opened(server) as db:
            played = await start(server, tracker, "book", {"train": "EC 7"})
            question = await asked(server, played)
            await server.kill()
            await server.revive()
            assert await asked(server, played) == question
            answers = {"decision": "Accept", "seats": "2", "side": "aisle"}
            status, _ = await server.call("POST", f"/v1/questions/{question['id']}", {"answers": answers})
            assert status == 200
            call = await ended(server, db, played)
            assert (call["status"], call["result"]) == ("done", '["accept",{"seats":2,"side":"aisle"}]')
            assert [arguments["given"] for _, arguments in tracker.calls] == [False, True]


async def test_a_question_over_a_connection_that_a_kill_ended_is_told_as_lost_and_the_call_is_not_made_again(
    make_server: MakeServer, model: ModelServer
) -> None:
    async with asking_server(modern=False) as tracker:
        server = make(make_server, tracker.place)
        async with kills.opened(server) as db:
            played = await start(server, tracker, "book_live")
            question = await asked(server, played)
            await server.kill()
            await server.revive()
            answers = {"decision": "Accept", "seats": "2"}
            status, _ = await server.call("POST", f"/v1/questions/{question['id']}", {"answers": answers})
            assert status == 200
            call = await ended(server, db, played)
            assert call["status"] == "interrupted"
            assert "The call of tracker__book_live was lost" in call["result"]
            assert tracker.calls == [("book_live", {})]
