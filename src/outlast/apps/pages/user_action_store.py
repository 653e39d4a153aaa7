"""Actions of people on pages, and the runs that take them. First argument: the open transaction.

An action belongs to one run from the moment it is stored, or to none once dropped. It waits as long as its run is
queued behind another, is taken when that run's turn comes, and ends with it. Every change is an event in the thread's
log.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import sqlalchemy as sa

from outlast.apps.pages.rows import PageActionRow, PageRow
from outlast.apps.pages.shapes import ActionState, PageActed, PageAction
from outlast.apps.pages.store import touch
from outlast.apps.pages.tables import page_actions
from outlast.apps.pages.user_action_rules import end_of
from outlast.base.errors import NotFound
from outlast.base.ids import new_id
from outlast.db.database import Tx
from outlast.kernel.accounts.tables import users
from outlast.kernel.lists import Listed
from outlast.kernel.row_shapes import shape_of
from outlast.kernel.streams.log_store import append
from outlast.kernel.subjects.subject import RunHooks

_ROWS: Final = sa.select(page_actions, users.c.name.label("by_name")).join(users, users.c.id == page_actions.c.user_id)
_OF_RUN: Final = _ROWS.where(page_actions.c.run_id == sa.bindparam("run")).order_by(page_actions.c.id)
_WAITING_OF_RUN: Final = _OF_RUN.where(page_actions.c.state == "waiting")
_OPEN_OF_RUN: Final = _OF_RUN.where(page_actions.c.state.in_(("waiting", "taken")))


def add(
    tx: Tx, page: PageRow, name: str, data: Mapping[str, Any], *, user_id: str, run_id: str, state: ActionState
) -> str:
    """Store an action on a page (its row) and notify its thread; `state` is waiting if its run is queued behind
    another, else taken. Returns its id."""
    action_id = new_id("action")
    tx.insert(
        page_actions,
        id=action_id,
        page_id=page.id,
        project_id=page.project_id,
        user_id=user_id,
        name=name,
        data=dict(data),
        state=state,
        run_id=run_id,
        created_at=tx.now,
    )
    _tell(tx, page.thread_id, [action_of(tx, page.id, action_id)])
    return action_id


class NamedAction(NamedTuple):
    action: PageActionRow
    by_name: str


def action_of(tx: Tx, page_id: str, action_id: str) -> NamedAction:
    """A page's action with the name of the user who did it. Raises `NotFound`."""
    mine = page_actions.c.id == action_id, page_actions.c.page_id == page_id
    row = tx.row(NamedAction, _ROWS.where(*mine))
    if row is None:
        raise NotFound("This page has no such action.", noun="action", id=action_id)
    return row


def open_of_run(tx: Tx, run_id: str) -> list[NamedAction]:
    """The actions that a run has taken or will take, in order."""
    return tx.rows(NamedAction, _OPEN_OF_RUN, {"run": run_id})


def find_same(
    tx: Tx, page_id: str, user_id: str, name: str, data: Mapping[str, Any], *, newest: bool
) -> NamedAction | None:
    """An action of the same person with the same values whose run has not ended, or None. With `newest` only
    their last action of this name counts."""
    mine = page_actions.c.page_id == page_id, page_actions.c.user_id == user_id, page_actions.c.name == name
    still = page_actions.c.state.in_(("waiting", "taken"))
    rows = tx.rows(NamedAction, _ROWS.where(*mine, still).order_by(page_actions.c.id.desc()))
    return next((row for row in (rows[:1] if newest else rows) if row.action.data == dict(data)), None)


def count_waiting(tx: Tx, page_id: str) -> int:
    """The number of actions of a page that wait for their run's turn."""
    waiting = page_actions.c.page_id == page_id, page_actions.c.state == "waiting"
    return int(tx.execute(sa.select(sa.func.count()).select_from(page_actions).where(*waiting)).scalar_one())


def list_actions(tx: Tx, page_id: str, state: str | None, before: str | None, limit: int) -> Listed[PageAction, str]:
    """At most `limit` of a page's actions, newest first, in one state or all."""
    chosen = _ROWS.where(page_actions.c.page_id == page_id)
    if state is not None:
        chosen = chosen.where(page_actions.c.state == state)
    if before is not None:
        chosen = chosen.where(page_actions.c.id < before)
    rows = tx.rows(NamedAction, chosen.order_by(page_actions.c.id.desc()).limit(limit + 1))
    return Listed([to_data(row) for row in rows[:limit]], rows[limit - 1].action.id if len(rows) > limit else None)


def drop(tx: Tx, thread_id: str, page_id: str, action_id: str) -> None:
    """Drop an action that a person cancelled: it belongs to no run any more."""
    tx.update(page_actions, {"id": action_id}, state="dropped", run_id=None)
    _tell(tx, thread_id, [action_of(tx, page_id, action_id)])


class PageRuns(RunHooks):
    """The effects of a page's runs on its actions."""

    def on_start(self, tx: Tx, thread_id: str) -> None:
        touch(tx, thread_id)

    def on_take_up(self, tx: Tx, thread_id: str, run_id: str) -> None:
        """Mark the run's waiting actions as taken."""
        _change(tx, thread_id, tx.rows(NamedAction, _WAITING_OF_RUN, {"run": run_id}), "taken")

    def on_end(self, tx: Tx, thread_id: str, run_id: str, status: str, problems: Sequence[str], *, begun: bool) -> None:
        """End the run's actions with it."""
        _change(tx, thread_id, open_of_run(tx, run_id), end_of(status, problems, begun=begun))

    def on_again(self, tx: Tx, thread_id: str, from_run_id: str, to_run_id: str) -> None:
        """Move the actions to the other run. Done actions stay done, and dropped ones belong to no run."""
        undone = _OF_RUN.where(page_actions.c.state.in_(("failed", "dropped")))
        _change(tx, thread_id, tx.rows(NamedAction, undone, {"run": from_run_id}), "taken", run_id=to_run_id)


def to_data(row: NamedAction) -> PageAction:
    """A row with its user's name, as shown in the API."""
    return shape_of(PageAction, row.action, row, by=row.action.user_id)


def _change(
    tx: Tx, thread_id: str, rows: Sequence[NamedAction], state: ActionState, *, run_id: str | None = None
) -> None:
    if not rows:
        return
    values: dict[str, Any] = {"state": state} if run_id is None else {"state": state, "run_id": run_id}
    ids = [row.action.id for row in rows]
    tx.execute(sa.update(page_actions).where(page_actions.c.id.in_(ids)).values(**values))
    _tell(tx, thread_id, tx.rows(NamedAction, _ROWS.where(page_actions.c.id.in_(ids)).order_by(page_actions.c.id)))


def _tell(tx: Tx, thread_id: str, rows: Sequence[NamedAction]) -> None:
    """Publish the current state of actions to the thread."""
    append(tx, thread_id, [("page.action", PageActed(action=to_data(row))) for row in rows])
