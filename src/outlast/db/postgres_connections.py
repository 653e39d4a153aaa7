"""Connections to PostgreSQL: opened with time limits, checked when they were idle, and waited for when there are too
many."""

import asyncio
import random
import socket
import time
from collections import deque
from contextlib import suppress
from typing import Any, Final
from weakref import WeakKeyDictionary, WeakSet

import asyncpg
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from outlast.base.errors import StorageUnavailable
from outlast.db.postgres_options import PostgresOptions

CACHED_STATEMENTS: Final = 1_000  # of a connection: more than the stores have
IDLE_S: Final = 10.0  # a connection that was idle for longer is checked before its use
PROBE_S: Final = (0.3, 0.7)  # after a refusal, another connection is asked for at the earliest after this
# The kernel notices a dead connection about 25 s after the last sign of life: idle, every, times, unacknowledged data.
KEEP_ALIVE_S: Final = (10, 5, 3)
UNACKNOWLEDGED_MS: Final = 20_000

Raw = Any  # asyncpg's own connection, which is generic in its records


async def connect(dsn: str, options: PostgresOptions) -> Raw:
    """A new connection. Raises `OSError` (`TimeoutError`) or `asyncpg.PostgresError`."""
    idle_s, every_s, times = KEEP_ALIVE_S
    connection = await asyncpg.connect(
        dsn,
        timeout=options.connect_s,
        command_timeout=options.command_s,
        statement_cache_size=CACHED_STATEMENTS,
        server_settings={
            "idle_in_transaction_session_timeout": str(round(options.stalled_s * 1000)),
            # The other way round: PostgreSQL notices a dead process, and gives its rows and its place free.
            "tcp_keepalives_idle": str(idle_s),
            "tcp_keepalives_interval": str(every_s),
            "tcp_keepalives_count": str(times),
            "tcp_user_timeout": str(UNACKNOWLEDGED_MS),
        },
    )
    _keep_alive(connection)
    return connection


def _keep_alive(connection: Raw) -> None:
    found = connection._transport.get_extra_info("socket")  # asyncpg takes no socket options
    if found is None or found.family not in (socket.AF_INET, socket.AF_INET6):
        return
    wanted = {"TCP_KEEPIDLE": 0, "TCP_KEEPINTVL": 1, "TCP_KEEPCNT": 2}
    with suppress(OSError):  # a system that lacks one
        found.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, at in wanted.items():
            if hasattr(socket, name):
                found.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), KEEP_ALIVE_S[at])
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            found.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNACKNOWLEDGED_MS)


def driver_of(conn: sa.Connection) -> "asyncpg.Connection[Any]":
    """asyncpg's own connection below SQLAlchemy's."""
    driver: asyncpg.Connection[Any] = conn.connection.driver_connection
    return driver


