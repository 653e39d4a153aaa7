"""Transactions on PostgreSQL that stand still in the middle, so that others meet the rows that they hold."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import anyio
import sqlalchemy as sa
from anyio.lowlevel import checkpoint
from sqlalchemy.util import await_only

from outlast.db.database import Database, Tx

DEADLINE_S = 30  # of what would wait for ever


@asynccontextmanager
async def held(
    db: Database, first: Callable[[Tx], None], then: Callable[[Tx], None] = lambda _: None
) -> AsyncIterator[None]:
    """A transaction that has done `first`, stands still while the block runs, and then does the rest."""
    reached, go_on = anyio.Event(), anyio.Event()

    def run(tx: Tx) -> None:
        first(tx)
        stand_still(reached, go_on)
        then(tx)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(db.write, run)
        await reached.wait()
        try:
            yield
        finally:
            go_on.set()


def stand_still(reached: anyio.Event, go_on: anyio.Event) -> None:
    reached.set()
    await_only(go_on.wait())


async def somebody_waits(db: Database) -> None:
    """Returns once a transaction waits for a row that another holds."""

    def waiting(tx: Tx) -> int:
        here = "a.datname = current_database() AND NOT l.granted"
        found = f"SELECT count(*) FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE {here}"
        return int(tx.execute(sa.text(found)).scalar_one())

    with anyio.fail_after(DEADLINE_S):
        while not await db.read(waiting):
            await checkpoint()
