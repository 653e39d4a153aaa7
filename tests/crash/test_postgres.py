"""The same on PostgreSQL, and what only happens there: the database goes away, a worker wakes up too late."""

from __future__ import annotations

import random
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
import sqlalchemy as sa

from outlast.db.database import Database, Tx
from outlast.kernel.runs.rows import RunRow
from outlast.kernel.runs.tables import runs
from outlast.kernel.streams.log_store import read_all
from outlast.testing.model_server import ModelServer
from outlast.testing.postgres import PostgresServer
from tests.crash import kills
from tests.crash.conftest import MakeServer
from tests.crash.crash_database import CrashPoint
from tests.crash.kills import BY_THE_CLOCK, SEED_VARIABLE, Reference
from tests.crash.outcome import check_followed, check_no_finished_step_again
from tests.crash.scenario import Played, begin, follow, message, play
from tests.crash.server import CrashServer, until

pytestmark = [pytest.mark.postgres, pytest.mark.sandbox, pytest.mark.timeout(600)]
LEASE_S = 1.5
SAMPLE = 3
SLOW = [{"text": " ".join(f"word{n}" for n in range(120)), "delay_s": 0.03}]
STANDING_STILL = sa.text(
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    " AND xact_start < clock_timestamp() - interval '0.1 s'"
)
NEVER = [{"fault": "stall_body"}]


async def test_a_run_killed_at_some_of_its_commits_or_at_random_times_ends_the_same_on_postgresql(
    make_server: MakeServer, model: ModelServer, postgres_url: str
) -> None:
    await _kill(make_server, model, postgres_url, points=SAMPLE, times=2)


@pytest.mark.deep
@pytest.mark.timeout(3600)
async def test_a_run_killed_at_many_commits_and_random_times_ends_the_same_on_postgresql(
    make_server: MakeServer, model: ModelServer, postgres_url: str
) -> None:
    await _kill(make_server, model, postgres_url, points=40, times=30)


async def _kill(make_server: MakeServer, model: ModelServer, url: str, points: int, times: int) -> None:
    server, seed = make_server(database=url, lease_s=LEASE_S), kills.seed_of_this_run()
    async with kills.opened(server) as db:
        reference: Reference = await kills.undisturbed(server, db, model)
        every = [[point] for point in kills.points_of(reference.commits)]
        chosen: list[list[CrashPoint]] = random.Random(seed).sample(every, min(points, len(every)))
        at_points = await kills.at_points(server, db, model, reference, chosen)
        at_times = await kills.at_random_times(server, db, model, reference, range(seed, seed + times))
    print(f"{SEED_VARIABLE}={seed}: {at_points}; {at_times}")
    assert not [name for name in at_points.not_reached if not BY_THE_CLOCK.search(name)]
    problems = at_points.problems + at_times.problems
    assert not problems, f"{SEED_VARIABLE}={seed}\n" + "\n\n".join(problems)


@pytest.mark.parametrize("how", ["crash", pytest.param("stop", marks=pytest.mark.deep)])
async def test_a_run_survives_a_postgresql_that_goes_away_in_the_middle(
    make_server: MakeServer, model: ModelServer, postgres_url: str, postgres: PostgresServer, how: str
) -> None:
    server = make_server(database=postgres_url, lease_s=LEASE_S)
    async with kills.opened(server) as db:
        reference = await kills.undisturbed(server, db, model)

        async def restart() -> None:
            await server.until_committed("_mark_started.change", 2)  # a command is running
            getattr(postgres, how)()
            postgres.start()  # from this thread: PostgreSQL dies with the thread that started it

        async with anyio.create_task_group() as group:
            group.start_soon(restart)
            played = await play(server)
        # An interruption may take one more attempt; it is no kill, but the model may be asked once more.
        fresh = server.open_database()  # the connections of the other one died with the database
        try:
            await kills.compare(server, fresh, model, reference, played, kills=1)
        finally:
            await fresh.aclose()


async def test_a_worker_that_slept_through_its_lease_writes_nothing_any_more(
    make_server: MakeServer, model: ModelServer, postgres_url: str
) -> None:
    async with _two_servers(make_server, postgres_url) as (zombie, other, db):
        played = await _started(zombie, other, db, model, "zombie", SLOW)
        assert zombie.process is not None
        await _freeze(zombie, db)
        try:
            async for _ in follow(other, played):
                pass
            ended = await db.read(_all_of, played)
        finally:
            zombie.process.send_signal(signal.SIGCONT)
        assert ended["run"]["status"] == "completed"
        assert ended["run"]["attempt"] >= 2  # more where the other one stood still too
        again = await play(zombie, [{"text": "Awake again."}])  # whatever it still wanted to write, it has tried now
        assert again.fold().status == "completed"
        assert await db.read(_all_of, played) == ended
        await check_followed(db, played)
        check_no_finished_step_again(played)


async def test_a_cancel_takes_a_run_away_from_a_worker_that_does_not_answer(
    make_server: MakeServer, model: ModelServer, postgres_url: str
) -> None:
    async with _two_servers(make_server, postgres_url, lease_s=60) as (sleeper, other, db):
        played = await _started(sleeper, other, db, model, "sleeper", NEVER)
        assert sleeper.process is not None
        await _freeze(sleeper, db)
        try:
            status, body = await other.call("POST", f"/v1/runs/{played.run_id}/cancel")
            assert status == 200, body
            async for _ in follow(other, played):
                pass
            ended = await db.read(_all_of, played)
        finally:
            sleeper.process.send_signal(signal.SIGCONT)
        assert (ended["run"]["status"], ended["run"]["stop_reason"]) == ("cancelled", "user")
        await play(sleeper, [{"text": "Awake again."}])
        assert await db.read(_all_of, played) == ended


