"""NOTIFY between processes: notices only wake listeners and carry no data, messages carry small news. The connection
that listens is checked by notices to itself, since one that was cut silently would leave the process deaf."""

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, Final, Protocol

import anyio
import asyncpg

from outlast.db.database import Listener, ring_all
from outlast.db.database_clock import DatabaseClock
from outlast.db.postgres_connections import Connections, Raw, connect

CHANNEL: Final = "outlast"
MESSAGES: Final = "outlast_messages"
RECONNECT_S: Final = 1.0
_NOTIFY: Final = "SELECT pg_notify($1, payload) FROM unnest($2::text[]) AS payload"
_BEAT: Final = "SELECT clock_timestamp() FROM pg_notify($1, '')"
DEAF: Final = "PostgreSQL's notices did not come back: the connection that listens is opened again"
NEVER_BACK: Final = f"{DEAF}; Outlast needs direct connections, or a pooler that keeps sessions"
log: Final = logging.getLogger("outlast.database")


class _Executes(Protocol):
    async def execute(self, query: str, *args: Any) -> str: ...


class Notices:
    """What this process tells others, and what they tell it. `me`: a name that no other process has."""

    def __init__(self, dsn: str, connections: Connections, clock: DatabaseClock | None, me: str) -> None:
        self._dsn, self._connections, self._clock, self._me = dsn, connections, clock, me
        self.listeners: list[Listener] = []
        self.on_message: list[Listener] = []
        self._came = asyncio.Event()

    async def send(self, raw: _Executes, stream_ids: Sequence[str]) -> None:
        """In an open transaction: other processes are woken after its commit."""
        await raw.execute(_NOTIFY, CHANNEL, [f"{self._me} {stream_id}" for stream_id in stream_ids])

    async def tell(self, raw: _Executes, messages: Sequence[str]) -> None:
        """Outside a transaction: other processes get these at once."""
        await raw.execute(_NOTIFY, MESSAGES, [f"{self._me} {message}" for message in messages])

    async def receive(self) -> None:
        """Until cancelled. After a lost connection was reopened, all streams are notified once, since notices may have
        been missed."""
        while True:
            try:
                raw = await connect(self._dsn, self._connections.options)
            except (OSError, asyncpg.PostgresError):
                await anyio.sleep(RECONNECT_S)
                continue
            try:
                await self._listen(raw)
            except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
                pass
            finally:
                with anyio.move_on_after(1, shield=True), suppress(OSError, asyncpg.PostgresError):
                    await raw.close()
            await anyio.sleep(RECONNECT_S)

    async def _listen(self, raw: Raw) -> None:
        """Until the connection is lost. Raises `TimeoutError` if it does not answer any more."""
        lost, beats = asyncio.Event(), 0
        raw.add_termination_listener(lambda *_: lost.set())
        await raw.add_listener(CHANNEL, self._heard)
        await raw.add_listener(MESSAGES, self._heard_message)
        await raw.add_listener(f"{CHANNEL}_{self._me}", lambda *_: self._came.set())
        ring_all(self.listeners, "*")
        while not lost.is_set():
            try:
                await self._beat(raw)
            except TimeoutError:
                log.warning(DEAF if beats else NEVER_BACK)
                if beats:
                    self._connections.suspect()
                raise
            beats += 1
            with anyio.move_on_after(self._connections.options.beat_s):
                await lost.wait()

    async def _beat(self, raw: Raw) -> None:
        """Send a notice to this connection, and wait for it; the answer tells the time as well."""
        self._came.clear()
        answer_s = self._connections.options.answer_s

        async def ask() -> datetime:
            told: datetime = await raw.fetchval(_BEAT, f"{CHANNEL}_{self._me}", timeout=answer_s)
            return told

        await (ask() if self._clock is None else self._clock.measure(ask))
        with anyio.fail_after(answer_s):
            await self._came.wait()

    def _heard(self, _connection: object, _pid: int, _channel: str, payload: object) -> None:
        sender, _, stream_id = str(payload).partition(" ")
        if sender != self._me:
            ring_all(self.listeners, stream_id)

    def _heard_message(self, _connection: object, _pid: int, _channel: str, payload: object) -> None:
        sender, _, message = str(payload).partition(" ")
        if sender != self._me:
            ring_all(self.on_message, message)
