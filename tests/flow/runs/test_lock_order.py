"""Transactions of runs lock rows in one order, so that none waits for one that waits for it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest
import sqlalchemy as sa

from outlast.base.clock import SystemClock
from outlast.db.connect import open_database
from outlast.db.database import Database, Tx
from outlast.kernel.accounts.tables import users
from outlast.kernel.projects.tables import projects
from outlast.kernel.runs import store as runs
from outlast.kernel.runs.actions import cancel_run, retry_run
from outlast.kernel.threads import message_store
from outlast.kernel.threads import store as threads
from outlast.kernel.threads.tables import threads as thread_rows
from tests.flow.harness import Stage, stage
from tests.held_rows import held, somebody_waits

pytestmark = pytest.mark.postgres


@pytest.fixture
async def rows(postgres_url: str, tmp_path: Path) -> AsyncIterator[Database]:
    """A database where two transactions hold rows at the same time."""
    database = open_database(postgres_url, tmp_path, SystemClock())
    yield database
    await database.aclose()


def lock_at_once(tx: Tx, table: sa.Table, row_id: str) -> None:
    """Hold a row; fails where somebody else holds it."""
    mine = sa.select(table.c.id).where(table.c.id == row_id)
    tx.execute(mine.with_for_update(key_share=True, nowait=True))


async def test_a_start_that_waits_for_its_payer_does_not_hold_the_projects_log(rows: Database, tmp_path: Path) -> None:
    async with stage(rows, tmp_path, [], working=False) as it:

        def hold_payer(tx: Tx) -> None:
            lock_at_once(tx, users, it.owner.user_id)

        def hold_log(tx: Tx) -> None:
            lock_at_once(tx, projects, it.project_id)

        async with anyio.create_task_group() as tasks, held(rows, hold_payer, then=hold_log):
            tasks.start_soon(it.start)
            await somebody_waits(rows)


async def test_the_end_of_a_run_that_saves_no_message_takes_the_thread_before_the_payer(
    rows: Database, tmp_path: Path
) -> None:
    async with stage(rows, tmp_path, [], working=False) as it:
        run_id = await tried_again(it)

        def hold_thread(tx: Tx) -> None:
            threads.hold(tx, it.thread_id)

        def hold_payer(tx: Tx) -> None:
            lock_at_once(tx, users, it.owner.user_id)

        async with anyio.create_task_group() as tasks, held(rows, hold_thread, then=hold_payer):
            tasks.start_soon(cancel_run, it.services, it.owner, run_id)
            await somebody_waits(rows)


async def test_the_end_of_a_run_takes_those_queued_behind_it_before_their_thread(
    rows: Database, tmp_path: Path
) -> None:
    async with stage(rows, tmp_path, [], working=False) as it:
        first = await it.start()
        second = await it.start(on_busy="enqueue")

        def hold_second(tx: Tx) -> None:
            runs.hold_run(tx, second.run_id)

        def hold_thread(tx: Tx) -> None:
            lock_at_once(tx, thread_rows, it.thread_id)

        async with anyio.create_task_group() as tasks, held(rows, hold_second, then=hold_thread):
            tasks.start_soon(cancel_run, it.services, it.owner, first.run_id)
            await somebody_waits(rows)


async def tried_again(it: Stage) -> str:
    """A run that has not begun, for a message that has an answer already: its end changes no message."""
    first = await it.start()
    await cancel_run(it.services, it.owner, first.run_id)

    def answer(tx: Tx) -> None:
        message = message_store.message_data(tx, first.message_id)
        message_store.add_message(
            tx, it.thread_id, "assistant", None, "complete", [], run_id=first.run_id, reply_to=message.id
        )

    await it.services.db.write(answer)
    return (await retry_run(it.services, it.owner, first.run_id)).run_id
