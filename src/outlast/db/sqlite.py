"""SQLite: one writer thread with group commit, a few reader threads, WAL.

Sixteen writers on one SQLite file end in "database is locked"; one writer thread that commits all waiting changes at
once is 40 times faster than a transaction each through async Core, and cannot lock itself out. With `synchronous=FULL`,
acknowledged writes survive a power failure. Memory: the queue of waiting transaction functions, bounded by `MAX_QUEUE`.
"""

import asyncio
import os
import queue
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Concatenate, Final

import sqlalchemy as sa

from outlast.base.clock import Clock
from outlast.base.errors import DatabaseDamaged, DiskFull, OutlastError, StorageUnavailable
from outlast.base.records import dataclass
from outlast.db.database import Listener, P, T, Tx, publish_commit
from outlast.db.prepared import PreparedStatements

GROUP_LIMIT: Final = 256  # transaction functions in one commit
MAX_QUEUE: Final = 20_000
READERS: Final = 2
MAX_CHECKED_BYTES: Final = 64 * 1024 * 1024  # the largest database that is checked after an unclean stop
_DAMAGED: Final = (
    "SQLITE_CORRUPT",
    "SQLITE_NOTADB",
    "SQLITE_IOERR_SHORT_READ",
    "SQLITE_IOERR_READ",
    "SQLITE_IOERR_CORRUPTFS",
)
_FULL: Final = ("SQLITE_FULL", "SQLITE_IOERR")
_UNAVAILABLE: Final = ("SQLITE_LOCKED", "SQLITE_BUSY", "SQLITE_CANTOPEN", "SQLITE_READONLY", "SQLITE_PROTOCOL")


def driver_of(conn: sa.Connection) -> sqlite3.Connection:
    """SQLite's own connection below SQLAlchemy's."""
    driver: sqlite3.Connection = conn.connection.dbapi_connection  # type: ignore[assignment]
    return driver