class Connections:
    """The pool of one event loop: at most `options.pool_size` are in use, half of them stay open.

    When PostgreSQL refuses one because it has too many, transactions share the open ones in the order in which they
    came, and one at a time tries whether there is room again: a refusal costs PostgreSQL a process.
    """

    def __init__(self, dsn: str, options: PostgresOptions) -> None:
        self._dsn, self.options = dsn, options
        most = options.pool_size
        self.engine: AsyncEngine = create_async_engine(
            dsn.replace("postgresql://", "postgresql+asyncpg://", 1),
            async_creator=self._open,
            pool_size=(most + 1) // 2,
            max_overflow=most // 2,
            pool_use_lifo=True,  # few connections in use, so that each has prepared its statements
            isolation_level="AUTOCOMMIT",  # transactions are begun on the driver
        )
        self._limit, self._in_use = most, 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._probing: asyncio.TimerHandle | None = None
        self._all: WeakSet[Raw] = WeakSet()
        self._busy: dict[Raw, tuple[int, int]] = {}  # with the generation of its pool, and the number of its taking
        self._used_at: WeakKeyDictionary[Raw, float] = WeakKeyDictionary()
        self._generation = self._takes = 0

    async def take(self) -> tuple[AsyncConnection, Raw]:
        """A connection that answers, for one transaction; end it with `give_back`. Raises `StorageUnavailable` if there
        is none within `options.room_s`, or what opening one raises."""
        deadline = time.monotonic() + self.options.room_s
        while True:
            connection, raw = await self._next(deadline)
            if time.monotonic() - self._used_at.get(raw, 0.0) < IDLE_S or await self._answers(raw):
                return connection, raw
            # Its server may be another one by now, and so may that of the others.
            await self.give_back(connection, raw, is_dead=True)

    async def give_back(self, connection: AsyncConnection, raw: Raw, *, is_dead: bool = False) -> None:
        """The transaction has ended. `is_dead`: this connection was lost; all idle ones are reopened too, since the
        whole server may be gone."""
        generation, _ = self._busy.pop(raw, (-1, 0))
        try:
            if is_dead:
                raw.terminate()
                if generation == self._generation:
                    self.reopen_idle()
            if raw.is_closed() or raw.is_in_transaction() or generation != self._generation:
                await connection.invalidate()
            else:
                self._used_at[raw] = time.monotonic()
            await connection.close()
        finally:
            self._in_use -= 1
            self._admit()

    def suspect(self) -> None:
        """The way to PostgreSQL may be cut: close the connections that are not in use, and a little later those that
        have waited since now for an answer."""
        waiting = dict(self._busy)
        self.reopen_idle()
        asyncio.get_running_loop().call_later(self.options.answer_s, self._end, waiting)

    def _end(self, waiting: dict[Raw, tuple[int, int]]) -> None:
        for raw, taken in waiting.items():
            if self._busy.get(raw) == taken and not raw.is_closed():
                raw.terminate()

    def reopen_idle(self) -> None:
        """Close the connections that are not in use, without waiting for an answer."""
        self._generation += 1
        self.engine.sync_engine.dispose(close=False)
        for raw in [raw for raw in self._all if raw not in self._busy]:
            raw.terminate()

    async def aclose(self) -> None:
        """Close all connections. Safe to repeat."""
        if self._probing is not None:
            self._probing.cancel()
        await self.engine.dispose()

    async def _open(self) -> Raw:
        """For the pool."""
        raw = await connect(self._dsn, self.options)
        self._all.add(raw)
        self._used_at[raw] = time.monotonic()
        if self._limit < self.options.pool_size:  # there was room, so there may be more
            self._limit += 1
            self._admit()
        return raw

    async def _next(self, deadline: float) -> tuple[AsyncConnection, Raw]:
        was_refused = False
        while True:
            await self._enter(deadline, first=was_refused)
            try:
                connection = await self.engine.connect()
            except BaseException as error:
                self._in_use -= 1
                if not is_refusal(error):
                    self._admit()
                    raise
                self._limit, was_refused = self._in_use, True
                self._probe_later()
                continue
            raw = driver_of(connection.sync_connection)  # type: ignore[arg-type]  # it is open
            self._takes += 1
            self._busy[raw] = self._generation, self._takes
            return connection, raw

    async def _enter(self, deadline: float, *, first: bool) -> None:
        """Wait for a place, after all that came before; `first`: before them."""
        if self._in_use < self._limit and (first or not self._waiting):
            self._in_use += 1
            return
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if first:
            self._waiting.appendleft(place)
        else:
            self._waiting.append(place)
        try:
            async with asyncio.timeout(deadline - time.monotonic()):
                await place
        except BaseException as error:
            if place.done() and not place.cancelled():  # it was let in just now
                self._in_use -= 1
                self._admit()
            else:
                with suppress(ValueError):
                    self._waiting.remove(place)
            if isinstance(error, TimeoutError):
                message = "Too many transactions are waiting for PostgreSQL."
                raise StorageUnavailable(message, retry_after_s=1) from error
            raise

    def _admit(self) -> None:
        while self._waiting and self._in_use < self._limit:
            place = self._waiting.popleft()
            if not place.done():  # else its transaction was cancelled
                self._in_use += 1
                place.set_result(None)

    def _probe_later(self) -> None:
        if self._probing is None:
            wait_s = random.uniform(*PROBE_S)
            self._probing = asyncio.get_running_loop().call_later(wait_s, self._probe)

    def _probe(self) -> None:
        """Let one more in: it is refused, or opens the way for others."""
        self._probing = None
        self._limit = min(self._limit + 1, self.options.pool_size)
        self._admit()

    async def _answers(self, raw: Raw) -> bool:
        try:
            await raw.fetchval("SELECT 1", timeout=self.options.answer_s)
        except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
            return False
        return True


def is_refusal(error: BaseException) -> bool:
    """True if PostgreSQL has too many connections."""
    return isinstance(cause_of(error), asyncpg.TooManyConnectionsError)


def cause_of(error: BaseException | None) -> object:
    """asyncpg's own error inside SQLAlchemy's."""
    original = getattr(error, "orig", error)
    if isinstance(original, OSError):  # such as a `TimeoutError`, which comes from a cancellation
        return original
    return getattr(original, "__cause__", None) or original
