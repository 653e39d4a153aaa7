"""A thread with those it was forked from and all forks of them."""

from typing import Any, Final

import sqlalchemy as sa

from outlast.base.clock import iso
from outlast.db.database import Tx
from outlast.kernel.accounts.tables import users
from outlast.kernel.threads.shapes import FamilyThreadAnswer
from outlast.kernel.threads.tables import threads

MOST: Final = 200
DEEPEST: Final = 100

_COLUMNS: Final = (
    threads.c.id,
    threads.c.title,
    threads.c.profile,
    threads.c.parent_thread_id,
    threads.c.parent_message_id,
    threads.c.status,
    threads.c.run_status,
    threads.c.message_count,
    threads.c.created_by,
    threads.c.created_at,
    users.c.name.label("created_by_name"),
)


def family(tx: Tx, thread_id: str, most: int = MOST) -> list[FamilyThreadAnswer]:
    """The thread's ancestors, itself, and everything forked from any of them, parents before children; at most `most`,
    the thread and its ancestors always among them. An ancestor that was deleted ends the line upwards."""
    line = _line(tx, thread_id)
    found = {row.id: row for row in line}
    parents = list(found)
    while parents and len(found) < most:
        children = _select().where(threads.c.parent_thread_id.in_(parents), threads.c.id.not_in(list(found)))
        rows = tx.all(children.order_by(threads.c.created_at, threads.c.id).limit(most - len(found)))
        new = {row["id"]: _thread(row) for row in rows}
        found |= new
        parents = list(new)
    return list(found.values())


def _line(tx: Tx, thread_id: str) -> list[FamilyThreadAnswer]:
    """From the oldest ancestor to the thread itself."""
    line: list[FamilyThreadAnswer] = []
    wanted: str | None = thread_id
    while wanted is not None and len(line) < DEEPEST and all(one.id != wanted for one in line):
        row = tx.one(_select().where(threads.c.id == wanted))
        if row is None:
            break
        line.insert(0, _thread(row))
        wanted = row["parent_thread_id"]
    return line


def _select() -> sa.Select[Any]:
    return sa.select(*_COLUMNS).select_from(threads.outerjoin(users, users.c.id == threads.c.created_by))


def _thread(row: sa.RowMapping) -> FamilyThreadAnswer:
    return FamilyThreadAnswer(**{**row, "created_at": iso(row["created_at"])})
