"""Connections to PostgreSQL that are cut without a sign, and a server that has no room for more of them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager

import anyio
import asyncpg
import pytest
import sqlalchemy as sa

from outlast.base.clock import SystemClock
from outlast.base.errors import StorageUnavailable
from outlast.db import postgres_connections
from outlast.db.database import Tx
from outlast.db.postgres import RESET_S, PostgresDatabase
from outlast.db.postgres_notices import RECONNECT_S
from outlast.db.postgres_options import PostgresOptions
from outlast.testing.postgres import FAST, PostgresServer
from tests.silent_proxy import SilentProxy

pytestmark = pytest.mark.postgres
QUICK = PostgresOptions(connect_s=1.0, command_s=1.0, answer_s=0.5, beat_s=0.2, pool_size=4)
MOST = 20  # connections that the small server has
ONE = sa.text("SELECT 1")


def one(tx: Tx) -> int:
    return int(tx.execute(ONE).scalar_one())


@pytest.fixture
async def proxy(migrated_postgres: PostgresServer) -> AsyncIterator[SilentProxy]:
    async with SilentProxy(migrated_postgres.port).serving() as found:
        yield found


@pytest.fixture
async def db(proxy: SilentProxy, reused_postgres_url: str) -> AsyncIterator[PostgresDatabase]:
    async with opened(proxy.url(reused_postgres_url)) as found:
        yield found


@asynccontextmanager
async def opened(url: str, options: PostgresOptions = QUICK) -> AsyncIterator[PostgresDatabase]:
    found = PostgresDatabase(url, SystemClock(), options)
    try:
        yield found
    finally:
        with anyio.move_on_after(10):
            await found.aclose()


async def use_at_once(db: PostgresDatabase, count: int) -> None:
    """So that the pool has so many connections."""
    taken = [await db._connections.take() for _ in range(count)]
    for pair in taken:
        await db._connections.give_back(*pair)


# --- connections that are cut without a sign --------------------------------------------------------------------------


async def test_a_write_goes_on_over_another_connection_when_its_own_was_cut_silently(
    db: PostgresDatabase, proxy: SilentProxy
) -> None:
    await use_at_once(db, 2)
    proxy.cut_present()
    with anyio.fail_after(30):
        began = time.monotonic()
        assert await db.write(one) == 1
        assert time.monotonic() - began < 10 * QUICK.answer_s
        assert await db.read(one) == 1


async def test_a_read_over_a_connection_that_was_cut_silently_says_so_in_time_and_the_next_works(
    db: PostgresDatabase, proxy: SilentProxy
) -> None:
    await use_at_once(db, 2)
    await db.read(one)
    proxy.cut_present()
    with anyio.fail_after(30):
        with pytest.raises(StorageUnavailable):
            await db.read(one)
        began = time.monotonic()
        assert await db.read(one) == 1
        assert time.monotonic() - began < QUICK.answer_s, "the other idle one was cut as well"


async def test_a_connection_that_was_idle_is_checked_before_it_is_used(
    db: PostgresDatabase, proxy: SilentProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    await use_at_once(db, 2)
    proxy.cut_present()
    monkeypatch.setattr(postgres_connections, "IDLE_S", 0.0)
    with anyio.fail_after(30):
        assert await db.read(one) == 1


async def test_a_database_that_does_not_answer_at_all_is_unavailable_in_time_and_works_again_afterwards(
    db: PostgresDatabase, proxy: SilentProxy
) -> None:
    assert await db.write(one) == 1
    proxy.cut_all()
    for work in (db.write, db.read, db.write):
        began = time.monotonic()
        with anyio.fail_after(60), pytest.raises(StorageUnavailable):
            await work(one)
        print(f"{work.__name__} gave up after {time.monotonic() - began:.1f} s")
    proxy.mend()
    with anyio.fail_after(30):
        assert await db.write(one) == 1


async def test_a_statement_that_takes_too_long_is_ended_once_and_for_all(db: PostgresDatabase) -> None:
    times = 0

    def sleep(tx: Tx) -> None:
        nonlocal times
        times += 1
        tx.execute(sa.text("SELECT pg_sleep(61)"))

    for work in (db.read, db.write):
        with pytest.raises(StorageUnavailable):
            await work(sleep)
    assert times == 2
    asleep = sa.text(
        "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'SELECT pg_sleep(61)'"
    )
    assert await db.read(lambda tx: tx.execute(asleep).scalar_one()) == 0


async def test_a_change_of_tables_may_take_as_long_as_it_must(db: PostgresDatabase) -> None:
    async with db.patient() as patient:
        await patient.write(lambda tx: tx.execute(sa.text(f"SELECT pg_sleep({2 * (QUICK.command_s or 0)})")))


async def test_a_process_whose_listening_connection_was_cut_silently_listens_again_and_looks_everywhere(
    db: PostgresDatabase, proxy: SilentProxy, reused_postgres_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    heard: list[str] = []
    news = asyncio.Event()

    def hear(stream_id: str) -> None:
        heard.append(stream_id)
        news.set()

    async def until_heard(stream_id: str) -> None:
        while stream_id not in heard:
            await news.wait()
            news.clear()

    db.on_notice(hear)
    async with opened(reused_postgres_url) as other, anyio.create_task_group() as tasks:
        tasks.start_soon(db.background)
        with anyio.fail_after(30):
            await until_heard("*")
            await other.write(lambda tx: tx.ring("thr_1"))
            await until_heard("thr_1")
            await use_at_once(db, 2)
            heard.clear()
            proxy.cut_present()
            began = time.monotonic()
            await other.write(lambda tx: tx.ring("thr_2"))  # lost
            await until_heard("*")
            deaf_s = time.monotonic() - began
            print(f"deaf for {deaf_s:.1f} s")
            assert deaf_s < QUICK.beat_s + 2 * QUICK.answer_s + RECONNECT_S + QUICK.connect_s
            await other.write(lambda tx: tx.ring("thr_3"))
            await until_heard("thr_3")
            assert await db.read(one) == 1, "the idle connections were opened again too"
        tasks.cancel_scope.cancel()
    assert "thr_2" not in heard
    assert "did not come back" in caplog.text


async def test_a_transaction_that_hangs_in_a_cut_connection_is_run_again_once_the_cut_is_noticed(
    proxy: SilentProxy, reused_postgres_url: str
) -> None:
    patient = PostgresOptions(answer_s=0.5, beat_s=0.2)
    times, here, listening = 0, asyncio.get_running_loop(), asyncio.Event()

    def hang(tx: Tx) -> int:
        nonlocal times
        times += 1
        if times == 1:
            here.call_soon(proxy.cut_present)
            tx.execute(sa.text("SELECT pg_sleep(0.2)"))
        return one(tx)

    async with opened(proxy.url(reused_postgres_url), patient) as db, anyio.create_task_group() as tasks:
        db.on_notice(lambda _: listening.set())
        tasks.start_soon(db.background)
        for work in (db.write, db.read):
            await listening.wait()
            listening = asyncio.Event()
            await anyio.sleep(patient.answer_s)  # it has been answered
            times, began = 0, time.monotonic()
            with anyio.fail_after(30):
                assert await work(hang) == 1
            print(f"{work.__name__} was held up for {time.monotonic() - began:.1f} s")
            assert times == 2
        tasks.cancel_scope.cancel()


def test_no_wait_for_a_dead_connection_is_long() -> None:
    """What docs/guides/run-on-postgresql.md says."""
    it = PostgresOptions()
    assert it.command_s is not None
    assert it.beat_s + it.answer_s + RECONNECT_S <= 25, "deaf for as long"
    assert it.command_s + RESET_S <= 40, "a request"


async def test_notices_that_never_come_back_are_named_in_the_log(
    db: PostgresDatabase, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Behind a pooler that gives each transaction another session."""

    async def add_listener(*_: object) -> None:
        """Listens to nothing."""

    monkeypatch.setattr(asyncpg.Connection, "add_listener", add_listener)
    with anyio.move_on_after(4 * QUICK.answer_s):
        await db.background()
    assert "pooler" in caplog.text


