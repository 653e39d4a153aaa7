"""Screens in the database, and the news about them. First argument: the open transaction.

A screen's row holds what it is; what its thread's runs do and which sandbox it has are read beside it, so that lists,
answers and events agree. Whoever changes one of these calls `announce`, `announce_of_thread` or
`announce_of_workspace` in the same transaction.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final, Literal, NamedTuple

import sqlalchemy as sa

from outlast.apps.screens.rows import ScreenRow
from outlast.apps.screens.rules import Box, state_of
from outlast.apps.screens.shapes import ScreenChanged, ScreenData, ScreenDeleted, ScreenFile, ThemeTokens
from outlast.apps.screens.tables import screens
from outlast.base.clock import iso
from outlast.base.errors import NotFound
from outlast.db.database import R, Tx
from outlast.kernel.projects.tables import projects
from outlast.kernel.sandboxes.tables import sandboxes
from outlast.kernel.streams.log import append
from outlast.kernel.subjects.new_subject import NewSubject
from outlast.kernel.threads.tables import threads

ChangeName = Literal["screen.created", "screen.updated"]

_sandbox = (
    sa.select(sa.func.max(sandboxes.c.id))
    .where(sandboxes.c.workspace_id == screens.c.workspace_id)
    .scalar_subquery()
    .label("sandbox_id")
)
_WHOLE: Final = sa.select(
    screens, threads.c.run_status, threads.c.active_run_id, threads.c.message_count, _sandbox
).join(threads, threads.c.id == screens.c.thread_id)
_ONE: Final = _WHOLE.where(screens.c.id == sa.bindparam("screen"))
_ROW: Final = sa.select(screens).where(screens.c.id == sa.bindparam("screen"))
_HOLD: Final = _ROW.with_for_update()


def add(
    tx: Tx,
    new: NewSubject,
    *,
    template: str,
    theme: str,
    place: Box,
    theme_tokens: ThemeTokens | None = None,
    files: Sequence[ScreenFile] = (),
    problems: Sequence[str] = (),
    picture_id: str | None = None,
    pictured_at: datetime | None = None,
) -> None:
    """Add a row. Not announced yet."""
    tx.insert(
        screens,
        **new.columns(tx.now),
        template=template,
        theme=theme,
        theme_tokens=None if theme_tokens is None else theme_tokens.model_dump(mode="json"),
        x=place.x,
        y=place.y,
        width=place.width,
        height=place.height,
        files=[file.model_dump() for file in files],
        problems=list(problems),
        picture_id=picture_id,
        pictured_at=pictured_at,
    )


def screen_of(tx: Tx, screen_id: str) -> ScreenRow:
    """The screen's row. Raises `NotFound`."""
    return _found(tx.row(ScreenRow, _ROW, {"screen": screen_id}), screen_id)


def hold(tx: Tx, screen_id: str) -> ScreenRow:
    """As `screen_of`; the row is held until the transaction ends."""
    return _found(tx.row(ScreenRow, _HOLD, {"screen": screen_id}), screen_id)


def screen_of_thread(tx: Tx, thread_id: str) -> ScreenRow | None:
    """The row of the screen that a thread builds; None: the thread belongs to none."""
    return tx.find(ScreenRow, screens, {"thread_id": thread_id})


def screen_of_workspace(tx: Tx, workspace_id: str) -> ScreenRow | None:
    """The row of the screen whose files lie in a workspace; None: it belongs to none."""
    return tx.find(ScreenRow, screens, {"workspace_id": workspace_id})


class ShownScreen(NamedTuple):
    screen: ScreenRow
    run_status: str
    active_run_id: str | None
    message_count: int
    sandbox_id: str | None


def screen_data(tx: Tx, screen_id: str) -> ScreenData:
    """The screen as lists and events show it, without `preview_url`. Raises `NotFound`."""
    return to_data(_found(tx.row(ShownScreen, _ONE, {"screen": screen_id}), screen_id))


def list_screens(tx: Tx, project_id: str, after: str | None, limit: int) -> tuple[list[ScreenData], str | None]:
    """At most `limit` of a project's screens in the order in which they were made, those after the id `after`; and what
    to ask the following ones with (None: there are none)."""
    chosen = _WHOLE.where(screens.c.project_id == project_id)
    if after is not None:
        chosen = chosen.where(screens.c.id > after)
    rows = tx.rows(ShownScreen, chosen.order_by(screens.c.id).limit(limit + 1))
    return [to_data(row) for row in rows[:limit]], rows[limit - 1].screen.id if len(rows) > limit else None


class _Frame(NamedTuple):
    x: int
    y: int
    width: int
    height: int


def boxes(tx: Tx, project_id: str) -> list[Box]:
    """Where a project's screens lie. The project is held until the transaction ends, so that two who add a screen at
    once do not put them on one spot."""
    tx.execute(sa.select(projects.c.id).where(projects.c.id == project_id).with_for_update())
    columns = screens.c.x, screens.c.y, screens.c.width, screens.c.height
    return [Box(*row) for row in tx.rows(_Frame, sa.select(*columns).where(screens.c.project_id == project_id))]


def update(tx: Tx, screen_id: str, **values: Any) -> None:
    """Set columns of a screen and when it changed. Not announced yet."""
    tx.update(screens, {"id": screen_id}, **values, updated_at=tx.now)


def announce(tx: Tx, screen_id: str, event: ChangeName = "screen.updated", *, by: str | None = None) -> ScreenData:
    """Tell the followers of its project how a screen is now; `by` is the user who changed it (None: a run, or the
    server). Raises `NotFound`."""
    data = screen_data(tx, screen_id)
    append(tx, data.project_id, [(event, ScreenChanged(screen=data, by=by))])
    return data


def delete(tx: Tx, screen_id: str) -> None:
    """Remove a screen's row and tell its project. Its thread and workspace are the caller's."""
    removed = sa.delete(screens).where(screens.c.id == screen_id).returning(screens.c.project_id)
    project_id = tx.execute(removed).scalar()
    if project_id is not None:
        append(tx, project_id, [("screen.deleted", ScreenDeleted(screen_id=screen_id))])


def to_data(row: ShownScreen) -> ScreenData:
    """A row with its thread's and sandbox's columns, as the API shows it."""
    tokens = row.screen.theme_tokens
    pictured = row.screen.pictured_at
    return ScreenData(
        id=row.screen.id,
        project_id=row.screen.project_id,
        thread_id=row.screen.thread_id,
        workspace_id=row.screen.workspace_id,
        title=row.screen.title,
        template=row.screen.template,
        theme=row.screen.theme,
        theme_tokens=None if tokens is None else ThemeTokens(**tokens),
        x=row.screen.x,
        y=row.screen.y,
        width=row.screen.width,
        height=row.screen.height,
        files=[ScreenFile(**file) for file in row.screen.files],
        problems=row.screen.problems,
        picture_id=row.screen.picture_id,
        pictured_at=None if pictured is None else iso(pictured),
        state=state_of(row.run_status, row.screen.problems, row.message_count),
        active_run_id=row.active_run_id,
        sandbox_id=row.sandbox_id,
        trouble=row.screen.trouble,
        created_by=row.screen.created_by,
        created_at=iso(row.screen.created_at),
        updated_at=iso(row.screen.updated_at),
    )


def _found(row: R | None, screen_id: str) -> R:
    if row is None:
        raise NotFound("There is no such screen.", screen_id=screen_id)
    return row
