"""Lists of threads: pages by last change, and search results."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

import sqlalchemy as sa

from outlast.base.errors import CursorUnknown
from outlast.db.database import Tx
from outlast.kernel.lists import Listed
from outlast.kernel.threads.rows import ThreadRow
from outlast.kernel.threads.search_index import match_in, matching_threads
from outlast.kernel.threads.shapes import ListedThreadAnswer
from outlast.kernel.threads.store import SHOWN_THREADS, ShownThread, to_data
from outlast.kernel.threads.tables import threads

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def list_threads(
    tx: Tx, project_id: str, status: str | None, before: str | None, limit: int, *, profile: str | None = None
) -> Listed[ListedThreadAnswer, str]:
    """The project's threads of one status and one agent profile (None for all), at most `limit`. Raises
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


def _of(project_id: str, profile: str | None) -> sa.Select[Any]:
    # Threads of runs that a function started are shown by its run.
    chosen = SHOWN_THREADS.where(threads.c.project_id == project_id, threads.c.caller_run_id.is_(None))
    return chosen if profile is None else chosen.where(threads.c.profile == profile)


def _page(chosen: sa.Select[Any], before: str | None, limit: int) -> sa.Select[Any]:
    """The threads of a page, and one more if another page follows."""
    if before is not None:
        moment, thread_id = _parse(before)
        older = threads.c.updated_at < moment
        chosen = chosen.where(older | ((threads.c.updated_at == moment) & (threads.c.id < thread_id)))
    return chosen.order_by(threads.c.updated_at.desc(), threads.c.id.desc()).limit(limit + 1)


def _following(rows: Sequence[ThreadRow], limit: int) -> str | None:
    """The cursor of the next page, or None if these rows are the last."""
    if len(rows) <= limit:
        return None
    last = rows[limit - 1]
    return f"{(last.updated_at - _EPOCH) // timedelta(microseconds=1)}:{last.id}"


def _parse(cursor: str) -> tuple[datetime, str]:
    micros, colon, thread_id = cursor.partition(":")
    with suppress(ValueError, OverflowError):
        if colon:
            return _EPOCH + timedelta(microseconds=int(micros)), thread_id
    raise CursorUnknown("This is not a cursor of a thread list.", hint="Start again without a cursor.")
