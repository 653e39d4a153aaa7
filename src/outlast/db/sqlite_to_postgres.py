"""Moves a database: copies every row of an SQLite file into an empty PostgreSQL database, and proves it.

The whole copy is one transaction of PostgreSQL, and the SQLite file is locked for other writers meanwhile. A copy that
fails, is killed or loses a connection therefore leaves tables without rows, which the next one fills. Memory is bounded
by the largest row: rows go through a buffer of half a megabyte.
"""

import sqlite3
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager, closing, contextmanager
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any, Final

import asyncpg

from outlast.base.clock import Clock
from outlast.base.node_errors import DatabaseNotMoved
from outlast.base.records import dataclass
from outlast.db.connect import COMPATIBLE_FROM, MIGRATING, VERSIONS, migrate, oldest_beside, open_database
from outlast.db.row_sums import RowSum
from outlast.db.tables import meta

CONNECT_S: Final = 10.0
PROGRESS_S: Final = 1.0
AT_ONCE: Final = 200  # rows that are read back at a time
MAX_REASON: Final = 300
Progress = Callable[[str, str, int, int], None]
"""Called about once a second while it lasts: "copying" or "verifying", the table, rows so far, rows in all."""
UNLIMITED: Final = {
    "application_name": "outlast migrate",
    "idle_in_transaction_session_timeout": "0",
    "statement_timeout": "0",
    "lock_timeout": "5000",
}
TABLES: Final = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema() ORDER BY tablename"
REFERENCES: Final = """
SELECT child.relname, parent.relname FROM pg_constraint
JOIN pg_class child ON child.oid = conrelid JOIN pg_class parent ON parent.oid = confrelid
WHERE contype = 'f' AND connamespace = current_schema()::regnamespace
"""
COLUMNS: Final = """
SELECT attname, format_type(atttypid, NULL) AS type, pg_get_serial_sequence(quote_ident(relname), attname) AS numbers
FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
WHERE relname = $1 AND relnamespace = current_schema()::regnamespace AND attnum > 0 AND NOT attisdropped
ORDER BY attnum
"""


@dataclass(frozen=True, slots=True)
class MovedTable:
    """A table, its rows, and the checksums of what was read from SQLite and of what PostgreSQL then returned."""

    name: str
    rows: int
    sqlite: str
    postgresql: str


@dataclass(frozen=True, slots=True)
class _Table:
    """A table of the target. `flags`: places of the columns that are boolean; `numbers`: columns with a sequence."""

    name: str
    columns: tuple[str, ...]
    flags: tuple[int, ...]
    numbers: tuple[tuple[str, str], ...]

    @property
    def selected(self) -> str:
        return f"SELECT {', '.join(map(quoted, self.columns))} FROM {quoted(self.name)}"


async def move(source: Path, target: str, clock: Clock, progress: Progress) -> list[MovedTable]:
    """Copy the SQLite file `source`, which has all tables of this version, into the PostgreSQL database `target`, whose
    tables are created. Returns the tables in the order in which they were copied.

    Raises `DatabaseNotMoved`: the target does not answer, is not empty, is used by another process, or a value cannot
    be stored there; no row is there then. A cancelled call leaves no row either, unless it had ended.
    """
    async with _connected(target) as connection:
        await _demand_unused(connection, source)
    database = open_database(target, source.parent, clock)
    try:
        await migrate(database)
    finally:
        await database.aclose()
    async with _connected(target) as connection:
        with _read(source) as reader:
            async with connection.transaction():
                return await _Move(reader, connection, progress).run(source)