async def test_a_worker_alone_carries_out_what_a_dead_server_has_left(
    make_server: MakeServer, model: ModelServer, postgres_url: str, tmp_path: Path
) -> None:
    server = make_server("server", database=postgres_url, lease_s=LEASE_S, shared=tmp_path / "blobs")
    worker = make_server("worker", database=postgres_url, lease_s=LEASE_S, role="worker", shared=tmp_path / "blobs")
    async with kills.opened(server) as db:
        played = await begin(server, "left", message("left", SLOW))
        await model.wait_requests(1)
        await server.kill()
        async with worker:
            with anyio.fail_after(60):
                await until(lambda: _completed(db, played))
        async for _ in follow(server, played):
            pass
        await check_followed(db, played)


async def test_an_idle_node_takes_the_runs_of_a_dead_one_over_when_their_lease_has_lapsed(
    make_server: MakeServer, model: ModelServer, postgres_url: str
) -> None:
    """Its sweeper slept for up to a minute: no bell tells it of the leases that another node takes."""
    async with _two_servers(make_server, postgres_url) as (dying, idle, db):
        await anyio.sleep(3 * LEASE_S)  # both have looked, and found nothing: the next look is what is measured
        played = await _started(dying, idle, db, model, "left", SLOW)
        await dying.kill()
        began = anyio.current_time()
        with anyio.fail_after(60):
            await model.wait_requests(2)
        took_s = anyio.current_time() - began
        print(f"taken over {took_s:.1f} s after the kill, lease {LEASE_S} s")
        assert took_s <= LEASE_S + 2
        async for _ in follow(idle, played):
            pass
        await check_followed(db, played)
        # On a machine that is busy enough a living node loses so short a lease as well: at least two.
        assert (await db.read(_all_of, played))["run"]["attempt"] >= 2


async def test_a_node_that_claims_its_own_lapsed_runs_again_finishes_them_once(
    make_server: MakeServer, model: ModelServer, postgres_url: str
) -> None:
    """It lost track of them: they were started again for ever, and followers saw numbers go backwards."""
    async with _two_servers(make_server, postgres_url) as (sleeper, other, db):
        played = [await _started(sleeper, other, db, model, f"mine{n}", SLOW) for n in range(3)]
        seen: list[list[int]] = [[] for _ in played]

        async def watch(numbers: list[int], one: Played) -> None:
            numbers.extend([one.events[-1][0] async for _ in follow(sleeper, one)])

        async with anyio.create_task_group() as group:
            for numbers, one in zip(seen, played, strict=True):
                group.start_soon(watch, numbers, one)
            assert sleeper.process is not None
            assert other.process is not None
            await _freeze(sleeper, db)
            await anyio.sleep(2 * LEASE_S)
            await _freeze(other, db)  # it may have freed them; only the sleeper can claim
            sleeper.process.send_signal(signal.SIGCONT)
            with anyio.fail_after(60):
                await until(lambda: _all_completed(db, played))
            other.process.send_signal(signal.SIGCONT)
        for numbers, one in zip(seen, played, strict=True):
            assert numbers == sorted(set(numbers))
            row = (await db.read(_all_of, one))["run"]
            assert row["status"] == "completed"
            assert row["deaths"] < 3, "its own are taken back: not so many that the run would be ended"
            assert row["attempt"] <= 8, "not again and again: a busy machine may cost a lease more"
            await check_followed(db, one)


@asynccontextmanager
async def _two_servers(
    make_server: MakeServer, url: str, lease_s: float = LEASE_S
) -> AsyncIterator[tuple[CrashServer, CrashServer, Database]]:
    """Two servers on one PostgreSQL, each with a data directory of its own, and the database beside them."""
    first = make_server("first", database=url, lease_s=lease_s)
    first.shared = first.folder.parent / "blobs"
    second = make_server("second", database=url, lease_s=lease_s, shared=first.shared)
    async with kills.opened(first) as db, second:
        yield first, second, db


async def _started(
    server: CrashServer, other: CrashServer, db: Database, model: ModelServer, marker: str, turns: list[dict[str, Any]]
) -> Played:
    """A run that `server` works on: the other sleeps while it is claimed."""
    assert other.process is not None
    await _freeze(other, db)
    try:
        played = await begin(server, marker, message(marker, turns))
        with anyio.fail_after(30):
            await model.wait_requests(1)
    finally:
        other.process.send_signal(signal.SIGCONT)
    return played


async def _freeze(server: CrashServer, db: Database) -> None:
    """Stop the process, but not within a transaction: it would hold its rows for as long as it stands still, for
    PostgreSQL ends a transaction between two statements only."""
    assert server.process is not None
    with anyio.fail_after(60):
        while True:
            server.process.send_signal(signal.SIGSTOP)
            await anyio.sleep(0.2)
            if not await db.read(_transactions_that_stand_still):
                return
            server.process.send_signal(signal.SIGCONT)
            await anyio.sleep(0.01)


def _transactions_that_stand_still(tx: Tx) -> int:
    return int(tx.execute(STANDING_STILL).scalar_one())


async def _all_completed(db: Database, played: list[Played]) -> bool:
    return all([await _completed(db, one) for one in played])


async def _completed(db: Database, played: Played) -> bool:
    return bool((await db.read(_all_of, played))["run"]["status"] == "completed")


def _all_of(tx: Any, played: Played) -> dict[str, Any]:
    row = tx.row(RunRow, sa.select(runs).where(runs.c.id == played.run_id))
    return {"run": row._asdict(), "log": read_all(tx, played.run_id)}
