"""A page that nobody uses gives up what it keeps in memory, and nothing else. On both databases."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from outlast.apps.pages.agent.dormancy import KIND
from outlast.apps.pages.settings import PageSettings
from outlast.apps.pages.tables import pages
from outlast.base.errors import NotFound
from outlast.db.database import Database, Tx
from outlast.kernel.runs.sweeper import Sweeper
from outlast.kernel.runs.tables import timers
from outlast.kernel.runs.timers import timers_of
from outlast.kernel.threads.tables import threads
from outlast.testing.scripted_model import turn
from tests.app_settings import settings_with
from tests.flow.pages.agent_rig import WITHOUT_SANDBOX, PageAgent, full, lines, page_agent, patches, summary

WROTE = lines(full('<p id="a">1</p>'), patches({"op": "text", "at": "#a", "text": "2"}), summary("a → b"))


async def last_used(it: PageAgent, before_s: float) -> None:
    """The page was last used so long ago."""

    def change(tx: Tx) -> None:
        tx.update(pages, {"id": it.page.id}, active_at=tx.now - timedelta(seconds=before_s))

    await it.db.write(change)


async def test_the_end_of_a_run_sets_the_timer(db: Database, tmp_path: Path) -> None:
    async with page_agent(db, tmp_path, [turn(WROTE)]) as it:
        await it.asked()
        ((kind, _, due_at),) = await db.read(timers_of, it.page.id)
        assert kind == KIND
        assert due_at == await db.read(_active_at) + timedelta(seconds=300)


async def test_a_page_used_since_keeps_its_tree_and_gets_a_new_time(db: Database, tmp_path: Path) -> None:
    async with page_agent(db, tmp_path, [turn(WROTE)]) as it:
        await it.asked()
        await last_used(it, 200)
        await it.rest(it.page.id)
        assert len(it.live) == 1
        ((_, _, due_at),) = await db.read(timers_of, it.page.id)
        assert due_at == await db.read(_active_at) + timedelta(seconds=300)


async def test_a_page_that_rested_is_changed_on_as_if_nothing_had_been(db: Database, tmp_path: Path) -> None:
    more = lines(patches({"op": "text", "at": "#a", "text": "3"}), summary("c → d"))
    async with page_agent(db, tmp_path, [turn(WROTE), turn(more)]) as it:
        await it.asked()
        await last_used(it, 301)
        await it.rest(it.page.id)
        assert len(it.live) == 0
        await it.asked("again")
        assert (await it.now()).html == '<p id="a">3</p>'


async def test_a_page_at_work_is_let_be(db: Database, tmp_path: Path) -> None:
    async with page_agent(db, tmp_path, [turn(WROTE)]) as it:
        await it.asked()
        await last_used(it, 10_000)
        await db.write(lambda tx: tx.update(threads, {"id": it.thread_id}, active_run_id="run_1"))
        await it.rest(it.page.id)
        assert len(it.live) == 1
        await db.write(lambda tx: tx.update(threads, {"id": it.thread_id}, active_run_id=None))


async def test_the_sweeper_puts_pages_to_rest_when_their_time_has_come(db: Database, tmp_path: Path) -> None:
    at_once = settings_with(WITHOUT_SANDBOX, PageSettings(dormant_after_s=0))
    async with page_agent(db, tmp_path, [turn(WROTE)], settings=at_once) as it:
        await it.asked()
        await Sweeper(it.services.engine, None, {KIND: it.rest}).sweep()
        assert len(it.live) == 0
        assert await db.read(timers_of, it.page.id) == []


async def test_a_page_that_is_gone_has_no_timer_any_more(db: Database, tmp_path: Path) -> None:
    async with page_agent(db, tmp_path, [], working=False) as it:
        with pytest.raises(NotFound):
            await it.rest("pag_gone")
        await db.write(lambda tx: tx.insert(timers, kind=KIND, subject_id="pag_gone", due_at=tx.now - timedelta(1)))
        await Sweeper(it.services.engine, None, {KIND: it.rest}).sweep()
        assert await db.read(timers_of, "pag_gone") == []


def _active_at(tx: Tx) -> datetime:
    found: datetime = tx.execute(sa.select(pages.c.active_at)).scalar_one()
    return found