class _Move:
    def __init__(self, reader: sqlite3.Connection, connection: "asyncpg.Connection[Any]", progress: Progress) -> None:
        self._reader, self._connection, self._progress = reader, connection, progress
        self._shown_at = time.monotonic()

    async def run(self, source: Path) -> list[MovedTable]:
        if not await self._connection.fetchval("SELECT pg_try_advisory_xact_lock($1::bigint)", MIGRATING):
            raise DatabaseNotMoved("Another process is preparing the target: a server that starts, or a second move.")
        await _demand_unused(self._connection, source)
        tables = [self._checked(await _table(self._connection, name)) for name in await _in_order(self._connection)]
        names = ", ".join(quoted(table.name) for table in tables)
        await self._connection.execute(f"LOCK TABLE {names} IN EXCLUSIVE MODE")
        await self._connection.execute(f"DELETE FROM meta WHERE key = '{COMPATIBLE_FROM}'")  # the migrations' own
        sums = [await self._copy(table) for table in tables]
        found = [await self._verify(table, copied) for table, copied in zip(tables, sums, strict=True)]
        await self._connection.execute(
            "INSERT INTO meta VALUES ($1, $2) ON CONFLICT DO NOTHING", COMPATIBLE_FROM, oldest_beside()
        )
        return found

    def _checked(self, table: _Table) -> _Table:
        """The table, if SQLite has it with the same columns."""
        found = {row[1] for row in self._reader.execute(f"PRAGMA table_info({quoted(table.name)})")}
        if found != set(table.columns):
            raise DatabaseNotMoved(f"The two databases have different columns in the table {table.name}.")
        return table

    async def _copy(self, table: _Table) -> RowSum:
        copied = RowSum()
        total = self._reader.execute(f"SELECT count(*) FROM {quoted(table.name)}").fetchone()[0]
        try:
            async with aclosing(self._rows(table, copied, total)) as rows:
                await self._connection.copy_records_to_table(table.name, columns=table.columns, records=rows)
        except (asyncpg.DataError, asyncpg.IntegrityConstraintViolationError, ValueError, TypeError) as error:
            where = getattr(error, "context", None) or f"table {table.name}"
            raise DatabaseNotMoved(
                f"PostgreSQL cannot store a row ({where}): {str(error)[:MAX_REASON]}.",
                hint="Correct or delete this row in the SQLite file, and repeat the command.",
                table=table.name,
            ) from error
        for column, sequence in table.numbers:
            newest = f"max({quoted(column)})"
            await self._connection.execute(
                f"SELECT setval('{sequence}', greatest({newest}, 1), {newest} IS NOT NULL) FROM {quoted(table.name)}"
            )
        return copied

    async def _rows(self, table: _Table, copied: RowSum, total: int) -> AsyncGenerator[Sequence[Any], None]:
        with closing(self._reader.execute(table.selected)) as found:
            for row in found:
                copied.add(row)
                self._show("copying", table.name, copied.rows, total)
                yield _stored(table, row)

    async def _verify(self, table: _Table, copied: RowSum) -> MovedTable:
        """Read the rows back, and compare. Raises `DatabaseNotMoved` if they differ."""
        found = RowSum()
        async for row in self._connection.cursor(table.selected, prefetch=AT_ONCE):
            found.add(tuple(row))
            self._show("verifying", table.name, found.rows, copied.rows)
        if (found.rows, found.hex) != (copied.rows, copied.hex):
            raise DatabaseNotMoved(
                f"The table {table.name} differs after copying: {copied.rows} rows with the checksum {copied.hex} "
                f"in SQLite, {found.rows} with {found.hex} in PostgreSQL.",
                hint="This is a bug in Outlast, or the table has values of a wrong type. Please report it.",
                table=table.name,
            )
        return MovedTable(table.name, copied.rows, copied.hex, found.hex)

    def _show(self, what: str, table: str, rows: int, total: int) -> None:
        if (now := time.monotonic()) - self._shown_at >= PROGRESS_S:
            self._shown_at = now
            self._progress(what, table, rows, total)


def quoted(name: str) -> str:
    """A name as SQL, for both databases."""
    return '"' + name.replace('"', '""') + '"'


def _stored(table: _Table, row: Sequence[Any]) -> Sequence[Any]:
    """A row of SQLite as PostgreSQL's types want it. Raises `DatabaseNotMoved` for a NUL character."""
    for place, value in enumerate(row):
        if isinstance(value, str) and "\x00" in value:
            column = table.columns[place]
            raise DatabaseNotMoved(
                f"The column {column} of the table {table.name} has a text with a NUL character, which PostgreSQL "
                f"cannot store ({table.columns[0]} {str(row[0])[:60]}).",
                hint=f"Remove it in the SQLite file: UPDATE {table.name} SET {column} = replace({column}, char(0), '') "
                f"WHERE instr({column}, char(0)).",
                table=table.name,
            )
    if not table.flags:
        return row
    values = list(row)
    for place in table.flags:
        if values[place] is not None:
            values[place] = bool(values[place])
    return values


