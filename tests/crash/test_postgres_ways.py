"""Two servers on one PostgreSQL that has few connections, or to which the way of one is cut without a sign."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import aclosing
from itertools import pairwise
from pathlib import Path
from typing import Any

import anyio
import pytest
import sqlalchemy as sa

from outlast.base.clock import SystemClock
from outlast.db.database import Database, Tx
from outlast.db.postgres import PostgresDatabase
from outlast.db.postgres_options import PostgresOptions
from outlast.kernel.runs.tables import runs
from outlast.testing.model_server import ModelServer
from outlast.testing.postgres import FAST, PostgresServer
from tests.crash import kills
from tests.crash.conftest import MakeServer
from tests.crash.outcome import check_followed
from tests.crash.scenario import begin, follow, message
from tests.crash.server import CrashServer
from tests.silent_proxy import SilentProxy

pytestmark = [pytest.mark.postgres, pytest.mark.timeout(600)]
MOST = 20  # connections
RUNS = 60
LEASE_S = 5.0
SHORT = [{"text": " ".join(f"word{n}" for n in range(60)), "delay_s": 0.05}]
LONG = [{"text": " ".join(f"word{n}" for n in range(200)), "delay_s": 0.1}]
ATTEMPTS = sa.select(runs.c.status, runs.c.attempt)


@pytest.fixture
def small() -> Iterator[PostgresServer]:
    server = PostgresServer((*FAST, f"max_connections={MOST}"))
    try:
        server.start()
        yield server
    finally:
        server.remove()


@pytest.mark.deep
async def test_sixty_runs_on_two_nodes_with_twenty_connections_break_no_leg_off(
    make_server: MakeServer, small: PostgresServer, tmp_path: Path
) -> None:
    """186 legs broke off, each a model's turn that was paid twice: a flush found no free connection."""
    url, blobs = small.url("postgres"), tmp_path / "blobs"
    both = [make_server(name, database=url, lease_s=30, shared=blobs) for name in ("first", "second")]
    patient = PostgresDatabase(url, SystemClock(), PostgresOptions(room_s=60))
    async with aclosing(patient) as db, both[0], both[1]:
        began = time.monotonic()

        async def one(number: int) -> None:
            server = both[number % 2]
            played = await begin(server, f"r{number}", message(f"r{number}", SHORT))
            async for _ in follow(server, played):
                pass

        async with anyio.create_task_group() as tasks:
            for number in range(RUNS):
                tasks.start_soon(one, number)
        found = await db.read(attempts)  # a third process, which gets a place once the nodes need fewer
        broken = sum(attempt - 1 for _, attempt in found)
        print(f"{RUNS} runs in {time.monotonic() - began:.1f} s with {MOST} connections: {broken} legs broke off")
        assert [status for status, _ in found] == ["completed"] * RUNS
        assert broken == 0
        assert "leg broke off" not in both[0].log() + both[1].log()


async def test_a_node_whose_connections_are_cut_without_a_sign_neither_hangs_nor_stays_deaf(
    make_server: MakeServer, model: ModelServer, migrated_postgres: PostgresServer, postgres_url: str, tmp_path: Path
) -> None:
    """Its followers hung for ever, and it heard no bell any more until it was started again."""
    async with SilentProxy(migrated_postgres.port).serving() as proxy:
        blobs = tmp_path / "blobs"
        here = make_server("here", database=proxy.url(postgres_url), lease_s=LEASE_S, shared=blobs)
        there = make_server("there", database=postgres_url, lease_s=LEASE_S, shared=blobs)
        async with kills.opened(there) as db, here:
            played = [await begin(here, f"cut{n}", message(f"cut{n}", LONG)) for n in range(3)]
            longest = [0.0] * len(played)

            async def watch(at: int) -> None:
                last = time.monotonic()
                async for _ in follow(here, played[at]):
                    longest[at], last = max(longest[at], time.monotonic() - last), time.monotonic()

            with anyio.fail_after(180):
                async with anyio.create_task_group() as tasks:
                    for at in range(len(played)):
                        tasks.start_soon(watch, at)
                    await model.wait_requests(len(played))
                    await anyio.sleep(1)
                    proxy.cut_present()
                    began = time.monotonic()
                    await here.get("/v1/projects")
                    print(f"a request was answered after {time.monotonic() - began:.1f} s")
                    assert time.monotonic() - began < 40
            print(f"followers saw nothing for up to {max(longest):.1f} s, lease {LEASE_S:g} s")
            assert max(longest) < 40
            for one in played:
                await check_followed(db, one)
            await _follow_from_afar(here, there, db)


async def _follow_from_afar(here: CrashServer, there: CrashServer, db: Database) -> None:
    """A later run of the other node is shown here while it works."""
    played, arrived = await begin(there, "later", message("later", SHORT)), list[float]()
    with anyio.fail_after(60):
        async for _ in follow(here, played):
            arrived.append(time.monotonic())
    assert max(after - before for before, after in pairwise(arrived)) < 5
    await check_followed(db, played)


def attempts(tx: Tx) -> list[tuple[str, int]]:
    found: list[Any] = list(tx.execute(ATTEMPTS))
    return [(row.status, row.attempt) for row in found]
