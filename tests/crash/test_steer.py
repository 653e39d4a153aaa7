"""SIGKILL around a message to a working run: read by one turn, shown once, and never lost."""

from __future__ import annotations

import random

import anyio
import orjson
import pytest

from outlast.db.database import Database
from outlast.testing.model_server import ModelServer
from tests.crash import kills
from tests.crash.conftest import MakeServer
from tests.crash.crash_database import CrashPoint
from tests.crash.kills import BY_THE_CLOCK, SEED_VARIABLE
from tests.crash.outcome import check_followed, check_ledger, check_no_leaks, kill_sandbox
from tests.crash.scenario import Played, begin, follow, message
from tests.crash.server import CrashServer

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(600)]
SAMPLE = 8
REMOVE = {"id": "call_rm", "name": "terminal", "arguments": {"command": "rm -rf build; echo gone"}}
PARKED, LATE = "While it waits.", "While it ends."


def said(text: str, answer: str, delay_s: float = 0.0) -> str:
    """A message whose reader answers this."""
    return f"{text} [[model {orjson.dumps({'text': answer, 'delay_s': delay_s}).decode()}]]"


async def play(server: CrashServer) -> tuple[Played, list[str]]:
    """A run that waits for an approval gets a message, and another one while its last turn is written: the messages
    that it took. The second may come too late, and is refused then."""
    taken: list[str] = []
    started, name = server.starts, f"steer-{server.starts}-{random.randrange(1 << 40)}"

    async def send(text: str) -> None:
        status, body = await server.call("POST", path, {"content": text}, key=f"{name} {text}")
        assert status == 202 or body["code"] == "run_finished", body
        taken.extend([body["id"]] if status == 202 else [])

    async def decide() -> None:
        await send(said(PARKED, "I have read what you sent while I was waiting.", delay_s=0.05))
        [asked] = [item for item in (await server.get("/v1/inbox"))["items"] if item["run_id"] == played.run_id]
        status, body = await server.call("POST", f"/v1/approvals/{asked['id']}", {"decision": "approve"})
        assert status == 200 or body["code"] == "approval_decided", body

    with anyio.fail_after(120):
        played = await begin(server, name, message(name, [{"text": "May I?", "calls": [REMOVE]}], pace_s=0.0))
        path = f"/v1/runs/{played.run_id}/steer"
        seen: set[str] = set()
        async with anyio.create_task_group() as group:
            async for event in follow(server, played):
                state = played.fold()
                if state.status == "awaiting_approval" and "decide" not in seen:
                    seen.add("decide")
                    group.start_soon(decide)
                if event["event"] == "step.started" and event["data"]["step"] == 2 and "late" not in seen:
                    seen.add("late")
                    group.start_soon(send, said(LATE, "And this too."))
    assert server.starts - started <= 1
    return played, taken


async def check(server: CrashServer, db: Database, model: ModelServer, played: Played, taken: list[str]) -> None:
    state = played.fold()
    assert state.status == "completed", state
    shown = [part["message_id"] for part in state.parts if part["type"] == "message"]
    assert shown == taken, "each is read once, in the order in which they were sent"
    items = (await server.get(f"/v1/threads/{played.thread_id}/messages"))["items"]
    sent = [item for item in items if item["role"] == "user" and item["run_id"] == played.run_id]
    assert [item["id"] for item in sent] == taken
    assert {item["status"] for item in sent} == {"complete"}
    last = next(
        request.body for request in reversed(model.requests) if played.marker.encode() in orjson.dumps(request.body)
    )
    read = [text for text in (PARKED, LATE) if text in orjson.dumps(last).decode()]
    assert read == [PARKED, LATE][: len(taken)]
    assert all(orjson.dumps(last).decode().count(text) == 1 for text in read)
    await check_followed(db, played)
    await check_ledger(db)
    await check_no_leaks(server, db)
    await kill_sandbox(server, db, played)


async def _undisturbed(server: CrashServer, db: Database, model: ModelServer) -> list[CrashPoint]:
    """The commits from the first message on, and both sides of each."""
    before = len(server.commits())
    played, taken = await play(server)
    assert taken, "the run took the message that came while it waited"
    await check(server, db, model, played, taken)
    commits = server.commits()[before:]
    first = next(at for at, label in enumerate(commits) if label.startswith("steer_run"))
    points = kills.points_of(commits)[2 * first :]
    return [point for point in points if not BY_THE_CLOCK.search(point.label) or "step.started" in point.label]


async def _kill_at(server: CrashServer, db: Database, model: ModelServer, points: list[CrashPoint]) -> None:
    for point in points:
        starts = server.starts
        server.arm(point)
        try:
            await check(server, db, model, *(await play(server)))
            print(f"killed {point}: {server.starts - starts} kills, the same", flush=True)
        except BaseException as problem:
            problem.add_note(f"killed {point}")
            raise
        finally:
            server.point_file.unlink(missing_ok=True)


async def test_a_message_to_a_run_killed_at_some_commits_is_read_once(
    make_server: MakeServer, model: ModelServer
) -> None:
    server, seed = make_server(), kills.seed_of_this_run()
    async with kills.opened(server) as db:
        points = await _undisturbed(server, db, model)
        sending = [point for point in points if point.label.startswith("steer_run")][:2]
        others = [point for point in points if point not in sending]
        print(f"{SEED_VARIABLE}={seed}")
        await _kill_at(server, db, model, [*sending, *random.Random(seed).sample(others, min(SAMPLE, len(others)))])


@pytest.mark.deep
@pytest.mark.timeout(3600)
async def test_a_message_to_a_run_killed_at_any_commit_is_read_once(
    make_server: MakeServer, model: ModelServer
) -> None:
    server = make_server()
    async with kills.opened(server) as db:
        await _kill_at(server, db, model, await _undisturbed(server, db, model))
