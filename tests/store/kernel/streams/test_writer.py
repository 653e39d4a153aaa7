"""The writer of a run's log on both databases: what is saved, what is shown meanwhile, and who is refused."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from outlast.base.clock import SystemClock
from outlast.base.errors import FenceLost
from outlast.db.database import Database, Tx
from outlast.kernel.runs import claims
from outlast.kernel.runs.tables import runs
from outlast.kernel.runs.transcript import Run
from outlast.kernel.streams.hub import Hub
from outlast.kernel.streams.log_store import read_all
from outlast.kernel.streams.writer import RESERVE, RunWriter
from tests.factories import make_project, make_run, make_thread, make_user


class Meanwhile:
    """The database, with something that happens while each write is under way."""

    def __init__(self, db: Database) -> None:
        self.dialect = db.dialect
        self.read = db.read
        self._write = db.write
        self.happens: Callable[[], None] = lambda: None

    async def write(self, change: Callable[[Tx], Any]) -> Any:
        self.happens()
        return await self._write(change)


async def claimed(db: Any, hub: Hub) -> RunWriter:
    """The writer of a run that has just been claimed."""

    def run(tx: Tx) -> tuple[Run, int]:
        ada = make_user(tx)
        thread_id = make_thread(tx, make_project(tx, ada), ada)
        make_run(tx, thread_id, ada, status="queued", leg="ready")
        return claims.claim_ready(tx, "nod_1", timedelta(seconds=30), 1)[0]

    held, first_seq = await db.write(run)
    reserved = first_seq + RESERVE - 1
    writer = RunWriter(db, hub, SystemClock(), held.id, held.attempt, held.seq_saved, first_seq, reserved)
    writer.open()
    return writer


async def texts(db: Any, run_id: str) -> int:
    return sum(b'"text.delta"' in line for _, line in await db.read(read_all, run_id))


async def test_what_streams_during_a_flush_is_shown_at_once_and_left_to_the_next(db: Database) -> None:
    # A flush went on for as long as anything new had come meanwhile: with a busy model it never ended, and each of
    # its commits held the deltas back.
    hub, busy = Hub(), Meanwhile(db)
    writer = await claimed(busy, hub)
    with hub.listen(writer.run_id) as channel:
        writer.stream([("text.delta", "prt_1", "one")])
        head = channel.head
        busy.happens = lambda: writer.stream([("text.delta", "prt_1", "two")])
        await writer.flush()
        busy.happens = lambda: None
        assert channel.head == head + 1
        assert await texts(db, writer.run_id) == 1
        await writer.flush()
        assert await texts(db, writer.run_id) == 2


async def test_more_than_was_reserved_is_shown_once_more_is(db: Database) -> None:
    hub = Hub()
    writer = await claimed(db, hub)
    with hub.listen(writer.run_id) as channel:
        for _ in range(RESERVE + 10):
            writer.stream([("text.delta", "prt_1", "word ")])
        assert channel.head == RESERVE, "no number is shown before its reservation is saved"
        while writer.dirty:
            await writer.flush()
        assert channel.head == RESERVE + 10
    numbers = [seq for seq, _ in await db.read(read_all, writer.run_id)]
    assert numbers == list(range(1, RESERVE + 11))


async def test_a_flush_of_an_older_attempt_is_refused_and_saves_nothing(db: Database) -> None:
    writer = await claimed(db, Hub())
    writer.stream([("text.delta", "prt_1", "late")])
    await db.write(lambda tx: tx.execute(sa.update(runs).values(attempt=runs.c.attempt + 1)).rowcount)
    with pytest.raises(FenceLost):
        await writer.flush()
    assert await texts(db, writer.run_id) == 0
