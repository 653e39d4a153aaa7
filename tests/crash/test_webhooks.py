"""SIGKILL while events are sent to a program that fails at random: each arrives, in order per run, signed."""

from __future__ import annotations

import random
from collections import defaultdict
from typing import Any

import anyio
import orjson
import pytest
import sqlalchemy as sa
from aiohttp import web

from outlast.db.database import Database, Tx
from outlast.kernel.runs.tables import runs
from outlast.kernel.streams.log_store import read_all
from outlast.kernel.webhooks.tables import deliveries
from tests.crash import kills
from tests.crash.conftest import MakeServer
from tests.crash.scenario import begin, follow, message
from tests.crash.server import CrashServer, until
from tests.flow.webhooks.receiver import Received, Receiver, receiving

EVENTS = ["run.queued", "run.started", "run.completed"]
SETTINGS = '[webhooks]\nfirst_retry_s = 0.05\ntimeout_s = 5\nallow_private = ["127.0.0.1:{port}"]\n'
WIDTH = 4  # runs at the same time
FAILS = 0.3
pytestmark = [pytest.mark.timeout(600)]


@pytest.mark.parametrize(
    ("count", "deaths"),
    [pytest.param(20, 4, id="60 events"), pytest.param(334, 50, id="1002 events", marks=pytest.mark.deep)],
)
async def test_each_event_arrives_in_order_whatever_fails(make_server: MakeServer, count: int, deaths: int) -> None:
    seed = kills.seed_of_this_run()
    print(f"{kills.SEED_VARIABLE}={seed}")
    chance = random.Random(seed)

    def reply(_request: Received) -> web.Response:
        return web.Response(status=chance.choice((429, 500, 503)) if chance.random() < FAILS else 200)

    async with receiving(reply) as receiver, receiving() as trap:
        server = make_server(more=SETTINGS.format(port=receiver.port), turns=[])
        async with kills.opened(server) as db:
            project_id = (await server.get("/v1/me"))["default_project_id"]
            made = await _webhook(server, project_id, receiver.url)
            trapped = await _webhook(server, project_id, f"http://localhost:{trap.port}/")
            await _play_and_kill(server, chance, count, deaths)
            with anyio.fail_after(120):
                await until(lambda: _all_delivered(db, made["id"]))
            await _check(db, receiver, made)
            tried = await db.read(lambda tx: _of(tx, trapped["id"]))
            assert {row.reason for row in tried} <= {"The address belongs to a private network.", None}
            assert trap.requests == []


async def _webhook(server: CrashServer, project_id: str, url: str) -> dict[str, Any]:
    made: dict[str, Any]
    status, made = await server.call("POST", f"/v1/projects/{project_id}/webhooks", {"url": url, "events": EVENTS})
    assert status == 201, made
    return made


async def _play_and_kill(server: CrashServer, chance: random.Random, count: int, deaths: int) -> None:
    """Runs, a few side by side, and kills while they work and while their events are sent."""
    left = list(range(count))

    async def play() -> None:
        while left:
            marker = f"hook-{left.pop()}"
            played = await begin(server, marker, message(marker, [{"text": "Done."}]))
            async for _ in follow(server, played):
                pass

    async with anyio.create_task_group() as group:
        for _ in range(WIDTH):
            group.start_soon(play)
        for _ in range(deaths):
            await anyio.sleep(chance.uniform(0.1, 0.8))
            await server.kill()
            await server.revive()


def _of(tx: Tx, webhook_id: str) -> list[Any]:
    mine = sa.select(deliveries).where(deliveries.c.webhook_id == webhook_id)
    return list(tx.execute(mine.order_by(deliveries.c.about, deliveries.c.seq)).all())


async def _all_delivered(db: Database, webhook_id: str) -> bool:
    rows = await db.read(_of, webhook_id)
    await anyio.sleep(0.1)
    return all(row.state == "delivered" for row in rows)


async def _check(db: Database, receiver: Receiver, made: dict[str, Any]) -> None:
    sent = await db.read(_of, made["id"])
    logged = await db.read(_logged)
    assert [(row.about, row.seq, row.event) for row in sent] == logged, "what was committed was put into the outbox"
    wanted, arrived = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
    about = {row.id: row.about for row in sent}
    for row in sent:
        wanted[row.about].append(row.id)
    for one in receiver.accepted:
        assert one.is_signed_with(made["secret"])
        if one.id not in arrived[about[one.id]]:
            arrived[about[one.id]].append(one.id)
    assert arrived == wanted, "each at least once, in order per run"
    print(f"{len(sent)} events, {len(receiver.requests)} requests, {len(receiver.accepted)} accepted")


def _logged(tx: Tx) -> list[tuple[str, int, str]]:
    """The events of all runs' logs that the webhook takes."""
    found = []
    for run_id in sorted(tx.execute(sa.select(runs.c.id)).scalars()):
        events = [orjson.loads(line) for _, line in read_all(tx, run_id)]
        found += [(run_id, e["sequenceNumber"], e["event"]) for e in events if e["event"] in EVENTS]
    return found
