"""The order in which transactions lock rows, and its check in debug mode. `docs/concepts/locking.md` gives the reasons.

A table that takes part declares its place: `sa.Table("runs", metadata, …, info=locked_as(Place.RUN))`. Rows of other
tables belong to one of these rows, which is locked first, or are not checked.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import field
from enum import IntEnum
from functools import lru_cache
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.sql import operators, visitors

from outlast.base.records import dataclass

_PLACE: Final = "lock_place"


class Place(IntEnum):
    """A transaction locks rows of a lower place first."""

    SCHEDULE = 1
    RUN = 2
    SUBJECT = 3  # the subject of an app's threads: a page, a document, a screen
    THREAD = 4
    USER = 5
    PROJECT = 6


class LockOrderBroken(AssertionError):
    """A transaction locked a row whose place is before that of a row it holds: two such transactions can deadlock."""


def locked_as(place: Place) -> dict[str, Place]:
    """The `info` of a table whose rows are locked in this place."""
    return {_PLACE: place}


_debug = False


def set_debug(on: bool) -> None:
    """Turn debug mode on or off, for the whole process and from the next transaction on: a transaction that breaks the
    order raises `LockOrderBroken`. Inspects every statement."""
    global _debug
    _debug = on


def locks_of_transaction() -> "RowLocks | None":
    """A record of the locks of a transaction that begins now; None outside debug mode."""
    return RowLocks() if _debug else None


@dataclass(slots=True)
class RowLocks:
    """The rows that one transaction inserted or locked, by table."""

    mine: defaultdict[str, set[Any]] = field(default_factory=lambda: defaultdict(set))
    last: tuple[Place, str, sa.Executable] | None = None  # the furthest place, its table, the statement
    broken: LockOrderBroken | None = None

    def note(self, conn: sa.Connection, statement: sa.Executable, parameters: Any) -> None:
        """Record the rows that the statement inserts or locks. Raises `LockOrderBroken`, also for every later
        statement, so that catching the first error does not hide it."""
        if self.broken is not None:
            raise self.broken
        if isinstance(statement, sa.Insert):
            self.mine[statement.table.name].update(_inserted(statement, parameters))
            return
        tables, waits = _locked_tables(statement)
        for table in tables:
            if _PLACE in table.info:
                self._lock(table, _keys(conn, statement, table, parameters), statement, waits)

    def _lock(self, table: sa.Table, keys: frozenset[Any], statement: sa.Executable, waits: bool) -> None:
        if keys <= self.mine[table.name]:
            return
        place: Place = table.info[_PLACE]
        if waits and self.last is not None and place < self.last[0]:
            _, earlier, first = self.last
            self.broken = LockOrderBroken(
                f"A row of {table.name} is locked after one of {earlier}; it belongs before it "
                f"(docs/concepts/locking.md).\nFirst: {first}\nThen: {statement}"
            )
            raise self.broken
        self.mine[table.name] |= keys
        if self.last is None or place > self.last[0]:
            self.last = place, table.name, statement


def _inserted(statement: sa.Insert, parameters: Any) -> set[Any]:
    parameters = statement.compile().params if parameters is None else parameters
    rows = [parameters] if isinstance(parameters, Mapping) else parameters
    return {row["id"] for row in rows if "id" in row}


@lru_cache(maxsize=1_000)
def _locked_tables(statement: sa.Executable) -> tuple[list[sa.Table], bool]:
    """The tables whose rows the statement locks, and True if it waits for rows that others hold."""
    if isinstance(statement, sa.Update | sa.Delete):
        return [statement.table] if isinstance(statement.table, sa.Table) else [], True
    if not isinstance(statement, sa.Select) or statement._for_update_arg is None:
        return [], False
    parts = (part for source in statement.get_final_froms() for part in visitors.iterate(source))
    tables = [part for part in parts if isinstance(part, sa.Table)]
    return tables, not statement._for_update_arg.skip_locked


def _keys(conn: sa.Connection, statement: Any, table: sa.Table, parameters: Any) -> frozenset[Any]:
    """The keys of the rows that the statement locks: those in its condition, else those that it matches now."""
    for part in _conjuncts(statement.whereclause):
        if not isinstance(part, sa.BinaryExpression) or part.left is not table.c.id:
            continue
        if not isinstance(part.right, sa.BindParameter):
            continue
        value = (parameters or {}).get(part.right.key, part.right.effective_value)
        if part.operator is operators.eq:
            return frozenset([value])
        if part.operator is operators.in_op:
            return frozenset(value or ())
    if isinstance(statement, sa.Select):
        found = statement.with_only_columns(table.c.id, maintain_column_froms=True)
        found._for_update_arg = None
    else:
        found = sa.select(table.c.id).where(*statement._where_criteria)
    return frozenset(conn.execute(found, parameters).scalars())


def _conjuncts(condition: Any) -> Iterator[Any]:
    if isinstance(condition, sa.BooleanClauseList) and condition.operator is operators.and_:
        yield from condition.clauses
    elif condition is not None:
        yield condition
