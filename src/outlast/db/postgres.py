"""PostgreSQL: the same transaction functions, run through asyncpg; NOTIFY only wakes listeners and carries no data."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Concatenate, Final

import anyio
import asyncpg
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine
from sqlalchemy.util import await_only

from outlast.base.clock import Clock
from outlast.base.errors import DiskFull, MalformedInput, OutlastError, StorageUnavailable
from outlast.base.records import dataclass
from outlast.db.database import Listener, P, T, Tx, publish_commit, ring_all
from outlast.db.prepared import PreparedStatements

CHANNEL: Final = "outlast"
MESSAGES: Final = "outlast_messages"
POOL_SIZE: Final = 10
POOL_WAIT_S: Final = 10.0  # how long a transaction waits for a connection
RECONNECT_S: Final = 1.0
# A process that was stopped or cut off in the middle of a transaction must not hold its rows forever: another process
# takes over its runs. No transaction here waits for anything but the database.
STALLED_MS: Final = 10_000
DEADLOCKS: Final = 5  # how many times in a row a transaction is retried
RESET_S: Final = 5.0  # time limit of a rollback; then the connection is closed
CACHED_STATEMENTS: Final = 1_000  # of a connection: more than the stores have
_NOTIFY: Final = "SELECT pg_notify($1, payload) FROM unnest($2::text[]) AS payload"
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


def driver_of(conn: sa.Connection) -> "asyncpg.Connection[Any]":
    """asyncpg's own connection below SQLAlchemy's."""
    driver: asyncpg.Connection[Any] = conn.connection.driver_connection
    return driver


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
    """One run of a transaction. `is_void`: its connection was lost, and nothing was committed."""

    is_void: bool = False


class PostgresDatabase:
    """A PostgreSQL database, by URL (`postgresql://user:password@host:port/name`)."""

    dialect = "postgresql"

    def __init__(self, url: str, clock: Clock, pool_size: int | None = None) -> None:
        self._dsn = url.replace("postgresql+asyncpg://", "postgresql://")
        self._clock = clock
        self._listeners: list[Listener] = []
        self._on_message: list[Listener] = []
        self._me = os.urandom(6).hex()
        self._engine = create_async_engine(
            self._dsn.replace("postgresql://", "postgresql+asyncpg://", 1),
            pool_size=pool_size or POOL_SIZE,
            max_overflow=pool_size or POOL_SIZE,
            pool_timeout=POOL_WAIT_S,
            pool_use_lifo=True,  # few connections in use, so that each has prepared its statements
            isolation_level="AUTOCOMMIT",  # transactions are begun on the driver
            connect_args={
                "server_settings": {"idle_in_transaction_session_timeout": str(STALLED_MS)},
                "statement_cache_size": CACHED_STATEMENTS,
            },
        )
        self._prepared = PreparedStatements(self._engine.dialect, PostgresDriver())

    async def write(self, fn: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        def run(conn: sa.Connection) -> tuple[T, Tx]:
            tx = Tx(conn, self._clock.now(), prepared=self._prepared)
            result = fn(tx, *args, **kwargs)
            tx.end()
            if tx.notices:
                payloads = [f"{self._me} {stream_id}" for stream_id in tx.notices]
                await_only(driver_of(conn).execute(_NOTIFY, CHANNEL, payloads))
            return result, tx

        result, tx = await self._again(run)
        publish_commit(tx, self._listeners)
        return result

    async def read(self, fn: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        def run(conn: sa.Connection) -> T:
            return fn(Tx(conn, self._clock.now(), prepared=self._prepared), *args, **kwargs)

        return await self._transact(run)

    def on_notice(self, listener: Listener) -> None:
        self._listeners.append(listener)

    async def tell(self, messages: Sequence[str]) -> None:
        def run(conn: sa.Connection) -> None:
            await_only(driver_of(conn).execute(_NOTIFY, MESSAGES, [f"{self._me} {text}" for text in messages]))

        await self._transact(run)

    def on_message(self, listener: Listener) -> None:
        self._on_message.append(listener)

    @asynccontextmanager
    async def in_thread(self) -> AsyncIterator["PostgresDatabase"]:
        """A pool of its own with one connection."""
        mine = PostgresDatabase(self._dsn, self._clock, pool_size=1)
        try:
            yield mine
        finally:
            with anyio.move_on_after(RESET_S, shield=True):
                await mine.aclose()

    async def background(self) -> None:
        """Listen for other processes' notices until cancelled; a lost connection is reopened, and then all streams are
        notified once, since notices may have been missed."""
        while True:
            try:
                connection = await asyncpg.connect(self._dsn)
            except (OSError, asyncpg.PostgresError):
                await anyio.sleep(RECONNECT_S)
                continue
            lost = asyncio.Event()
            connection.add_termination_listener(lambda *_, lost=lost: lost.set())
            try:
                await connection.add_listener(CHANNEL, self._heard)
                await connection.add_listener(MESSAGES, self._heard_message)
                ring_all(self._listeners, "*")
                await lost.wait()
            except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
                pass
            finally:
                with anyio.move_on_after(1, shield=True):
                    if not connection.is_closed():
                        await connection.close()
            await anyio.sleep(RECONNECT_S)

    async def aclose(self) -> None:
        """Close the pool. Safe to repeat."""
        await self._engine.dispose()

    async def _again(self, run: Callable[[sa.Connection], T]) -> T:
        """Run the transaction, and retry it a few times after a deadlock, which rolled everything back, or if its
        connection was lost before the commit: PostgreSQL closes it when the event loop is blocked in between."""
        for _ in range(DEADLOCKS):
            attempt = _Attempt()
            try:
                return await self._transact(run, attempt)
            except StorageUnavailable as error:
                if not attempt.is_void and not isinstance(_cause(error.__cause__), _RUN_AGAIN):
                    raise
        return await self._transact(run, _Attempt())

    async def _transact(self, run: Callable[[sa.Connection], T], attempt: "_Attempt | None" = None) -> T:
        """Run a transaction. Reads (no `attempt`) need none: each statement sees the rows that were committed when it
        began."""
        try:
            async with self._engine.connect() as connection:
                raw: Any = (await connection.get_raw_connection()).driver_connection
                try:
                    if attempt is None:
                        return await connection.run_sync(run)
                    attempt.is_void = True
                    await raw.execute("BEGIN")
                    result = await connection.run_sync(run)
                    attempt.is_void = raw.is_closed()  # from here on, a lost connection may have committed
                    await raw.execute("COMMIT")
                    return result
                except BaseException as error:
                    await self._reset(connection, raw)
                    if attempt is not None:
                        was_idle = isinstance(error.__cause__, asyncpg.IdleInTransactionSessionTimeoutError)
                        attempt.is_void = raw.is_closed() and (attempt.is_void or was_idle)
                    raise
        except OutlastError:
            raise
        except Exception as error:
            raise _translate(error) from error

    async def _reset(self, connection: AsyncConnection, raw: Any) -> None:
        """Roll back. A connection that is lost or still in the transaction is not reused; after a lost one, all others
        of the pool are reopened too, since the whole server may have been down."""
        with anyio.CancelScope(shield=True):
            with anyio.move_on_after(RESET_S):
                try:
                    if raw.is_in_transaction():
                        await raw.execute("ROLLBACK")
                except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
                    pass  # it is lost
            is_lost = raw.is_closed()
            if is_lost or raw.is_in_transaction():
                await connection.invalidate()
            if is_lost:
                await self._engine.dispose()

    def _heard(self, _connection: object, _pid: int, _channel: str, payload: object) -> None:
        sender, _, stream_id = str(payload).partition(" ")
        if sender != self._me:
            ring_all(self._listeners, stream_id)

    def _heard_message(self, _connection: object, _pid: int, _channel: str, payload: object) -> None:
        sender, _, message = str(payload).partition(" ")
        if sender != self._me:
            ring_all(self._on_message, message)


def _cause(error: BaseException | None) -> object:
    """asyncpg's own error inside SQLAlchemy's."""
    original = getattr(error, "orig", error)
    return getattr(original, "__cause__", None) or original


def _translate(error: Exception) -> Exception:
    cause = _cause(error)
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
        | asyncpg.InterfaceError,
    )
    if lost or getattr(error, "connection_invalidated", False):
        return StorageUnavailable("PostgreSQL does not answer.", retry_after_s=1)
    return error