# --- a server that has no room ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def small() -> Iterator[PostgresServer]:
    """A PostgreSQL with few connections."""
    server = PostgresServer((*FAST, f"max_connections={MOST}"))
    try:
        server.start()
        yield server
    finally:
        server.remove()


async def test_transactions_of_two_processes_wait_for_one_another_when_postgresql_has_no_more_connections(
    small: PostgresServer,
) -> None:
    done = 0

    async def work(db: PostgresDatabase) -> None:
        nonlocal done
        for _ in range(10):
            await db.write(lambda tx: tx.execute(sa.text("SELECT pg_sleep(0.005)")))
            done += 1

    options = PostgresOptions(room_s=60)
    with anyio.fail_after(120):
        async with AsyncExitStack() as stack, anyio.create_task_group() as tasks:
            both = [await stack.enter_async_context(opened(small.url("postgres"), options)) for _ in range(2)]
            for number in range(60):
                tasks.start_soon(work, both[number % 2])
    assert done == 600
    async with opened(small.url("postgres")) as db:
        assert await db.read(one) == 1


@pytest.mark.parametrize("freed", [True, False])
async def test_a_moment_without_a_free_connection_is_waited_for(small: PostgresServer, freed: bool) -> None:
    others = await fill(small)
    options = PostgresOptions(room_s=60 if freed else 0.5)
    async with opened(small.url("postgres"), options) as db:
        try:
            if freed:
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(db.write, one)
                    await anyio.wait_all_tasks_blocked()
                    await others[0].close()
            else:
                with pytest.raises(StorageUnavailable, match="Too many transactions are waiting for PostgreSQL"):
                    await db.write(one)
        finally:
            for other in others:
                await other.close()


async def test_a_transaction_that_is_cancelled_while_it_waits_leaves_its_place_to_the_next(
    small: PostgresServer,
) -> None:
    async with opened(small.url("postgres"), PostgresOptions(pool_size=1, room_s=60)) as db:
        taken = await db._connections.take()
        async with anyio.create_task_group() as tasks:
            with anyio.move_on_after(0.05):
                await db.write(one)
            tasks.start_soon(db.write, one)
            await anyio.wait_all_tasks_blocked()
            await db._connections.give_back(*taken)
        assert db._connections._in_use == 0


async def fill(server: PostgresServer) -> list[asyncpg.Connection[asyncpg.Record]]:
    """Take every connection that there is."""
    found: list[asyncpg.Connection[asyncpg.Record]] = []
    while True:
        try:
            found.append(await asyncpg.connect(server.url("postgres")))
        except asyncpg.TooManyConnectionsError:
            return found
