"""Access to the database: transaction functions, run on SQLite or on PostgreSQL.  `await database.write(fn, …)` runs
`fn(tx, …)` in its own transaction and returns its result, once that is durable; `read` does the same, read-only. `fn`
is synchronous, must not block on anything but the database, and may be run again after a lost connection, so it has no
effects besides its queries and `tx.after_commit`.
"""

import logging
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import field
from datetime import datetime
from typing import Any, Concatenate, Final, NamedTuple, ParamSpec, Protocol, TypeVar

import sqlalchemy as sa

from outlast.base.clock import Clock
from outlast.base.records import dataclass
from outlast.db.lock_order import RowLocks, locks_of_transaction
from outlast.db.prepared import (
    Prepared,
    PreparedStatements,
    insert_into,
    insert_missing_into,
    maker_of,
    reader_of,
    select_by,
    update_by,
)

P = ParamSpec("P")
R = TypeVar("R", bound=NamedTuple)
T = TypeVar("T")
log: Final = logging.getLogger("outlast.database")


@dataclass(slots=True)
class Tx:
    """An open transaction: the connection, the time it began (UTC), and the hooks to run after the commit."""

    conn: sa.Connection
    now: datetime
    hooks: list[Callable[[], None]] = field(default_factory=list)
    notices: set[str] = field(default_factory=set)
    prepared: PreparedStatements | None = None
    endings: list[Callable[[], None]] = field(default_factory=list)
    kept: dict[Any, list[Any]] = field(default_factory=dict)  # what modules keep for their endings
    locks: RowLocks | None = field(default_factory=locks_of_transaction)

    @property
    def shares_rows(self) -> bool:
        """True if other transactions write at the same time, so that rows must be held; SQLite has a single writer.
        True in debug mode too, which checks the order of what is held."""
        return self.locks is not None or self.conn.dialect.name != "sqlite"

    def after_commit(self, hook: Callable[[], None]) -> None:
        """Run `hook` on the event loop after the commit, and not at all if the transaction fails. Its exceptions are
        only logged: the transaction is durable."""
        self.hooks.append(hook)

    def before_commit(self, ending: Callable[[], None]) -> None:
        """Run `ending` in the transaction, after everything else. If it raises, the transaction fails."""
        self.endings.append(ending)

    def end(self) -> None:
        """The transaction's function has returned: run what waits for this."""
        for ending in self.endings:
            ending()

    def ring(self, stream_id: str) -> None:
        """Wake all waiting followers of this stream, in this and every other process, after the commit."""
        self.notices.add(stream_id)

    def execute(self, statement: sa.Executable, parameters: Any = None) -> sa.CursorResult[Any]:
        """Run a statement. A statement that is built once (a constant) and gets its parameters here is prepared: see
        `prepared.py`."""
        ready = self._ready(statement, parameters)
        if ready is not None:
            return ready.run(self.conn, parameters)  # type: ignore[return-value]  # the part that stores use
        return self.conn.execute(statement, parameters)

    def row(self, shape: type[R], statement: sa.Executable, parameters: Any = None) -> R | None:
        """The first row, or None. Raises `TypeError` unless the statement's columns are the shape's fields, in their
        order."""
        ready = self._ready(statement, parameters)
        if ready is not None:
            rows = ready.read(self.conn, parameters, shape)
            return rows[0] if rows else None
        result = self.conn.execute(statement, parameters)
        make = maker_of(shape, list(result.keys()))
        first = result.first()
        return None if first is None else make(first)

    def rows(self, shape: type[R], statement: sa.Executable, parameters: Any = None) -> list[R]:
        """Every row. Raises as `row` does."""
        ready = self._ready(statement, parameters)
        if ready is not None:
            return ready.read(self.conn, parameters, shape)
        result = self.conn.execute(statement, parameters)
        make = maker_of(shape, list(result.keys()))
        return [make(row) for row in result]

    def _ready(self, statement: sa.Executable, parameters: Any) -> Prepared | None:
        if self.locks is not None:
            self.locks.note(self.conn, statement, parameters)
        if self.prepared is None or not isinstance(parameters, dict):
            return None
        return self.prepared.of(statement, parameters)

    def insert(self, table: sa.Table, **row: Any) -> None:
        """Add one row of plain values."""
        self.execute(insert_into(table), row)

    def insert_missing(self, table: sa.Table, **row: Any) -> bool:
        """Add one row of plain values unless one of its keys is taken; True if it was added."""
        return self.execute(insert_missing_into(table, self.conn.dialect.name), row).rowcount == 1

    def insert_many(self, table: sa.Table, rows: Sequence[dict[str, Any]]) -> None:
        """Add rows of plain values, all with the same columns, in one go."""
        if not rows:
            return
        statement = insert_into(table)
        if self.locks is not None:
            self.locks.note(self.conn, statement, rows)
        ready = None if self.prepared is None else self.prepared.of(statement, rows[0])
        if ready is not None:
            ready.run_many(self.conn, rows)
        else:
            self.conn.execute(statement, rows)

    def update(self, table: sa.Table, key: dict[str, Any], **values: Any) -> int:
        """Set plain values where the key columns equal these; returns the number of rows."""
        parameters = {f"key_{name}": value for name, value in key.items()} | values
        return self.execute(update_by(table, tuple(key)), parameters).rowcount

    def find(self, shape: type[R], table: sa.FromClause, key: dict[str, Any]) -> R | None:
        """The first row where the key columns equal these, or None; reads the columns that the shape's fields name."""
        parameters = {f"key_{name}": value for name, value in key.items()}
        return self.row(shape, select_by(table, tuple(key), reader_of(shape)[0]), parameters)

    def value(self, column: sa.ColumnElement[Any], key: dict[str, Any]) -> Any:
        """This column of the first row of its table where the key columns equal these; None if there is no such row."""
        parameters = {f"key_{name}": value for name, value in key.items()}
        return self.execute(select_by(column.table, tuple(key), (column.key,)), parameters).scalar()

    def exists(self, table: sa.FromClause, key: dict[str, Any]) -> bool:
        """True if the table has a row where the key columns equal these."""
        return self.value(next(iter(table.c)), key) is not None


