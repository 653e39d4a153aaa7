"""SIGKILL at the commits of a run that hands its conversation over: one successor, both answers, and nothing lost."""

from __future__ import annotations

import random
from typing import Any

import anyio
import orjson
import pytest

from outlast.base.ids import new_id
from outlast.db.database import Database
from outlast.testing.model_server import ModelServer
from tests.crash import kills
from tests.crash.conftest import MakeServer
from tests.crash.crash_database import CrashPoint
from tests.crash.kills import BY_THE_CLOCK, SEED_VARIABLE
from tests.crash.outcome import check_followed, check_ledger
from tests.crash.scenario import Played, follow, message
from tests.crash.server import CrashServer

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(600)]
SAMPLE = 4
SHOP = """
from outlast import Agent, tool


@tool(ask="A person looks first", repeatable=True)
def find_order(order_id: str) -> str:
    '''Find an order.'''
    return f"{order_id}: paid"


support = Agent("support", instructions="Help.", tools=[find_order], handoffs=["billing"])
billing = Agent("billing", instructions="Pay.")
"""
CALLS = [
    {"id": "call_over", "name": "transfer_to_billing", "arguments": {"reason": "Pay B-17 back."}},
    {"id": "call_find", "name": "find_order", "arguments": {"order_id": "B-17"}},
]
TURNS: list[dict[str, Any]] = [{"text": "One moment.", "calls": CALLS}, {"text": "It was paid back."}]


def make_shop(make_server: MakeServer) -> CrashServer:
    server = make_server()
    (server.folder / "agents").mkdir(parents=True)
    (server.folder / "agents" / "shop.py").write_text(SHOP)
    return server


async def play(server: CrashServer) -> list[Played]:
    """The two runs, each followed to its end; what the first one asks is approved."""
    marker = new_id("request")[-8:]
    with anyio.fail_after(120):
        content = message(marker, TURNS, pace_s=0.0)
        status, body = await server.call("POST", "/v1/runs", {"content": content, "profile": "support"}, key=marker)
        assert status == 202, body
        thread = await server.get(f"/v1/threads/{body['thread_id']}")
        first = Played(body["run_id"], body["thread_id"], thread["project_id"], marker)
        async with anyio.create_task_group() as group:
            async for event in follow(server, first):
                if event["event"] == "run.status" and event["data"]["status"] == "awaiting_approval":
                    group.start_soon(_approve, server, first.fold().pending[0]["id"])
        part = first.fold().parts[-1]
        assert part["type"] == "handoff", first.fold()
        second = Played(part["run_id"], first.thread_id, first.project_id, marker)
        async for _ in follow(server, second):
            pass
    return [first, second]


async def _approve(server: CrashServer, approval_id: str) -> None:
    status, body = await server.call("POST", f"/v1/approvals/{approval_id}", {"decision": "approve"})
    assert status == 200 or body["code"] == "approval_decided", body


async def check(server: CrashServer, db: Database, model: ModelServer, played: list[Played], killed: int) -> None:
    first, second = played
    found = (await server.get(f"/v1/runs?thread={first.thread_id}"))["items"][::-1]
    assert [(run["id"], run["profile"], run["status"], run["stop_reason"], run["parent_run_id"]) for run in found] == [
        (first.run_id, "support", "completed", "handed_over", None),
        (second.run_id, "billing", "completed", "end", first.run_id),
    ]
    thread = await server.get(f"/v1/threads/{first.thread_id}")
    assert (thread["profile"], thread["active_run"], thread["queued_runs"]) == ("billing", None, [])
    asked, one, other = (await server.get(f"/v1/threads/{first.thread_id}/messages"))["items"]
    assert [asked["status"], one["status"], other["status"]] == ["complete"] * 3
    assert [part["type"] for part in one["parts"]] == ["text", "tool_call", "tool_call", "handoff"]
    assert {part["tool"]: part["result"] for part in one["parts"] if part["type"] == "tool_call"} == {
        "transfer_to_billing": "The conversation was handed over to Billing.",
        "find_order": "B-17: paid",
    }
    assert [part["text"] for part in other["parts"]] == ["It was paid back."]
    asked_for = sum(first.marker.encode() in orjson.dumps(request.body) for request in model.requests)
    assert asked_for <= len(TURNS) + killed, "a finished turn was asked again"
    for run in played:
        await check_followed(db, run)
    await check_ledger(db)


async def _undisturbed(server: CrashServer, db: Database, model: ModelServer) -> list[CrashPoint]:
    """The commits of both runs, and both sides of each."""
    before = len(server.commits())
    await check(server, db, model, await play(server), killed=0)
    points = kills.points_of(server.commits()[before:])
    # A handoff names the next turn too if the worker has a place.
    return [one for one in points if not BY_THE_CLOCK.search(one.label) or one.label.startswith("hand_over")]


async def _kill_at(server: CrashServer, db: Database, model: ModelServer, points: list[CrashPoint]) -> int:
    total = 0
    for point in points:
        starts = server.starts
        server.arm(point)
        try:
            played = await play(server)
            await check(server, db, model, played, server.starts - starts)
            print(f"killed {point}: {server.starts - starts} kills, the same", flush=True)
        except BaseException as problem:
            problem.add_note(f"killed {point}")
            raise
        finally:
            server.point_file.unlink(missing_ok=True)
        total += server.starts - starts
    return total


async def test_a_handoff_killed_at_its_own_commits_and_some_others_has_one_successor(
    make_server: MakeServer, model: ModelServer
) -> None:
    server, seed = make_shop(make_server), kills.seed_of_this_run()
    async with kills.opened(server) as db:
        points = await _undisturbed(server, db, model)
        own = [point for point in points if point.label.startswith(("hand_over", "_call"))]
        assert len(own) >= 4, points
        others = [point for point in points if point not in own]
        print(f"{SEED_VARIABLE}={seed}")
        chosen = [*own, *random.Random(seed).sample(others, min(SAMPLE, len(others)))]
        assert await _kill_at(server, db, model, chosen) >= len(own)


@pytest.mark.deep
@pytest.mark.timeout(3600)
async def test_a_handoff_killed_at_any_commit_has_one_successor(make_server: MakeServer, model: ModelServer) -> None:
    server = make_shop(make_server)
    async with kills.opened(server) as db:
        await _kill_at(server, db, model, await _undisturbed(server, db, model))
