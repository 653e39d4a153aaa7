"""A thread with those it was forked from and all forks of them."""

from typing import Final, NamedTuple

import sqlalchemy as sa

from outlast.db.database import Tx
from outlast.kernel.accounts.tables import users
from outlast.kernel.http.shapes import shape_of
from outlast.kernel.threads.rows import ThreadRow
from outlast.kernel.threads.shapes import FamilyThreadAnswer
from outlast.kernel.threads.tables import threads

MAX_THREADS: Final = 200
MAX_ANCESTORS: Final = 100

_SHOWN: Final = sa.select(threads, users.c.name.label("created_by_name")).select_from(
    threads.outerjoin(users, users.c.id == threads.c.created_by)
)


class _FamilyLine(NamedTuple):
    thread: ThreadRow
    created_by_name: str | None


def family(tx: Tx, thread_id: str, most: int = MAX_THREADS) -> list[FamilyThreadAnswer]:
    """The thread's ancestors, itself, and everything forked from any of them, parents before children; at most `most`,
    the thread and its ancestors always among them. An ancestor that was deleted ends the line upwards."""
    line = _line(tx, thread_id)
    found = {row.id: row for row in line}
    parents = list(found)
    while parents and len(found) < most:
        children = _SHOWN.where(threads.c.parent_thread_id.in_(parents), threads.c.id.not_in(list(found)))
        rows = tx.rows(_FamilyLine, children.order_by(threads.c.created_at, threads.c.id).limit(most - len(found)))
        new = {row.thread.id: _thread(row) for row in rows}
        found |= new
        parents = list(new)
    return list(found.values())


def _line(tx: Tx, thread_id: str) -> list[FamilyThreadAnswer]:
    """From the oldest ancestor to the thread itself."""
    line: list[FamilyThreadAnswer] = []
    wanted: str | None = thread_id
    while wanted is not None and len(line) < MAX_ANCESTORS and all(one.id != wanted for one in line):
        row = tx.row(_FamilyLine, _SHOWN.where(threads.c.id == wanted))
        if row is None:
            break
        line.insert(0, _thread(row))
        wanted = row.thread.parent_thread_id
    return line


def _thread(row: _FamilyLine) -> FamilyThreadAnswer:
    return shape_of(FamilyThreadAnswer, row.thread, created_by_name=row.created_by_name)
