"""In whose inbox proposals wait, and who is told, on both databases."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import orjson

from outlast.apps.documents.proposals import open_proposals as waiting
from outlast.db.database import Database, Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.locks import store as locks
from outlast.kernel.locks.tables import locks as table
from outlast.kernel.streams.log_store import read_all
from tests.documents import Desk, replacing
from tests.factories import join, make_thread, make_user


async def _told(desk: Desk) -> list[Any]:
    """Who is told of a proposal that came."""
    lines = [orjson.loads(line) for _, line in await desk.db.read(read_all, desk.team.project_id)]
    news = [line["data"] for line in lines if line["event"] == "inbox.changed"]
    return sorted(one["user_id"] for one in news if one["item"] is not None)


async def test_whoever_began_drives_or_asked_is_told_of_a_proposal_and_nobody_else(db: Database) -> None:
    desk = await Desk.open(db)

    def prepare(tx: Tx) -> tuple[str, Actor]:
        driver, other = make_user(tx, "Dora"), make_user(tx, "Otto")
        for actor in (driver, other):
            join(tx, desk.team.project_id, actor, "editor")
        thread = make_thread(tx, desk.team.project_id, desk.team.editor, profile="document")
        locks.acquire(tx, thread, desk.team.project_id, driver.user_id, 60)
        return thread, driver

    thread_id, driver = await db.write(prepare)
    made = await desk.propose(replacing(await desk.block(0), "The plan."), thread_id=thread_id)
    concerned = sorted(one.user_id for one in (desk.team.editor, driver, desk.team.owner))
    assert await _told(desk) == concerned
    for user_id in concerned:
        assert [item.id for _, item in await db.read(waiting.proposals_for, user_id, None)] == [made.id]


async def test_who_drove_until_the_lock_expired_drives_no_more(db: Database) -> None:
    desk = await Desk.open(db)

    def drive(tx: Tx) -> Actor:
        driver = make_user(tx, "Dora")
        join(tx, desk.team.project_id, driver, "editor")
        locks.acquire(tx, desk.thread_id, desk.team.project_id, driver.user_id, 60)
        tx.update(table, {"resource_id": desk.thread_id}, expires_at=tx.now - timedelta(seconds=1))
        return driver

    driver = await db.write(drive)
    await desk.propose(replacing(await desk.block(0), "The plan."))
    assert await _told(desk) == [desk.team.owner.user_id]
    assert await db.read(waiting.proposals_for, driver.user_id, None) == []
