"""A process that stands still in a transaction on PostgreSQL: others go on with its rows."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from functools import partial

import anyio
import pytest
import sqlalchemy as sa

from outlast.base.clock import SystemClock
from outlast.base.errors import StorageUnavailable
from outlast.db.database import Tx
from outlast.db.postgres import PostgresDatabase
from outlast.db.postgres_options import PostgresOptions

pytestmark = pytest.mark.postgres
HELD = sa.text("LOCK TABLE threads")


@pytest.fixture
async def two(reused_postgres_url: str) -> AsyncIterator[tuple[PostgresDatabase, PostgresDatabase]]:
    other = PostgresDatabase(reused_postgres_url, SystemClock())
    both = PostgresDatabase(reused_postgres_url, SystemClock(), PostgresOptions(stalled_s=0.3)), other
    yield both
    for one in both:
        await one.aclose()


def touch(tx: Tx) -> None:
    tx.execute(HELD)


def wait_for_rows(db: PostgresDatabase) -> None:
    """Block this thread until another has had the rows."""

    async def take() -> None:
        async with db.in_thread() as mine:
            await mine.write(touch)

    thread = threading.Thread(target=anyio.run, args=(take,), daemon=True)
    thread.start()
    thread.join(60)
    assert not thread.is_alive()


async def test_a_process_that_stands_still_in_a_transaction_does_not_hold_its_rows_for_ever(
    two: tuple[PostgresDatabase, PostgresDatabase],
) -> None:
    stalled, other = two
    async with stalled._connections.engine.connect() as connection:
        await connection.exec_driver_sql("BEGIN")
        await connection.execute(HELD)
        with anyio.fail_after(60):
            await other.write(touch)
        await connection.invalidate()


@pytest.mark.parametrize("where", ["before a statement", "before the commit"])
async def test_a_transaction_in_which_the_event_loop_was_blocked_for_too_long_is_run_again(
    two: tuple[PostgresDatabase, PostgresDatabase], where: str
) -> None:
    """PostgreSQL ended it meanwhile, and the run at work lost an attempt."""
    stalled, other = two
    block, times = partial(wait_for_rows, other), 0

    def change(tx: Tx) -> int:
        nonlocal times
        times += 1
        tx.execute(HELD)
        if times == 1 and where == "before a statement":
            block()
        tx.execute(sa.text("SELECT 1"))
        if times == 1 and where == "before the commit":
            block()
        return times

    assert await stalled.write(change) >= 2


async def test_a_transaction_that_gets_no_connection_says_that_there_are_too_many(reused_postgres_url: str) -> None:
    full = PostgresDatabase(reused_postgres_url, SystemClock(), PostgresOptions(pool_size=1, room_s=0.01))
    taken = await full._connections.take()
    with pytest.raises(StorageUnavailable, match="Too many transactions are waiting for PostgreSQL"):
        await full.write(touch)
    await full._connections.give_back(*taken)
    await full.write(touch)
    await full.aclose()
