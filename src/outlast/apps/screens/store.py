"""Screens in the database, and their events. First argument: the open transaction.

A screen's row has its own fields; its thread's runs and its sandbox are read along with it, so that lists,
answers and events agree. Code that changes one of these calls `announce`, `announce_of_thread` or
`announce_of_workspace` in the same transaction.
"""

from typing import Any, Final, NamedTuple

import sqlalchemy as sa

from outlast.apps.screens.placement import Box
from outlast.apps.screens.rows import ScreenRow
from outlast.apps.screens.shapes import ScreenChanged, ScreenData, ScreenDeleted
from outlast.apps.screens.tables import screens
from outlast.db.database import Tx
from outlast.kernel.projects.tables import projects
from outlast.kernel.row_shapes import shape_of
from outlast.kernel.subjects.rules import state_of
from outlast.kernel.subjects.store import SubjectStore, with_thread_and_sandbox
from outlast.kernel.subjects.subject import NewSubject


def add(tx: Tx, new: NewSubject, place: Box, **columns: Any) -> None:
    """Add a row with these columns, its template and theme among them. Not announced yet."""
    begun: dict[str, Any] = {"files": [], "problems": []}
    tx.insert(screens, **new.columns(tx.now), **place._asdict(), **begun | columns)


def boxes(tx: Tx, project_id: str) -> list[Box]:
    """The places of a project's screens. The project is held until the transaction ends, so that two concurrent
    new screens do not get the same place."""
    tx.execute(sa.select(projects.c.id).where(projects.c.id == project_id).with_for_update())
    columns = screens.c.x, screens.c.y, screens.c.width, screens.c.height
    return tx.rows(Box, sa.select(*columns).where(screens.c.project_id == project_id))


class ShownScreen(NamedTuple):
    screen: ScreenRow
    run_status: str
    active_run_id: str | None
    message_count: int
    sandbox_id: str | None


def to_data(row: ShownScreen) -> ScreenData:
    """The screen as shown in lists and events, without `preview_url`."""
    state = state_of(row.run_status, row.screen.problems, begun=row.message_count > 0)
    return shape_of(ScreenData, row.screen, row, state=state)


SCREENS: Final = SubjectStore(
    "screen",
    screens,
    ScreenRow,
    shown=ShownScreen,
    listed=with_thread_and_sandbox(screens, *screens.c),
    to_data=to_data,
    changed=ScreenChanged,
    deleted=ScreenDeleted,
)
require_screen, screen_of, hold, screen_of_thread = SCREENS.require, SCREENS.get, SCREENS.hold, SCREENS.of_thread
screen_of_workspace, screen_data, list_screens = SCREENS.of_workspace, SCREENS.data, SCREENS.of_project
update, announce, delete = SCREENS.update, SCREENS.announce, SCREENS.delete
