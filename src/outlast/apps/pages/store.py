"""Pages in the database, and the news about them. First argument: the open transaction.

A page's row holds what it is; what its thread's runs do and which sandbox it has are read beside it, so that lists,
answers and events agree. Whoever changes one of these calls `announce`, `announce_of_thread` or
`announce_of_workspace` in the same transaction.
"""

from datetime import datetime
from typing import Any, Final, Literal, NamedTuple

import sqlalchemy as sa

from outlast.apps.pages.rows import PageRow
from outlast.apps.pages.rules import state_of
from outlast.apps.pages.shapes import PageChanged, PageData, PageDeleted
from outlast.apps.pages.tables import page_versions, pages
from outlast.base.clock import iso
from outlast.base.errors import NotFound
from outlast.db.database import R, Tx
from outlast.kernel.projects.tables import projects
from outlast.kernel.sandboxes.tables import sandboxes
from outlast.kernel.streams.log import append
from outlast.kernel.subjects.new_subject import NewSubject
from outlast.kernel.threads.tables import threads

ChangeName = Literal["page.created", "page.updated"]

_sandbox = (
    sa.select(sa.func.max(sandboxes.c.id))
    .where(sandboxes.c.workspace_id == pages.c.workspace_id)
    .scalar_subquery()
    .label("sandbox_id")
)
_LISTED: Final = sa.select(
    *(column for column in pages.c if column.name != "html"),
    threads.c.run_status,
    threads.c.active_run_id,
    threads.c.message_count,
    _sandbox,
).join(threads, threads.c.id == pages.c.thread_id)
_SHOWN: Final = _LISTED.where(pages.c.id == sa.bindparam("page"))
_ROW: Final = sa.select(pages).where(pages.c.id == sa.bindparam("page"))
_HOLD: Final = _ROW.with_for_update(key_share=True)
_TOUCH: Final = (
    sa.update(pages)
    .where(pages.c.thread_id == sa.bindparam("thread"))
    .values(active_at=sa.bindparam("now", type_=pages.c.active_at.type))
)


def add(tx: Tx, new: NewSubject) -> None:
    """Add the row of an empty page at version 0. Not announced yet."""
    tx.insert(pages, **new.columns(tx.now), version=0, html="", problems=[], active_at=tx.now)


def page_of(tx: Tx, page_id: str) -> PageRow:
    """The page's row. Raises `NotFound`."""
    return _found(tx.row(PageRow, _ROW, {"page": page_id}), page_id)


def hold(tx: Tx, page_id: str) -> PageRow:
    """As `page_of`; the row is held until the transaction ends. Before its thread, as everywhere."""
    return _found(tx.row(PageRow, _HOLD, {"page": page_id}), page_id)


def page_of_thread(tx: Tx, thread_id: str) -> PageRow | None:
    """The row of the page that a thread changes; None: the thread belongs to none."""
    return tx.find(PageRow, pages, {"thread_id": thread_id})


def page_of_workspace(tx: Tx, workspace_id: str) -> PageRow | None:
    """The row of the page whose code runs in a workspace; None: it belongs to none."""
    return tx.find(PageRow, pages, {"workspace_id": workspace_id})


def page_data(tx: Tx, page_id: str, *, html: bool = False) -> PageData:
    """The page as lists and events show it; with `html` as reads of one page do. Raises `NotFound`."""
    row = _found(tx.row(ShownPage, _SHOWN, {"page": page_id}), page_id)
    return to_data(row, tx.value(pages.c.html, {"id": page_id}) if html else "")


class ShownPage(NamedTuple):
    id: str
    project_id: str
    thread_id: str
    workspace_id: str
    title: str
    named: bool
    version: int
    problems: Any
    created_by: str
    created_at: datetime
    updated_at: datetime
    active_at: datetime
    run_status: str
    active_run_id: str | None
    message_count: int
    sandbox_id: str | None


def list_pages(tx: Tx, project_id: str, after: str | None, limit: int) -> tuple[list[PageData], str | None]:
    """At most `limit` of a project's pages in the order in which they were made, those after the id `after`; and what
    to ask the following ones with (None: there are none)."""
    chosen = _LISTED.where(pages.c.project_id == project_id)
    if after is not None:
        chosen = chosen.where(pages.c.id > after)
    rows = tx.rows(ShownPage, chosen.order_by(pages.c.id).limit(limit + 1))
    return [to_data(row) for row in rows[:limit]], rows[limit - 1].id if len(rows) > limit else None


def version_at(tx: Tx, page_id: str, moment: datetime) -> int | None:
    """The version that a page was at a moment; of those that are kept, the oldest where it was before them. None: the
    page was empty."""
    mine = sa.select(page_versions.c.version).where(page_versions.c.page_id == page_id)
    then = mine.where(page_versions.c.created_at <= moment).order_by(page_versions.c.version.desc())
    version: int | None = tx.execute(then.limit(1)).scalar()
    if version is None:
        oldest: int | None = tx.execute(mine.order_by(page_versions.c.version).limit(1)).scalar()
        return None if oldest is None or oldest <= 1 else oldest
    return version


def count(tx: Tx, project_id: str) -> int:
    """How many pages a project has. The project is held until the transaction ends, so that two who make the last one
    at once do not both succeed."""
    tx.execute(sa.select(projects.c.id).where(projects.c.id == project_id).with_for_update(key_share=True))
    mine = sa.select(sa.func.count()).select_from(pages).where(pages.c.project_id == project_id)
    return int(tx.execute(mine).scalar_one())


def update(tx: Tx, page_id: str, **values: Any) -> None:
    """Set columns of a page and when it changed. Not announced yet."""
    tx.update(pages, {"id": page_id}, **values, updated_at=tx.now)


def touch(tx: Tx, thread_id: str) -> None:
    """Something happened on the page that a thread changes: its dormancy counts from now on."""
    tx.execute(_TOUCH, {"thread": thread_id, "now": tx.now})


def announce(tx: Tx, page_id: str, event: ChangeName = "page.updated", *, by: str | None = None) -> PageData:
    """Tell the followers of its project how a page is now, without its HTML; `by` is the user who changed it (None: a
    run, or the server). Raises `NotFound`."""
    data = page_data(tx, page_id)
    append(tx, data.project_id, [(event, PageChanged(page=data, by=by))])
    return data


def delete(tx: Tx, page_id: str) -> None:
    """Remove a page's row, with its versions, actions and links, and tell its project. Its thread and workspace are the
    caller's."""
    removed = sa.delete(pages).where(pages.c.id == page_id).returning(pages.c.project_id)
    project_id = tx.execute(removed).scalar()
    if project_id is not None:
        append(tx, project_id, [("page.deleted", PageDeleted(page_id=page_id))])


def to_data(row: ShownPage, html: str = "") -> PageData:
    """A row with its thread's and sandbox's columns, as the API shows it."""
    return PageData(
        id=row.id,
        project_id=row.project_id,
        thread_id=row.thread_id,
        workspace_id=row.workspace_id,
        title=row.title,
        html=html,
        version=row.version,
        state=state_of(row.run_status, row.problems, row.message_count, row.version),
        active_run_id=row.active_run_id,
        sandbox_id=row.sandbox_id,
        created_by=row.created_by,
        created_at=iso(row.created_at),
        updated_at=iso(row.updated_at),
    )


def _found(row: R | None, page_id: str) -> R:
    if row is None:
        raise NotFound("This page is not there any more.", page_id=page_id)
    return row
