"""What is set aside outlives the server, and is heard of on every node."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from outlast.base.errors import NotFound, StorageUnavailable
from outlast.base.supervision.item_guard import ItemGuard, SetAside
from outlast.db.database import Database
from outlast.kernel.set_aside import store
from outlast.kernel.set_aside.kinds import SOURCE, TITLES, WORKSPACE_REMOVAL
from outlast.kernel.set_aside.shelf import DatabaseShelf
from outlast.testing.clock import ManualClock

MOMENT = datetime(2030, 1, 1, tzinfo=UTC)
ITEM = SetAside(SOURCE, "src_1", MOMENT, 5, "not_read", "it is empty")


async def test_a_row_written_is_read_back_and_written_once(db: Database) -> None:
    await db.write(store.add, ITEM)
    await db.write(store.add, SetAside(SOURCE, "src_1", MOMENT, 9, "other", "another"))
    assert await db.read(store.listed) == [ITEM]
    assert await db.read(store.keys) == {(SOURCE, "src_1")}
    assert len(await db.read(store.listed)) == 1


async def test_what_is_taken_back_is_tried_again(db: Database) -> None:
    shelf = DatabaseShelf(db)
    await shelf.put(ITEM)
    guard = ItemGuard(ManualClock(), shelf)
    assert await guard.is_set_aside(SOURCE, "src_1")
    assert await db.write(store.remove, SOURCE, "src_1") == ITEM
    assert not await guard.is_set_aside(SOURCE, "src_1")
    with pytest.raises(NotFound):
        await db.write(store.remove, SOURCE, "src_1")


async def test_the_next_server_knows_what_the_last_one_set_aside(db: Database) -> None:
    await DatabaseShelf(db).put(ITEM)
    assert (SOURCE, "src_1") in await DatabaseShelf(db).held()


class Away:
    """A database that does not answer until it is back."""

    def __init__(self, db: Database) -> None:
        self._db, self.away = db, True

    async def read(self, *args: object) -> object:
        return await self._pass(self._db.read, *args)

    async def write(self, *args: object) -> object:
        return await self._pass(self._db.write, *args)

    async def _pass(self, call: object, *args: object) -> object:
        if self.away:
            raise StorageUnavailable("away")
        return await call(*args)  # type: ignore[operator]

    def on_notice(self, listener: object) -> None:
        pass


async def test_what_the_database_did_not_take_is_kept_in_memory_until_it_does(db: Database) -> None:
    away = Away(db)
    shelf = DatabaseShelf(away)  # type: ignore[arg-type]
    await shelf.put(ITEM)
    assert (SOURCE, "src_1") in await shelf.held()
    away.away = False
    assert (SOURCE, "src_1") in await shelf.held()
    assert await db.read(store.listed) == [ITEM]


def test_every_kind_has_words_for_administrators() -> None:
    assert WORKSPACE_REMOVAL in TITLES
    assert all(title[0].isupper() and not title.endswith(".") for title in TITLES.values())