class SqliteDriver:
    """Runs compiled statements through the standard library's module."""

    def fetch(
        self, conn: sa.Connection, sql: str, values: Sequence[Any], *, has_rows: bool
    ) -> tuple[Sequence[Any], int]:
        try:
            cursor = driver_of(conn).execute(sql, values)
            return cursor.fetchall() if has_rows else (), cursor.rowcount
        except sqlite3.IntegrityError as error:
            raise sa.exc.IntegrityError(sql, None, error) from error

    def run_many(self, conn: sa.Connection, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        try:
            driver_of(conn).executemany(sql, rows)
        except sqlite3.IntegrityError as error:
            raise sa.exc.IntegrityError(sql, None, error) from error


@dataclass(slots=True)
class _Job:
    call: Callable[[Tx], Any]
    future: asyncio.Future[Any]
    tx: Tx | None = None
    result: Any = None
    error: BaseException | None = None


class SqliteDatabase:
    """A database file, opened once per process. `path` may be ":memory:" only for a single test. Raises
    `DatabaseDamaged`, `DiskFull`, `StorageUnavailable`."""

    dialect = "sqlite"

    def __init__(self, path: Path, clock: Clock) -> None:
        self.path = path
        self.clock = clock
        self._listeners: list[Listener] = []
        self._writes: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._reads: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        _keep_private(path)
        self._engine = _engine(path)
        self._read_engine = _engine(path, "query_only=ON")
        self._prepared = PreparedStatements(self._engine.dialect, SqliteDriver())
        # Opened here, one after the other: only one connection may switch the file to WAL.
        try:
            writer = self._engine.connect()
            readers = [self._read_engine.connect() for _ in range(READERS)]
        except Exception as error:
            raise _translate(error) from error
        self._threads = [threading.Thread(target=self._write_loop, args=(writer,), name="sqlite-writer", daemon=True)]
        self._threads += [
            threading.Thread(target=self._read_loop, args=(reader,), name=f"sqlite-reader-{n}", daemon=True)
            for n, reader in enumerate(readers)
        ]
        self._closed = False
        for thread in self._threads:
            thread.start()

    async def write(self, fn: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._submit(self._writes, lambda tx: fn(tx, *args, **kwargs))

    async def read(self, fn: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._submit(self._reads, lambda tx: fn(tx, *args, **kwargs))

    def on_notice(self, listener: Listener) -> None:
        self._listeners.append(listener)

    async def tell(self, messages: Sequence[str]) -> None:
        """Do nothing: there is no other process."""

    def on_message(self, listener: Listener) -> None:
        """Do nothing, as `tell`."""

    @asynccontextmanager
    async def in_thread(self) -> AsyncIterator["SqliteDatabase"]:
        """This one: its threads serve every event loop, and a second writer would have to wait for the first."""
        yield self

    @asynccontextmanager
    async def patient(self) -> AsyncIterator["SqliteDatabase"]:
        """This one: its statements have no time limit."""
        yield self

    async def background(self) -> None:
        """Do nothing: one process holds the file, so notices stay in memory."""

    async def aclose(self) -> None:
        """Finish the submitted jobs, then stop the threads, the writer last: the last connection to close moves
        SQLite's log into the file, and if two close together, neither does. Safe to repeat."""
        if self._closed:
            return
        self._closed = True
        loop = asyncio.get_running_loop()
        for _ in range(READERS):
            self._reads.put(None)
        writer, *readers = self._threads
        for thread in readers:
            await loop.run_in_executor(None, thread.join)
        self._writes.put(None)
        await loop.run_in_executor(None, writer.join)
        self._engine.dispose()
        self._read_engine.dispose()

    async def _submit(self, target: "queue.SimpleQueue[_Job | None]", call: Callable[[Tx], T]) -> T:
        if self._closed:
            raise StorageUnavailable("The database is closed: the server is stopping.")
        if target.qsize() > MAX_QUEUE:
            raise StorageUnavailable("Too many transactions are waiting for the database.", retry_after_s=1)
        job = _Job(call, asyncio.get_running_loop().create_future())
        target.put(job)
        result: T = await job.future
        return result

    def _write_loop(self, connection: sa.Connection) -> None:
        with connection as conn:
            while True:
                jobs = _take(self._writes)
                if jobs is None:
                    return
                self._commit_group(conn, jobs)
                _deliver(jobs, self._listeners)

    def _commit_group(self, conn: sa.Connection, jobs: list[_Job]) -> None:
        """Run each job in a savepoint of one transaction; a job that fails undoes only itself. A single job needs no
        savepoint."""
        driver = driver_of(conn)
        try:
            with _begun(driver, "IMMEDIATE"):
                for job in jobs:
                    _run_job(conn, job, self.clock, self._prepared, "job" if len(jobs) > 1 else None)
                driver.execute("ROLLBACK" if all(job.error for job in jobs) else "COMMIT")
        except Exception as error:  # the commit itself failed: no job's change was saved
            for job in jobs:
                if job.error is None:
                    job.error = _translate(error)

    def _read_loop(self, connection: sa.Connection) -> None:
        with connection as conn:
            driver = driver_of(conn)
            while (job := self._reads.get()) is not None:
                try:
                    with _begun(driver, "DEFERRED"):
                        job.tx = Tx(conn, self.clock.now(), prepared=self._prepared)
                        job.result = job.call(job.tx)
                except Exception as error:
                    job.error = _translate(error)
                _deliver([job], self._listeners)


@contextmanager
def _begun(driver: sqlite3.Connection, kind: str) -> Iterator[None]:
    """A transaction, rolled back unless the block commits it. One that could not be rolled back on a failing disk is
    rolled back before the next."""
    if driver.in_transaction:
        driver.execute("ROLLBACK")
    driver.execute(f"BEGIN {kind}")
    try:
        yield
    finally:
        if driver.in_transaction:
            driver.execute("ROLLBACK")


def _keep_private(path: Path) -> None:
    """Let only the server's user read the file and its WAL files: SQLite gives these the mode of the file. An existing
    file is not opened, because closing it would release the locks of a connection in this process."""
    with suppress(OSError):  # SQLite reports the problem
        if not path.exists() and str(path) != ":memory:":
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        for file in (path, *(path.with_name(path.name + end) for end in ("-wal", "-shm"))):
            if file.exists():
                file.chmod(0o600)


def _engine(path: Path, *pragmas: str) -> sa.Engine:
    engine = sa.create_engine(
        f"sqlite:///{path}",
        poolclass=sa.pool.NullPool,
        isolation_level="AUTOCOMMIT",  # transactions are begun on the driver
        connect_args={"check_same_thread": False, "timeout": 10, "cached_statements": 512},
    )

    @sa.event.listens_for(engine, "connect")
    def configure(connection: Any, _record: Any) -> None:
        for pragma in (
            "busy_timeout=10000",
            "journal_mode=WAL",
            "synchronous=FULL",
            "foreign_keys=ON",
            "cache_size=-4000",
            *pragmas,
        ):
            connection.execute(f"PRAGMA {pragma}")

    return engine


def _take(jobs: "queue.SimpleQueue[_Job | None]") -> list[_Job] | None:
    first = jobs.get()
    if first is None:
        return None
    group = [first]
    while len(group) < GROUP_LIMIT:
        try:
            job = jobs.get_nowait()
        except queue.Empty:
            break
        if job is None:
            jobs.put(None)
            break
        group.append(job)
    return group


def _run_job(conn: sa.Connection, job: _Job, clock: Clock, prepared: PreparedStatements, savepoint: str | None) -> None:
    """Run one job of a transaction. Raises what ends the whole transaction; other errors are the job's."""
    driver = driver_of(conn)
    if savepoint:
        driver.execute(f"SAVEPOINT {savepoint}")
    try:
        job.tx = Tx(conn, clock.now(), prepared=prepared)
        job.result = job.call(job.tx)
        job.tx.end()
        if savepoint:
            driver.execute(f"RELEASE {savepoint}")
    except Exception as error:
        job.error = _translate(error)
        if not driver.in_transaction:  # a full disk makes SQLite undo the whole transaction
            raise
        if savepoint:
            driver.execute(f"ROLLBACK TO {savepoint}")
            driver.execute(f"RELEASE {savepoint}")


def find_damage(file: Path, *, thorough: bool = False, unchanging: bool = False) -> list[str]:
    """The damage that SQLite finds in a file, at most five lines; empty if it is intact. A quick check reads every
    page, a thorough one also compares tables with their indexes. `unchanging`: no process writes to the file, and
    nothing is written beside it. Blocks."""
    check = "integrity_check" if thorough else "quick_check"
    mode = "mode=ro&immutable=1" if unchanging else "mode=rw"
    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?{mode}", uri=True)) as connection:
            found = [str(row[0]) for row in connection.execute(f"PRAGMA {check}(5)")]
    except sqlite3.Error as error:
        found = [str(error)]
    return [] if found == ["ok"] else found


def demand_whole(file: Path) -> None:
    """Raise `DatabaseDamaged` if SQLite finds damage after a crash of the program or the machine. A large file is left
    to `outlast doctor`: checking it takes seconds. Blocks."""
    if file.stat().st_size <= MAX_CHECKED_BYTES and (damage := find_damage(file)):
        raise DatabaseDamaged(f"The database {file} is damaged: {'; '.join(damage)}.")


def _translate(error: Exception) -> Exception:
    """Turn storage failures into the error tree's; every other exception is left unchanged, except `StopIteration`,
    which a future does not accept."""
    if isinstance(error, StopIteration):
        wrong = RuntimeError("the transaction function raised StopIteration")
        wrong.__cause__ = error
        return wrong
    original = getattr(error, "orig", error)
    if isinstance(error, OutlastError) or not isinstance(original, sqlite3.DatabaseError):
        return error
    name, text = getattr(original, "sqlite_errorname", None) or "", str(original)
    if name.startswith(_DAMAGED) or "Could not decode to UTF-8" in text:
        return DatabaseDamaged(f"The database file is damaged: {text}.", retry_after_s=60)
    if name.startswith(_FULL):
        return DiskFull(f"The database could not be written: {text}.", retry_after_s=10)
    if name.startswith(_UNAVAILABLE):
        return StorageUnavailable(f"The database could not be used: {text}.", retry_after_s=1)
    return error


def _deliver(jobs: list[_Job], listeners: Sequence[Listener]) -> None:
    for loop in {job.future.get_loop() for job in jobs}:
        mine = [job for job in jobs if job.future.get_loop() is loop]
        with suppress(RuntimeError):  # the loop is closed: no caller waits
            loop.call_soon_threadsafe(_resolve, mine, listeners)


def _resolve(jobs: list[_Job], listeners: Sequence[Listener]) -> None:
    for job in jobs:
        if job.error is None and job.tx is not None:
            publish_commit(job.tx, listeners)
        if job.future.done():
            continue
        if job.error is None:
            job.future.set_result(job.result)
        else:
            job.future.set_exception(job.error)
