"""Lists of threads: pages by last change, or what a search finds."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import sqlalchemy as sa

from outlast.base.errors import CursorUnknown
from outlast.base.events import ThreadData
from outlast.db.database import Tx
from outlast.kernel.lists import Listed
from outlast.kernel.threads.search import match_in, matching_threads
from outlast.kernel.threads.shapes import Match
from outlast.kernel.threads.store import select_threads, to_data
from outlast.kernel.threads.tables import threads

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class ListedThread:
    """A thread in a list; `match` says why a search found it."""

    thread: ThreadData
    match: Match | None = None


def list_threads(
    tx: Tx,
    project_id: str,
    status: str | None,
    before: str | None,
    limit: int,
    *,
    profile: str | None = None,
) -> Listed[ListedThread, str]:
    """The project's threads of one status and one agent profile (None: all), at most `limit`. Raises
    `CursorUnknown`."""
    chosen = _of(project_id, profile)
    if status is not None:
        chosen = chosen.where(threads.c.status == status)
    rows, following = _page(tx, chosen, before, limit)
    return Listed([ListedThread(to_data(row)) for row in rows], following)


def search_threads(
    tx: Tx, project_id: str, query: str, before: str | None, limit: int, *, profile: str | None = None
) -> Listed[ListedThread, str]:
    """The project's threads, archived ones included, in whose title or in one of whose messages every word of the query
    begins a word. A query without words finds nothing. Raises `CursorUnknown`."""
    found = matching_threads(tx, project_id, query)
    if found is None:
        return Listed([], None)
    chosen = (
        _of(project_id, profile)
        .add_columns(found.c.first, found.c.last)
        .join(found, found.c.thread_id == threads.c.id)
    )
    rows, following = _page(tx, chosen, before, limit)
    items = [
        ListedThread(to_data(row), match_in(tx, row["id"], row["title"], row["first"], row["last"], query))
        for row in rows
    ]
    return Listed(items, following)


def _of(project_id: str, profile: str | None) -> sa.Select[Any]:
    chosen = select_threads().where(threads.c.project_id == project_id)
    return chosen if profile is None else chosen.where(threads.c.profile == profile)


def _page(
    tx: Tx, chosen: sa.Select[Any], before: str | None, limit: int
) -> tuple[list[sa.RowMapping], str | None]:
    if before is not None:
        moment, thread_id = _parse(before)
        older = threads.c.updated_at < moment
        chosen = chosen.where(older | ((threads.c.updated_at == moment) & (threads.c.id < thread_id)))
    rows = tx.all(chosen.order_by(threads.c.updated_at.desc(), threads.c.id.desc()).limit(limit + 1))
    return rows[:limit], _cursor(rows[limit - 1]) if len(rows) > limit else None


def _cursor(row: sa.RowMapping) -> str:
    return f"{(row['updated_at'] - _EPOCH) // timedelta(microseconds=1)}:{row['id']}"


def _parse(cursor: str) -> tuple[datetime, str]:
    micros, colon, thread_id = cursor.partition(":")
    try:
        if colon:
            return _EPOCH + timedelta(microseconds=int(micros)), thread_id
    except (ValueError, OverflowError):
        pass
    raise CursorUnknown("This is no cursor of a thread list.", hint="Start again without one.")
