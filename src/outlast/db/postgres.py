"""PostgreSQL: the same transaction functions, run through asyncpg."""

import os
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, Concatenate, Final

import anyio
import asyncpg
import sqlalchemy as sa
from sqlalchemy.util import await_only

from outlast.base.clock import Clock, SystemClock
from outlast.base.errors import DiskFull, MalformedInput, OutlastError, StorageUnavailable
from outlast.base.records import dataclass
from outlast.db.database import Listener, P, T, Tx, publish_commit
from outlast.db.database_clock import DatabaseClock
from outlast.db.postgres_connections import Connections, Raw, cause_of, driver_of
from outlast.db.postgres_notices import Notices
from outlast.db.postgres_options import PostgresOptions
from outlast.db.prepared import PreparedStatements

DEADLOCKS: Final = 5  # how many times in a row a transaction is retried
RESET_S: Final = 5.0  # time limit of a rollback; then the connection is closed
_NOW: Final = "SELECT clock_timestamp()"
_RUN_AGAIN: Final = (
    asyncpg.DeadlockDetectedError,
    asyncpg.SerializationError,
    asyncpg.InvalidCachedStatementError,  # another server has changed the tables in the meantime
)


class PostgresDriver:
    """Runs compiled statements through asyncpg, which prepares each once per connection."""

    def fetch(
        self, conn: sa.Connection, sql: str, values: Sequence[Any], *, has_rows: bool
    ) -> tuple[Sequence[Any], int]:
        with _as_sqlalchemys(sql):
            if has_rows:
                rows: list[Any] = await_only(driver_of(conn).fetch(sql, *values))
                return rows, len(rows)
            status: str = await_only(driver_of(conn).execute(sql, *values))  # "UPDATE 1", or "SAVEPOINT"
        count = status.rpartition(" ")[2]
        return (), int(count) if count.isdecimal() else 0

    def run_many(self, conn: sa.Connection, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        with _as_sqlalchemys(sql):
            await_only(driver_of(conn).executemany(sql, rows))


@contextmanager
def _as_sqlalchemys(sql: str) -> Iterator[None]:
    """Raise asyncpg's errors as SQLAlchemy's."""
    try:
        yield
    except asyncpg.IntegrityConstraintViolationError as error:
        raise sa.exc.IntegrityError(sql, None, error) from error
    except asyncpg.SyntaxOrAccessError as error:
        raise sa.exc.ProgrammingError(sql, None, error) from error
    except asyncpg.InterfaceError as error:
        raise sa.exc.InterfaceError(sql, None, error) from error
    except asyncpg.PostgresError as error:
        raise sa.exc.DBAPIError(sql, None, error) from error


@dataclass(slots=True)
class _Attempt:
    """One run of a transaction. `begins`: a write; reads need no transaction, since each statement sees the rows that
    were committed when it began. `is_void`: nothing was committed; if its connection was lost, it is worth another."""

    begins: bool
    is_void: bool = False
    is_running: bool = False

    def lost(self, raw: Raw, error: BaseException) -> None:
        """It failed, and its connection was reset."""
        was_idle = isinstance(error.__cause__, asyncpg.IdleInTransactionSessionTimeoutError)
        was_slow = self.is_running and isinstance(cause_of(error), TimeoutError)  # it would be so again
        self.is_void = raw.is_closed() and (self.is_void or was_idle) and not was_slow


class PostgresDatabase:
    """A PostgreSQL database, by URL (`postgresql://user:password@host:port/name`). On the system's clock, the time of
    its transactions is the database's (`DatabaseClock`); a test's clock stays what it is."""

    dialect = "postgresql"

    def __init__(
        self, url: str, clock: Clock, options: PostgresOptions | None = None, *, measures_often: bool = False
    ) -> None:
        """`measures_often`: ask for the time before each transaction."""
        self._dsn = url.replace("postgresql+asyncpg://", "postgresql://")
        self._options = options = options or PostgresOptions()
        self.clock = DatabaseClock(clock, options.tolerated_s) if isinstance(clock, SystemClock) else clock
        self._measured = self.clock if isinstance(self.clock, DatabaseClock) else None
        self._measures_often = measures_often
        self._connections = Connections(self._dsn, options)
        self._notices = Notices(self._dsn, self._connections, self._measured, os.urandom(6).hex())
        self._prepared = PreparedStatements(self._connections.engine.dialect, PostgresDriver())

    async def write(self, fn: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        def run(conn: sa.Connection) -> tuple[T, Tx]:
            tx = Tx(conn, self.clock.now(), prepared=self._prepared)
            result = fn(tx, *args, **kwargs)
            tx.end()
            if tx.notices:
                await_only(self._notices.send(driver_of(conn), list(tx.notices)))
            return result, tx

        result, tx = await self._again(run)
        publish_commit(tx, self._notices.listeners)
        return result

    async def read(self, fn: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        def run(conn: sa.Connection) -> T:
            return fn(Tx(conn, self.clock.now(), prepared=self._prepared), *args, **kwargs)

        return await self._again(run, begins=False)

    def on_notice(self, listener: Listener) -> None:
        self._notices.listeners.append(listener)

    async def tell(self, messages: Sequence[str]) -> None:
        def run(conn: sa.Connection) -> None:
            await_only(self._notices.tell(driver_of(conn), messages))

        await self._again(run, begins=False)

    def on_message(self, listener: Listener) -> None:
        self._notices.on_message.append(listener)

    @asynccontextmanager
    async def in_thread(self) -> AsyncIterator["PostgresDatabase"]:
        """A pool of its own with one connection. It asks for the time before each transaction, of which there are
        few."""
        async with self._beside(measures_often=True) as mine:
            yield mine

    @asynccontextmanager
    async def patient(self) -> AsyncIterator["PostgresDatabase"]:
        """A pool of its own with one connection, whose statements have no time limit."""
        async with self._beside(command_s=None) as mine:
            yield mine

    async def background(self) -> None:
        """Listen for other processes' notices until cancelled."""
        await self._notices.receive()

    async def aclose(self) -> None:
        """Close the pool. Safe to repeat."""
        await self._connections.aclose()

    @asynccontextmanager
    async def _beside(self, *, measures_often: bool = False, **changes: Any) -> AsyncIterator["PostgresDatabase"]:
        options = replace(self._options, pool_size=1, **changes)
        mine = PostgresDatabase(self._dsn, self.clock, options, measures_often=measures_often)
        try:
            yield mine
        finally:
            with anyio.move_on_after(RESET_S, shield=True):
                await mine.aclose()

    async def _again(self, run: Callable[[sa.Connection], T], *, begins: bool = True) -> T:
        """Run the transaction, and retry it a few times after a deadlock, which rolled everything back, or if its
        connection was lost before the commit: PostgreSQL closes it when the event loop is blocked in between."""
        for _ in range(DEADLOCKS):
            attempt = _Attempt(begins)
            try:
                return await self._transact(run, attempt)
            except StorageUnavailable as error:
                if not attempt.is_void and not isinstance(cause_of(error.__cause__), _RUN_AGAIN):
                    raise
        return await self._transact(run, _Attempt(begins))

    async def _transact(self, run: Callable[[sa.Connection], T], attempt: "_Attempt") -> T:
        try:
            connection, raw = await self._connections.take()
            attempt.is_void, is_dead = True, False
            try:
                await self._begin(raw, attempt.begins)
                attempt.is_running = True
                result = await connection.run_sync(run)
                if attempt.begins:
                    attempt.is_void = raw.is_closed()  # from here on, a lost connection may have committed
                    await raw.execute("COMMIT")
                return result
            except BaseException as error:
                is_dead = await self._reset(raw, error)
                attempt.lost(raw, error)
                raise
            finally:
                with anyio.CancelScope(shield=True):
                    await self._connections.give_back(connection, raw, is_dead=is_dead)
        except OutlastError:
            raise
        except Exception as error:
            raise _translate(error) from error

    async def _begin(self, raw: Raw, begins: bool) -> None:
        try:
            clock, answer_s = self._measured, self._options.answer_s
            if clock is not None and (self._measures_often or clock.is_old):
                await clock.measure(partial(raw.fetchval, _NOW, timeout=answer_s))
            if begins:
                await raw.execute("BEGIN", timeout=answer_s)
        except TimeoutError:
            raw.terminate()  # it is dead, and nothing was begun: the transaction is run on another connection
            raise

    async def _reset(self, raw: Raw, error: BaseException) -> bool:
        """Roll back. True if the connection is lost: after a time-out, one that does not answer."""
        with anyio.move_on_after(RESET_S, shield=True):
            try:
                if not raw.is_closed() and raw.is_in_transaction():
                    await raw.execute("ROLLBACK")
                elif not raw.is_closed() and isinstance(error, TimeoutError):
                    await raw.fetchval("SELECT 1")
                return bool(raw.is_closed())
            except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError):
                pass
        return True


def _translate(error: Exception) -> Exception:
    cause = cause_of(error)
    if isinstance(cause, asyncpg.CharacterNotInRepertoireError):
        return MalformedInput("The input contains a NUL character.", hint="Remove it.")
    if isinstance(cause, asyncpg.DiskFullError):
        return DiskFull("PostgreSQL reports a full disk.", retry_after_s=10)
    if isinstance(cause, asyncpg.DeadlockDetectedError | asyncpg.SerializationError | asyncpg.TooManyConnectionsError):
        return StorageUnavailable("PostgreSQL asked to try the transaction again.", retry_after_s=0.1)
    if isinstance(error, sa.exc.TimeoutError):
        return StorageUnavailable("Too many transactions are waiting for PostgreSQL.", retry_after_s=1)
    lost = isinstance(
        cause,
        OSError
        | TimeoutError
        | asyncpg.PostgresConnectionError
        | asyncpg.CannotConnectNowError
        | asyncpg.AdminShutdownError
        | asyncpg.CrashShutdownError
        | asyncpg.IdleInTransactionSessionTimeoutError
        | asyncpg.InterfaceError
        # A statement on a connection that has just read the server's farewell, and not yet that it is closed
        | asyncpg.InternalClientError,
    )
    if lost or getattr(error, "connection_invalidated", False):
        return StorageUnavailable("PostgreSQL does not answer.", retry_after_s=1)
    return error
