"""People who act on a page while its run saves: nobody waits for somebody who waits for them; and who pays for what."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest
import sqlalchemy as sa

from outlast.apps.pages import store as pages
from outlast.apps.pages.tables import pages as page_rows
from outlast.base.clock import SystemClock
from outlast.db.connect import open_database
from outlast.db.database import Database, Tx
from outlast.kernel.credits.tables import ledger
from outlast.kernel.locks import store as locks
from outlast.kernel.runs import claims
from outlast.kernel.runs import store as runs
from outlast.kernel.streams.hub import Hub
from outlast.kernel.streams.writer import RunWriter
from outlast.kernel.threads.message_store import message_in
from outlast.kernel.threads.tables import threads
from tests.flow.pages.rig import PageStage, page_stage
from tests.held_rows import DEADLINE_S, held, somebody_waits, stand_still


@pytest.fixture
async def rows(postgres_url: str, tmp_path: Path) -> AsyncIterator[Database]:
    """A database where two transactions hold rows at the same time."""
    database = open_database(postgres_url, tmp_path, SystemClock())
    yield database
    await database.aclose()


@pytest.mark.postgres
async def test_an_action_never_waits_for_the_run_that_saves_lines_of_its_page(rows: Database, tmp_path: Path):
    async with page_stage(rows, tmp_path, [], working=False) as it:
        first = await it.act("one")
        writer = await claimed(rows, first.run_id)

        def take_lines(tx: Tx) -> None:
            pages.hold(tx, it.page.id)

        async with paused(writer, take_lines):  # holds the run, and wants the page
            with anyio.fail_after(DEADLINE_S):
                second = await it.act("two")
        assert (second.state, second.run_id != first.run_id) == ("waiting", True)
        assert await it.states() == {"one": "taken", "two": "waiting"}


@pytest.mark.postgres
async def test_an_action_does_not_join_a_run_that_a_worker_is_claiming(rows: Database, tmp_path: Path):
    async with page_stage(rows, tmp_path, [], working=False) as it:
        first = await it.act("one")

        def hold_run(tx: Tx) -> None:
            runs.hold_run(tx, first.run_id)

        async with held(rows, hold_run):
            with anyio.fail_after(DEADLINE_S):
                second = await it.act("two")
        assert (second.state, second.run_id != first.run_id) == ("waiting", True)


@pytest.mark.postgres
@pytest.mark.parametrize("on_busy", ["enqueue", "interrupt"])
async def test_a_prompt_takes_the_page_before_its_thread_as_the_end_of_a_run_does(
    rows: Database, tmp_path: Path, on_busy: str
):
    async with page_stage(rows, tmp_path, [], working=False) as it:

        def hold_page(tx: Tx) -> None:
            pages.hold(tx, it.page.id)

        def hold_thread(tx: Tx) -> None:  # fails at once where somebody else holds it
            mine = sa.select(threads.c.id).where(threads.c.id == it.thread_id)
            tx.execute(mine.with_for_update(key_share=True, nowait=True))

        async with anyio.create_task_group() as tasks, held(rows, hold_page, then=hold_thread):
            tasks.start_soon(start, it, on_busy)
            await somebody_waits(rows)
        assert await it.asked() == ["Show my issues"]


@pytest.mark.postgres
async def test_who_interrupts_takes_the_run_before_the_page_as_the_run_itself_does(rows: Database, tmp_path: Path):
    async with page_stage(rows, tmp_path, [], working=False) as it:
        writer = await claimed(rows, (await it.act("one")).run_id)

        def take_lines(tx: Tx) -> None:  # fails at once where somebody else holds the page
            mine = sa.select(page_rows.c.id).where(page_rows.c.id == it.page.id)
            tx.execute(mine.with_for_update(key_share=True, nowait=True))

        async with anyio.create_task_group() as tasks, paused(writer, take_lines):
            tasks.start_soon(start, it, "interrupt")
            await somebody_waits(rows)
        assert (await it.asked())[-1] == "Show my issues"


async def test_who_interrupts_pays_for_their_own_run_and_not_for_what_others_wait_for(db: Database, tmp_path: Path):
    async with page_stage(db, tmp_path, [], working=False) as it:
        await it.start("Show my issues")
        await db.write(locks.drop, it.thread_id)
        waiting = await it.act("one", it.team.editor)
        await db.write(locks.drop, it.thread_id)
        prompt = await it.start("Show closed ones", on_busy="interrupt")
        (action,) = await it.actions()
        assert action.run_id == waiting.run_id
        assert action.run_id is not None
        behind = await db.read(runs.run_of, action.run_id)
        message = await db.read(message_in, it.thread_id, behind.message_id)
        assert (behind.started_by, message.sender_id) == (it.team.editor.user_id,) * 2
        assert (await db.read(runs.run_of, prompt.run_id)).started_by == it.owner.user_id
        assert await reserved_by(it, action.run_id) == [it.team.editor.user_id]
        assert await reserved_by(it, prompt.run_id) == [it.owner.user_id]


async def start(it: PageStage, on_busy: Any) -> None:
    await it.start("Show my issues", on_busy=on_busy)


async def reserved_by(it: PageStage, run_id: str) -> list[str]:
    def read(tx: Tx) -> list[str]:
        mine = ledger.c.run_id == run_id, ledger.c.kind == "reserve"
        return list(tx.execute(sa.select(ledger.c.user_id).where(*mine)).scalars())

    return await it.services.db.read(read)


async def claimed(db: Database, run_id: str) -> RunWriter:
    """The hand of a worker that has begun the run."""
    ((run, first),) = await db.write(claims.claim_ready, "nod_test", timedelta(minutes=1), 1)
    assert run.id == run_id
    writer = RunWriter(db, Hub(), SystemClock(), run.id, run.attempt, run.seq_saved, first, run.seq_reserved)
    writer.open()
    return writer


@asynccontextmanager
async def paused(writer: RunWriter, change: Callable[[Tx], None]) -> AsyncIterator[None]:
    """A record of the run that stands still while the block runs: it holds the run, and makes `change` after it."""
    reached, go_on = anyio.Event(), anyio.Event()

    def stop_and_change(tx: Tx) -> None:
        stand_still(reached, go_on)
        change(tx)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(writer.record, [], stop_and_change)
        await reached.wait()
        try:
            yield
        finally:
            go_on.set()
