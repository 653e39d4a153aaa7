"""The item guard's storage in the database."""

import logging
from collections.abc import Collection
from typing import Final

import anyio

from outlast.base.errors import OutlastError
from outlast.base.supervision.item_guard import Key, SetAside
from outlast.db.database import Database
from outlast.kernel.set_aside import store

log: Final = logging.getLogger("outlast.supervision")


class DatabaseShelf:
    """A `Shelf`. In memory: the items that are set aside, read again after every change on any node, and those that the
    database has not stored yet."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._held: frozenset[Key] = frozenset()
        self._is_stale = True
        self._unsaved: dict[Key, SetAside] = {}
        self._news = anyio.Event()
        db.on_notice(self._hear)

    async def held(self) -> Collection[Key]:
        if self._is_stale or self._unsaved:
            await self._synchronise()
        return self._held | self._unsaved.keys() if self._unsaved else self._held

    async def put(self, item: SetAside) -> None:
        facts = {"kind": item.kind, "id": item.id, "code": item.code, "reason": item.reason}
        log.error("set aside: it is not tried again until an administrator asks for it", extra=facts)
        self._unsaved[item.kind, item.id] = item
        await self._synchronise()

    async def changed(self) -> None:
        await self._news.wait()

    async def _synchronise(self) -> None:
        self._is_stale = False
        try:
            for key, item in list(self._unsaved.items()):
                await self._db.write(store.add, item)
                self._unsaved.pop(key, None)
            self._held = frozenset(await self._db.read(store.keys))
        except OutlastError as error:  # read again at the next use
            self._is_stale = True
            log.warning("set-aside items not read", extra={"code": error.code, "reason": error.message})

    def _hear(self, stream_id: str) -> None:
        if stream_id in (store.BELL, "*"):
            self._is_stale = True
            self._news.set()
            self._news = anyio.Event()
