"""The writer when a save fails or is cut short, and when another attempt has taken over."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import anyio
import pytest
import sqlalchemy as sa

from outlast.base.clock import SystemClock
from outlast.base.errors import FenceLost, StorageUnavailable
from outlast.db.database import Database, Tx
from outlast.kernel.runs import claims
from outlast.kernel.runs.shapes import RunReference
from outlast.kernel.runs.tables import runs
from outlast.kernel.streams.hub import Hub
from outlast.kernel.streams.log_store import NamedEvent, read_all
from outlast.kernel.streams.writer import Flusher, RunWriter
from tests.factories import make_project, make_run, make_thread, make_user

ENDED: NamedEvent = ("stream.ended", RunReference(run_id="run_1"))


async def claimed(db: Database) -> RunWriter:
    """The writer of a run that was just taken up."""

    def make(tx: Tx) -> Any:
        owner = make_user(tx)
        make_run(tx, make_thread(tx, make_project(tx, owner), owner), owner, leg="ready", status="queued")
        return claims.claim_ready(tx, "nod_test", timedelta(60), 1)[0]

    run, first = await db.write(make)
    args = (run.id, run.attempt, run.seq_saved, first, run.seq_reserved)
    writer = RunWriter(db, Hub(), SystemClock(), *args)
    writer.open()
    return writer


async def recording(writer: RunWriter) -> None:
    """Return while the writer is in the middle of a commit."""
    while not writer._recording:
        await anyio.lowlevel.checkpoint()


async def numbers(db: Database, writer: RunWriter) -> list[int]:
    return [seq for seq, _ in await db.read(read_all, writer.run_id)]


async def test_after_a_failed_save_nothing_more_is_recorded(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    # A flush failed for a moment and its deltas were lost; the next record went through, and the log had a hole that
    # nobody noticed. Now that attempt is over, and the next one takes back what was shown.
    writer = await claimed(db)
    writer.stream([("text.delta", "prt_1", "lost")])

    async def fail(*_args: Any) -> None:
        raise StorageUnavailable("Not now.")

    with monkeypatch.context() as broken:
        broken.setattr(db, "write", fail)
        with pytest.raises(StorageUnavailable):
            await writer.flush()
    with pytest.raises(StorageUnavailable):
        await writer.record([ENDED], lambda _tx: None)
    assert await numbers(db, writer) == []


async def test_a_record_that_is_cancelled_is_finished_and_the_next_one_follows_it(db: Database) -> None:
    # A cancel in the middle of a commit left the writer with numbers that were taken already: the run's last words
    # were refused by the database, and it ended with an internal error instead of as cancelled.
    writer = await claimed(db)
    scope = anyio.CancelScope()

    async def cancel() -> None:
        await recording(writer)
        scope.cancel()

    async with anyio.create_task_group() as group:
        group.start_soon(cancel)
        with scope:
            await writer.record([ENDED, ENDED], lambda _tx: None)
            await anyio.lowlevel.checkpoint()
    assert scope.cancelled_caught
    await writer.record([ENDED], lambda _tx: None)
    found = await numbers(db, writer)
    assert len(found) == 3
    assert found == list(range(found[0], found[0] + 3))


async def test_an_attempt_that_lost_its_run_writes_nothing_any_more(db: Database) -> None:
    writer = await claimed(db)
    later = sa.update(runs).where(runs.c.id == writer.run_id).values(attempt=runs.c.attempt + 1)
    await db.write(lambda tx: tx.execute(later).close())
    changed: list[bool] = []
    with pytest.raises(FenceLost):
        await writer.record([ENDED], lambda _tx: changed.append(True))
    assert changed == []
    assert await numbers(db, writer) == []


async def test_what_is_shown_during_a_commit_comes_after_its_facts(db: Database) -> None:
    writer = await claimed(db)
    shown: list[int] = []

    def change(tx: Tx) -> None:
        tx.after_commit(lambda: shown.append(1))

    async with anyio.create_task_group() as group:
        group.start_soon(writer.record, [ENDED], change)
        await recording(writer)
        writer.stream([("text.delta", "prt_1", "during")])
    await writer.flush()
    lines = await db.read(read_all, writer.run_id)
    assert [b"stream.ended" in line for _, line in lines] == [True, False]
    assert shown == [1]


async def test_a_save_that_fails_in_any_way_cuts_no_other_runs_save_short(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was no error of the database ended the flusher in the middle of the others' saves: each of their runs was
    taken up again."""
    broken, sound = await claimed(db), await claimed(db)
    write = db.write
    failed = anyio.Event()

    async def fail(*_args: Any) -> None:
        failed.set()
        raise RecursionError("maximum recursion depth exceeded")

    async def after_the_failure(*args: Any) -> Any:
        await failed.wait()
        return await write(*args)

    monkeypatch.setattr(broken, "_db", Writing(fail))
    monkeypatch.setattr(sound, "_db", Writing(after_the_failure))
    flusher = Flusher(0.0)
    for writer in (broken, sound):
        writer.stream([("text.delta", "prt_1", "kept")])
        flusher.add(writer)
    async with anyio.create_task_group() as group:
        group.start_soon(flusher.run)
        with anyio.fail_after(30):
            while sound.dirty:
                await anyio.lowlevel.checkpoint()
        monkeypatch.undo()
        await sound.record([ENDED], lambda _tx: None)
        with pytest.raises(StorageUnavailable):
            await broken.record([ENDED], lambda _tx: None)
        group.cancel_scope.cancel()
    assert len(await numbers(db, sound)) == 2


class Writing:
    """A database that writes like this."""

    dialect = "sqlite"

    def __init__(self, write: Any) -> None:
        self.write = write