Listener = Callable[[str], None]


def publish_commit(tx: Tx, listeners: Sequence[Listener]) -> None:
    """Run the hooks of a committed transaction, then send its notices. Raises nothing: a failure is logged, the
    remaining hooks and notices still run, and the caller still gets the transaction's result."""
    for hook in tx.hooks:
        _call(hook)
    for stream_id in tx.notices:
        ring_all(listeners, stream_id)


def ring_all(listeners: Sequence[Listener], stream_id: str) -> None:
    """Notify every listener of this stream; a listener that raises is logged and does not delay the others."""
    for listener in listeners:
        _call(listener, stream_id)


def _call(hook: Callable[..., None], *args: str) -> None:
    try:
        hook(*args)
    except Exception as error:
        log.error("a hook after a commit failed", exc_info=error)


class Database(Protocol):
    """The interface of both databases. Errors: `StorageUnavailable`, `DiskFull` (both: nothing was changed), or the
    exception of the transaction function (rolled back). A cancelled call may or may not have been committed."""

    dialect: str

    @property
    def clock(self) -> Clock:
        """The clock of its transactions. Use it for whatever is compared with their times."""

    async def write(self, fn: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T: ...
    async def read(self, fn: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T: ...
    def on_notice(self, listener: Callable[[str], None]) -> None:
        """Call `listener` with the id of each stream that was notified here or in another process; "*" stands for all
        streams."""

    async def tell(self, messages: Sequence[str]) -> None:
        """Send messages to the other processes on this database (SQLite has none), each at most 7,900 bytes of UTF-8.
        One that listens at this moment gets them, in order; they are kept nowhere. Raises `StorageUnavailable`."""

    def on_message(self, listener: Callable[[str], None]) -> None:
        """Call `listener` with each message of another process. Before "*" as a notice, some may have been missed."""

    def in_thread(self) -> AbstractAsyncContextManager["Database"]:
        """The same database for the event loop of another thread, which enters this: its calls do not need the
        server's loop."""

    def patient(self) -> AbstractAsyncContextManager["Database"]:
        """The same database for statements that may take long, such as changes of tables: without a time limit."""

    async def background(self) -> None:
        """Run beside the server: listens for other processes' notices. Ends when cancelled, or at once."""

    async def aclose(self) -> None: ...