async def _in_order(connection: "asyncpg.Connection[Any]") -> list[str]:
    """Outlast's tables, each after those that it refers to."""
    graph: dict[str, set[str]] = {row[0]: set() for row in await connection.fetch(TABLES)}
    graph.pop(VERSIONS.name, None)
    for child, parent in await connection.fetch(REFERENCES):
        if child != parent:  # the rows of one COPY may refer to each other
            graph[child].add(parent)
    return list(TopologicalSorter(graph).static_order())


async def _table(connection: "asyncpg.Connection[Any]", name: str) -> _Table:
    columns = await connection.fetch(COLUMNS, name)
    return _Table(
        name=name,
        columns=tuple(column["attname"] for column in columns),
        flags=tuple(place for place, column in enumerate(columns) if column["type"] == "boolean"),
        numbers=tuple((column["attname"], column["numbers"]) for column in columns if column["numbers"]),
    )


async def _demand_unused(connection: "asyncpg.Connection[Any]", source: Path) -> None:
    """Raise `DatabaseNotMoved` unless the target has no tables, or Outlast's without a row."""
    names = [row[0] for row in await connection.fetch(TABLES)]
    if names and VERSIONS.name not in names:
        raise DatabaseNotMoved(
            f"The target has tables of another program ({names[0]}).", hint="Create a database for Outlast alone."
        )
    for name in names:
        noted = f" WHERE key <> '{COMPATIBLE_FROM}'" if name == meta.name else ""
        rows = f"SELECT EXISTS (SELECT FROM {quoted(name)}{noted})"
        if name != VERSIONS.name and await connection.fetchval(rows):
            raise DatabaseNotMoved(
                f"The target is not empty: its table {name} has rows.",
                hint=f"If an earlier move of {source} has completed, set database.url to the target. Otherwise drop "
                "that database and create it again.",
                table=name,
            )


@contextmanager
def _read(source: Path) -> Iterator[sqlite3.Connection]:
    """The file as it is now; until the end no process can write to it."""
    try:
        with closing(
            sqlite3.connect(f"{source.absolute().as_uri()}?mode=rw", uri=True, isolation_level=None)
        ) as reader:
            reader.execute("BEGIN IMMEDIATE")
            yield reader
            reader.execute("ROLLBACK")
    except sqlite3.Error as error:
        raise DatabaseNotMoved(f"The database {source} cannot be read: {error}.") from error


@asynccontextmanager
async def _connected(target: str) -> "AsyncIterator[asyncpg.Connection[Any]]":
    try:
        with _reasons():
            connection = await asyncpg.connect(target, timeout=CONNECT_S, server_settings=UNLIMITED)
    except (asyncpg.InterfaceError, ValueError):
        raise DatabaseNotMoved(
            "The target's address cannot be read.",
            hint="Write postgresql://USER:PASSWORD@HOST:PORT/NAME, special characters of the password as %XX.",
        ) from None
    try:
        with _reasons():
            yield connection
    except asyncpg.InterfaceError as error:  # it was closed meanwhile
        raise _lost(error) from error
    finally:
        connection.terminate()  # also rolls back


@contextmanager
def _reasons() -> Iterator[None]:
    """Raise errors of the connection as `DatabaseNotMoved`. No message repeats the address, which has a password."""
    try:
        yield
    except (
        asyncpg.PostgresConnectionError,
        asyncpg.AdminShutdownError,
        asyncpg.CrashShutdownError,
        asyncpg.CannotConnectNowError,
        OSError,
        TimeoutError,
    ) as error:
        raise _lost(error) from error
    except asyncpg.LockNotAvailableError as error:
        raise DatabaseNotMoved(
            "Another process uses the target.", hint="Stop servers and workers whose database.url names it."
        ) from error
    except asyncpg.PostgresError as error:
        raise DatabaseNotMoved(f"PostgreSQL refuses: {str(error)[:MAX_REASON]}.") from error


def _lost(error: Exception) -> DatabaseNotMoved:
    return DatabaseNotMoved(
        f"PostgreSQL does not answer, or the connection was lost ({str(error)[:MAX_REASON] or 'no answer'}).",
        hint="Check its host, port and firewall. Nothing was copied: repeat the command.",
    )
