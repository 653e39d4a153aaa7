"""Pages in the database, and their events. First argument: the open transaction.

A page's row has its own fields; its thread's runs and its sandbox are read along with it, so that lists,
answers and events agree. Code that changes one of these calls `announce`, `announce_of_thread` or
`announce_of_workspace` in the same transaction.
"""

from datetime import datetime
from typing import Any, Final, NamedTuple

import sqlalchemy as sa

from outlast.apps.pages.rows import PageRow
from outlast.apps.pages.shapes import PageChanged, PageData, PageDeleted
from outlast.apps.pages.tables import page_versions, pages
from outlast.db.database import Tx
from outlast.kernel.row_shapes import shape_of
from outlast.kernel.subjects.rules import state_of
from outlast.kernel.subjects.store import SubjectStore, with_thread_and_sandbox
from outlast.kernel.subjects.subject import NewSubject

_TOUCH: Final = (
    sa.update(pages)
    .where(pages.c.thread_id == sa.bindparam("thread"))
    .values(active_at=sa.bindparam("now", type_=pages.c.active_at.type))
)


class ShownPage(NamedTuple):
    """`page` without its HTML, and the related rows."""

    page: PageRow
    run_status: str
    active_run_id: str | None
    message_count: int
    sandbox_id: str | None


def to_data(row: ShownPage) -> PageData:
    """The page as shown in lists and events: without its HTML."""
    begun = bool(row.message_count or row.page.version)
    return shape_of(PageData, row.page, row, state=state_of(row.run_status, row.page.problems, begun=begun))


def without_html(table: sa.Table) -> list[sa.ColumnElement[Any]]:
    """The columns of a table, with an empty text in place of `html`."""
    return [sa.literal_column("''").label("html") if column.name == "html" else column for column in table.c]


PAGES: Final = SubjectStore(
    "page",
    pages,
    PageRow,
    shown=ShownPage,
    listed=with_thread_and_sandbox(pages, *without_html(pages)),
    to_data=to_data,
    changed=PageChanged,
    deleted=PageDeleted,
)
require_page, page_of, hold, page_of_thread = PAGES.require, PAGES.get, PAGES.hold, PAGES.of_thread
page_of_workspace, count, list_pages = PAGES.of_workspace, PAGES.count, PAGES.of_project
update, announce, delete = PAGES.update, PAGES.announce, PAGES.delete


def add(tx: Tx, new: NewSubject) -> None:
    """Add the row of an empty page at version 0. Not announced yet."""
    tx.insert(pages, **new.columns(tx.now), version=0, html="", problems=[], active_at=tx.now)


def page_data(tx: Tx, page_id: str) -> PageData:
    """The page with its HTML, as shown by reads of one page. Raises `NotFound`."""
    return PAGES.data(tx, page_id).model_copy(update={"html": tx.value(pages.c.html, {"id": page_id})})


def version_at(tx: Tx, page_id: str, moment: datetime) -> int | None:
    """The version of a page at a moment; the oldest stored one if it was before that. None if the page was empty."""
    mine = sa.select(page_versions.c.version).where(page_versions.c.page_id == page_id)
    then = mine.where(page_versions.c.created_at <= moment).order_by(page_versions.c.version.desc())
    version: int | None = tx.execute(then.limit(1)).scalar()
    if version is None:
        oldest: int | None = tx.execute(mine.order_by(page_versions.c.version).limit(1)).scalar()
        return None if oldest is None or oldest <= 1 else oldest
    return version


def touch(tx: Tx, thread_id: str) -> None:
    """Record activity on the page of a thread: its dormancy counts from now on."""
    tx.execute(_TOUCH, {"thread": thread_id, "now": tx.now})
