"""The family of a thread: its ancestors, and their forks."""

from typing import Final, NamedTuple

import sqlalchemy as sa

from outlast.db.database import Tx
from outlast.kernel.accounts.tables import users
from outlast.kernel.row_shapes import shape_of
from outlast.kernel.threads.rows import ThreadRow
from outlast.kernel.threads.shapes import FamilyThreadAnswer
from outlast.kernel.threads.tables import threads

MAX_FAMILY: Final = 200
MAX_ANCESTORS: Final = 100

_WITH_CREATOR: Final = sa.select(threads, users.c.name.label("created_by_name")).select_from(
    threads.outerjoin(users, users.c.id == threads.c.created_by)
)


class _FamilyLine(NamedTuple):
    thread: ThreadRow
    created_by_name: str | None


def list_family(tx: Tx, thread_id: str) -> list[FamilyThreadAnswer]:
    """The thread's ancestors, itself, and everything forked from any of them, parents before children; at most 200, the
    thread and its ancestors always among them. A deleted ancestor ends the line upwards."""
    line = list_line(tx, thread_id)
    found = {row.id: row for row in line}
    parents = list(found)
    while parents and len(found) < MAX_FAMILY:
        children = _WITH_CREATOR.where(threads.c.parent_thread_id.in_(parents), threads.c.id.not_in(list(found)))
        rows = tx.rows(
            _FamilyLine, children.order_by(threads.c.created_at, threads.c.id).limit(MAX_FAMILY - len(found))
        )
        new = {row.thread.id: _thread(row) for row in rows}
        found |= new
        parents = list(new)
    return list(found.values())


def list_line(tx: Tx, thread_id: str) -> list[FamilyThreadAnswer]:
    """The line from the oldest ancestor to the thread itself: at most 100 threads; a deleted one ends the line."""
    line: list[FamilyThreadAnswer] = []
    wanted: str | None = thread_id
    while wanted is not None and len(line) < MAX_ANCESTORS and all(one.id != wanted for one in line):
        row = tx.row(_FamilyLine, _WITH_CREATOR.where(threads.c.id == wanted))
        if row is None:
            break
        line.insert(0, _thread(row))
        wanted = row.thread.parent_thread_id
    return line


def _thread(row: _FamilyLine) -> FamilyThreadAnswer:
    return shape_of(FamilyThreadAnswer, row.thread, created_by_name=row.created_by_name)
