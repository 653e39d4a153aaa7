"""What administrators do with items that are set aside."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import anyio
import pytest

from outlast.base.errors import NotDeletable, NotFound
from outlast.base.supervision.item_guard import SetAside
from outlast.base.supervision.supervisor import Supervisor
from outlast.db.database import Database
from outlast.kernel.administration.actions import delete_set_aside, list_set_aside, retry_set_aside
from outlast.kernel.runs import timers
from outlast.kernel.set_aside import store
from outlast.kernel.set_aside.kinds import SOURCE, TIMER
from outlast.kernel.set_aside.shelf import DatabaseShelf
from outlast.testing.clock import ManualClock
from tests.factories import make_services, make_user


def item(kind: str, item_id: str) -> SetAside:
    return SetAside(kind, item_id, datetime(2030, 1, 1, tzinfo=UTC), 5, "not_read", "it is empty")


async def test_an_item_is_listed_and_tried_again_when_asked_for(db: Database, tmp_path: Path) -> None:
    supervisor = Supervisor(ManualClock(), DatabaseShelf(db))
    services = make_services(db, tmp_path, supervisor=supervisor)
    admin = await db.write(make_user)  # the first user
    await db.write(store.add, item(SOURCE, "src_1"))
    (listed,) = await list_set_aside(services, admin)
    assert (listed.kind, listed.id, listed.title) == (SOURCE, "src_1", "Read a documentation source")
    assert not await supervisor.guard.attempt(SOURCE, "src_1", anyio.sleep, 0)
    assert await retry_set_aside(services, admin, SOURCE, "src_1") == item(SOURCE, "src_1")
    assert await supervisor.guard.attempt(SOURCE, "src_1", anyio.sleep, 0)
    with pytest.raises(NotFound):
        await retry_set_aside(services, admin, SOURCE, "src_1")


async def test_a_timer_that_is_deleted_never_fires_again(db: Database, tmp_path: Path) -> None:
    services = make_services(db, tmp_path)
    admin = await db.write(make_user)  # the first user
    await db.write(lambda tx: timers.set_timer(tx, "fold", "run_1", tx.now))
    await db.write(store.add, item(TIMER, "fold:run_1"))
    await delete_set_aside(services, admin, TIMER, "fold:run_1")
    assert await list_set_aside(services, admin) == []
    assert await db.read(timers.next_due) is None


async def test_what_is_deleted_where_it_is_made_is_not_deleted_here(db: Database, tmp_path: Path) -> None:
    services = make_services(db, tmp_path)
    admin = await db.write(make_user)  # the first user
    await db.write(store.add, item(SOURCE, "src_1"))
    with pytest.raises(NotDeletable):
        await delete_set_aside(services, admin, SOURCE, "src_1")
    assert len(await list_set_aside(services, admin)) == 1


async def test_an_item_that_is_not_set_aside_is_not_found_whatever_its_kind(db: Database, tmp_path: Path) -> None:
    services = make_services(db, tmp_path)
    admin = await db.write(make_user)  # the first user
    for kind in (SOURCE, TIMER, "0"):
        with pytest.raises(NotFound):
            await delete_set_aside(services, admin, kind, "0")
