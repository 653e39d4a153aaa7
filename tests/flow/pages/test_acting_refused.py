"""What people do on a page where they may not, or not as much: refused with the reason, and nothing is done."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from outlast.apps.pages.settings import PageSettings
from outlast.apps.pages.tables import pages
from outlast.apps.pages.user_actions import take_back
from outlast.base.clock import SystemClock
from outlast.base.errors import (
    ActionNotOffered,
    ActionsFull,
    ActionTaken,
    Forbidden,
    NotFound,
    RateLimited,
    ThreadLocked,
)
from outlast.db.connect import open_database
from outlast.db.database import Database
from outlast.kernel.limits.settings import LimitSettings
from outlast.kernel.locks.actions import take_lock
from outlast.kernel.runs.actions import cancel_run
from outlast.kernel.runs.store import run_of
from outlast.kernel.settings import Settings
from outlast.testing.scripted_model import HANG, ScriptedModel, turn
from tests.app_settings import settings_with
from tests.flow.pages.rig import page_stage


@pytest.fixture
async def db(sqlite_url: str, tmp_path: Path) -> AsyncIterator[Database]:
    """On SQLite alone: what is refused here is refused before the databases differ."""
    database = open_database(sqlite_url, tmp_path, SystemClock())
    yield database
    await database.aclose()


async def test_an_action_whose_run_has_its_turn_is_not_taken_back(db: Database, tmp_path: Path):
    async with page_stage(db, tmp_path, [turn("Hm", HANG)]) as it:
        acted = await it.act("refresh")
        await it.until(acted.run_id, "step.started")
        with pytest.raises(ActionTaken):
            await take_back(it.services, it.owner, it.page.id, acted.action_id)
        await cancel_run(it.services, it.owner, acted.run_id)
        with pytest.raises(ActionTaken):
            await take_back(it.services, it.owner, it.page.id, acted.action_id)
        assert await it.states() == {"refresh": "failed"}


async def test_only_whoever_did_it_and_owners_take_an_action_back(db: Database, tmp_path: Path):
    async with page_stage(db, tmp_path, [], working=False) as it:
        await it.start("Show my issues", actor=it.team.editor)
        acted = await it.act("one", it.team.editor)
        with pytest.raises(Forbidden):
            await take_back(it.services, it.team.viewer, it.page.id, acted.action_id)
        with pytest.raises(NotFound):
            await take_back(it.services, it.team.editor, it.page.id, "act_none")
        await take_back(it.services, it.owner, it.page.id, acted.action_id)
        assert await it.states() == {"one": "dropped"}


async def test_viewers_do_nothing_on_a_page_and_strangers_know_of_none(db: Database, tmp_path: Path):
    async with page_stage(db, tmp_path, [], working=False) as it:
        with pytest.raises(Forbidden):
            await it.act("refresh", it.team.viewer)
        with pytest.raises(NotFound):
            await it.act("refresh", it.team.stranger)
        assert await it.actions() == []


async def test_who_is_kept_out_by_anothers_lock_is_told_whose(db: Database, tmp_path: Path):
    async with page_stage(db, tmp_path, [], working=False) as it:
        await take_lock(it.services, it.owner, it.thread_id)
        with pytest.raises(ThreadLocked) as refused:
            await it.act("refresh", it.team.editor)
        assert "Olga" in refused.value.message
        await it.act("refresh")
        with pytest.raises(ThreadLocked):  # also where it would only join a run
            await it.act("refresh", it.team.editor)
        assert len(await it.actions()) == 1


async def test_only_so_many_actions_wait_and_only_so_many_come_a_minute(db: Database, tmp_path: Path):
    settings = settings_with(
        Settings(limits=LimitSettings(actions_per_minute_per_user=4)), PageSettings(actions_waiting=2)
    )
    async with page_stage(db, tmp_path, [], settings=settings, working=False) as it:
        await it.start("Show my issues")
        await it.act("one")
        await it.act("two")
        with pytest.raises(ActionsFull):
            await it.act("three")
        assert len(await it.asked()) == 2
        for one in await it.actions():
            await take_back(it.services, it.owner, it.page.id, one.id)
        await it.act("three")
        await it.act("four")
        with pytest.raises(RateLimited):
            await it.act("five")


async def test_actions_whose_data_would_fill_a_message_are_refused(db: Database, tmp_path: Path):
    settings = Settings(limits=LimitSettings(message_bytes=1_000))
    async with page_stage(db, tmp_path, [], settings=settings, working=False) as it:
        await it.act("one", data={"text": "x" * 600})
        with pytest.raises(ActionsFull):
            await it.act("two", data={"text": "x" * 600})
        assert await it.states() == {"one": "taken"}


async def test_a_run_begun_by_an_action_has_the_model_of_the_pages_last_one(db: Database, tmp_path: Path):
    model = ScriptedModel([])
    async with page_stage(db, tmp_path, model, working=False) as it:
        acted = await it.act("refresh")
        run = await it.services.db.read(run_of, acted.run_id)
        assert run.model == it.services.catalog.default.id
        assert run.profile == "page"
        assert run.workspace_id == it.page.workspace_id


# Any name was once taken, and told to the model as something that a person did.
async def test_an_action_that_the_page_does_not_offer_is_refused(db: Database, tmp_path: Path):
    async with page_stage(db, tmp_path, [], working=False) as it:
        with pytest.raises(ActionNotOffered):
            await it.act("evil")
        assert await it.actions() == []
        assert await it.asked() == []


# A double click on "Create" made two issues in the tracker.
async def test_the_same_action_is_done_once_while_the_first_one_waits(db: Database, tmp_path: Path):
    async with page_stage(db, tmp_path, [], working=False) as it:
        first = await it.act("one", data={"issue": "7"})
        assert await it.act("one", data={"issue": "7"}) == first
        other = await it.act("one", data={"issue": "8"})
        theirs = await it.act("one", it.team.owner, data={"issue": "7"})
        assert theirs == first
        assert other.action_id != first.action_id
        assert len(await it.actions()) == 2
        await cancel_run(it.services, it.owner, first.run_id)
        again = await it.act("one", data={"issue": "7"})
        assert again.action_id != first.action_id


async def test_what_says_that_it_repeats_is_done_as_often_as_it_is_clicked(db: Database, tmp_path: Path):
    async with page_stage(db, tmp_path, [], working=False) as it:
        html = '<button data-action="one" data-repeat="">+1</button><input data-action="two" type="checkbox">'
        await db.write(lambda tx: tx.update(pages, {"id": it.page.id}, html=html))
        for _ in range(3):
            await it.act("one")
        for ticked in (True, True, False, True):
            await it.act("two", data={"value": ticked})
        names = [one.name for one in await it.actions()]
        assert names == ["one"] * 3 + ["two"] * 3


async def test_a_repeated_request_gets_its_answer_whatever_the_page_offers_by_then(db: Database, tmp_path: Path):
    async with page_stage(db, tmp_path, [], working=False) as it:
        first = await it.act("one", key="k")
        await db.write(lambda tx: tx.update(pages, {"id": it.page.id}, html=""))
        assert await it.act("one", key="k") == first
