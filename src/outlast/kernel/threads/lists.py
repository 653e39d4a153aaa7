"""Lists of threads: pages by last change, what a search finds, a thread with its family of forks."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

import sqlalchemy as sa

from outlast.base.errors import CursorUnknown
from outlast.db.database import Tx
from outlast.kernel.accounts.tables import users
from outlast.kernel.lists import Listed
from outlast.kernel.row_shapes import shape_of
from outlast.kernel.threads.rows import ThreadRow
from outlast.kernel.threads.search import match_in, matching_threads
from outlast.kernel.threads.shapes import FamilyThreadAnswer, ListedThreadAnswer
from outlast.kernel.threads.store import SHOWN_THREADS, ShownThread, to_data
from outlast.kernel.threads.tables import threads

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MAX_FAMILY: Final = 200
MAX_ANCESTORS: Final = 100

_WITH_CREATOR: Final = sa.select(threads, users.c.name.label("created_by_name")).select_from(
    threads.outerjoin(users, users.c.id == threads.c.created_by)
)


def list_threads(
    tx: Tx, project_id: str, status: str | None, before: str | None, limit: int, *, profile: str | None = None
) -> Listed[ListedThreadAnswer, str]:
    """The project's threads of one status and one agent profile (None: all), at most `limit`. Raises
    `CursorUnknown`."""
    chosen = _of(project_id, profile)
    if status is not None:
        chosen = chosen.where(threads.c.status == status)
    rows = tx.rows(ShownThread, _page(chosen, before, limit))
    items = [to_data(row, ListedThreadAnswer, match=None) for row in rows[:limit]]
    return Listed(items, _following([row.thread for row in rows], limit))


class _FoundThread(NamedTuple):
    shown: ShownThread
    first: int
    last: int


def search_threads(
    tx: Tx, project_id: str, query: str, before: str | None, limit: int, *, profile: str | None = None
) -> Listed[ListedThreadAnswer, str]:
    """The project's threads, archived ones included, in whose title or in one of whose messages every word of the query
    begins a word. A query without words finds nothing. Raises `CursorUnknown`."""
    found = matching_threads(tx, project_id, query)
    if found is None:
        return Listed([], None)
    chosen = (
        _of(project_id, profile).add_columns(found.c.first, found.c.last).join(found, found.c.thread_id == threads.c.id)
    )
    rows = tx.rows(_FoundThread, _page(chosen, before, limit))
    items = []
    for shown, first, last in rows[:limit]:
        match = match_in(tx, shown.thread.id, shown.thread.title, first, last, query)
        items.append(to_data(shown, ListedThreadAnswer, match=match))
    return Listed(items, _following([row.shown.thread for row in rows], limit))


class _FamilyLine(NamedTuple):
    thread: ThreadRow
    created_by_name: str | None


def list_family(tx: Tx, thread_id: str) -> list[FamilyThreadAnswer]:
    """The thread's ancestors, itself, and everything forked from any of them, parents before children; at most 200,
    the thread and its ancestors always among them. An ancestor that was deleted ends the line upwards."""
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
    """From the oldest ancestor to the thread itself: at most 100 threads; one that was deleted ends the line."""
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


def _of(project_id: str, profile: str | None) -> sa.Select[Any]:
    chosen = SHOWN_THREADS.where(threads.c.project_id == project_id)
    return chosen if profile is None else chosen.where(threads.c.profile == profile)


def _page(chosen: sa.Select[Any], before: str | None, limit: int) -> sa.Select[Any]:
    """The threads of a page, and one more where another page follows."""
    if before is not None:
        moment, thread_id = _parse(before)
        older = threads.c.updated_at < moment
        chosen = chosen.where(older | ((threads.c.updated_at == moment) & (threads.c.id < thread_id)))
    return chosen.order_by(threads.c.updated_at.desc(), threads.c.id.desc()).limit(limit + 1)


def _following(rows: Sequence[ThreadRow], limit: int) -> str | None:
    """The cursor of the next page; None: these rows are the last."""
    if len(rows) <= limit:
        return None
    last = rows[limit - 1]
    return f"{(last.updated_at - _EPOCH) // timedelta(microseconds=1)}:{last.id}"


def _parse(cursor: str) -> tuple[datetime, str]:
    micros, colon, thread_id = cursor.partition(":")
    try:
        if colon:
            return _EPOCH + timedelta(microseconds=int(micros)), thread_id
    except (ValueError, OverflowError):
        pass
    raise CursorUnknown("This is no cursor of a thread list.", hint="Start again without one.")
