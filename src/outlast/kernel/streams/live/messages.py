"""Small news between nodes, by the database's messages. They may be lost, so whatever depends on them is repeated."""

import logging
from collections.abc import Callable
from typing import Any, Final

import anyio
import orjson

from outlast.base.errors import OutlastError
from outlast.db.database import Database

GATHER_S: Final = 0.005  # news of one moment go together
IDS_AT_ONCE: Final = 200
MOST: Final = 5_000  # news that wait while the database does not answer; more are dropped
JOINED: Final = "joined"
log: Final = logging.getLogger("outlast.streams")


class Messages:
    """Sends and receives news of any kind. In memory: what waits to be sent, at most `MOST`."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._waiting: list[bytes] = []
        self._ids: dict[str, dict[str, None]] = {}
        self._listeners: dict[str, list[Callable[[Any], None]]] = {}
        self._on_joined: list[Callable[[], None]] = []
        self._wake = anyio.Event()
        self.on_news(JOINED, lambda _: self._tell_again())
        db.on_message(self._heard)
        db.on_notice(self._on_notice)

    def tell(self, kind: str, body: Any) -> None:
        """Send a JSON value of at most 7,000 bytes."""
        if len(self._waiting) < MOST:
            self._waiting.append(orjson.dumps([kind, body]))
        self._wake.set()

    def tell_id(self, kind: str, name: str) -> None:
        """Send a short id: those of one moment go together as a list."""
        self._ids.setdefault(kind, {})[name] = None
        self._wake.set()

    def on_news(self, kind: str, listener: Callable[[Any], None]) -> None:
        self._listeners.setdefault(kind, []).append(listener)

    def on_joined(self, listener: Callable[[], None]) -> None:
        self._on_joined.append(listener)

    async def run(self) -> None:
        """Until cancelled: send what waits. What cannot be sent now is dropped: it will be repeated."""
        while True:
            await self._wake.wait()
            await anyio.sleep(GATHER_S)
            self._wake = anyio.Event()
            waiting, self._waiting = self._waiting, []
            gathered, self._ids = self._ids, {}
            for kind, names in gathered.items():
                ids = list(names)
                waiting += [orjson.dumps([kind, ids[at : at + IDS_AT_ONCE]]) for at in range(0, len(ids), IDS_AT_ONCE)]
            try:
                await self._db.tell([message.decode() for message in waiting])
            except OutlastError as error:
                log.info("news for other nodes were not sent", extra={"count": len(waiting), "reason": error.message})

    def _heard(self, message: str) -> None:
        kind, body = orjson.loads(message)
        for listener in self._listeners.get(kind, ()):
            listener(body)

    def _on_notice(self, stream_id: str) -> None:
        if stream_id == "*":  # this node listens again, or for the first time: both sides have missed news
            self.tell(JOINED, None)
            self._tell_again()

    def _tell_again(self) -> None:
        for listener in self._on_joined:
            listener()
