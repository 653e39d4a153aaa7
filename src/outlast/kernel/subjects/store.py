"""Subjects in the database: code shared by the subjects of all apps. First argument: the open transaction."""

from collections.abc import Callable
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import sqlalchemy as sa
from pydantic import BaseModel

from outlast.base.errors import NotFound
from outlast.db.database import R, Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.lists import Listed
from outlast.kernel.projects.permissions import require_owned
from outlast.kernel.projects.rules import Right
from outlast.kernel.projects.tables import projects
from outlast.kernel.sandboxes.tables import sandboxes
from outlast.kernel.streams.log_store import append
from outlast.kernel.threads.tables import threads


class SubjectData(Protocol):
    """The fields that every subject's row and data have."""

    @property
    def id(self) -> str: ...
    @property
    def project_id(self) -> str: ...
    @property
    def thread_id(self) -> str: ...


T = TypeVar("T")
S = TypeVar("S", bound=NamedTuple)
D = TypeVar("D", bound=SubjectData)


class SubjectStore(Generic[R, S, D]):
    """The subjects of one app, rows of `table`, whole as `row`. People see the result of `to_data` for a `shown`, which
    is selected by `listed`. `changed` and `deleted` are the events `{noun}.created`, `{noun}.updated` and
    `{noun}.deleted`. A change of the shown data calls `announce` in its transaction."""

    def __init__(
        self,
        noun: str,
        table: sa.Table,
        row: type[R],
        *,
        shown: type[S],
        listed: sa.Select[Any],
        to_data: Callable[[S], D],
        changed: Callable[..., BaseModel],
        deleted: Callable[..., BaseModel],
    ) -> None:
        self.noun, self.table, self._row = noun, table, row
        self._shown, self._listed, self._to_data = shown, listed, to_data
        self._changed, self._deleted = changed, deleted
        this = table.c.id == sa.bindparam("subject")
        self._find = sa.select(table).where(this)
        self._find_held = self._find.with_for_update(key_share=True)
        self._find_shown = listed.where(this)

    def require(self, tx: Tx, actor: Actor, subject_id: str, right: Right) -> R:
        """The row, if the actor has `right` in its project. Raises `NotFound`, `Forbidden`."""
        return require_owned(tx, actor, self._row, self.table, self.noun, subject_id, right)

    def get(self, tx: Tx, subject_id: str) -> R:
        """The row. Raises `NotFound`."""
        return self._found(tx.row(self._row, self._find, {"subject": subject_id}), subject_id)

    def hold(self, tx: Tx, subject_id: str) -> R:
        """As `get`; the row is held until the transaction ends. Call it before the thread is held."""
        return self._found(tx.row(self._row, self._find_held, {"subject": subject_id}), subject_id)

    def of_thread(self, tx: Tx, thread_id: str) -> R | None:
        """The row of the subject whose own thread this is, or None."""
        return tx.find(self._row, self.table, {"thread_id": thread_id})

    def of_workspace(self, tx: Tx, workspace_id: str) -> R | None:
        """The row of the subject whose files are in a workspace, or None."""
        return tx.find(self._row, self.table, {"workspace_id": workspace_id})

    def count(self, tx: Tx, project_id: str) -> int:
        """The number of subjects in a project. The project is held until the transaction ends, so that two callers that
        create the last allowed one at once do not both succeed."""
        tx.execute(sa.select(projects.c.id).where(projects.c.id == project_id).with_for_update(key_share=True))
        mine = sa.select(sa.func.count()).select_from(self.table).where(self.table.c.project_id == project_id)
        return int(tx.execute(mine).scalar_one())

    def data(self, tx: Tx, subject_id: str) -> D:
        """The subject as shown in lists and events. Raises `NotFound`."""
        return self._to_data(self._found(tx.row(self._shown, self._find_shown, {"subject": subject_id}), subject_id))

    def of_project(self, tx: Tx, project_id: str, after: str | None, limit: int) -> Listed[D, str]:
        """At most `limit` subjects of a project in the order of creation, after the id `after`."""
        chosen = self._listed.where(self.table.c.project_id == project_id)
        if after is not None:
            chosen = chosen.where(self.table.c.id > after)
        rows = tx.rows(self._shown, chosen.order_by(self.table.c.id).limit(limit + 1))
        items = [self._to_data(row) for row in rows[:limit]]
        return Listed(items, items[-1].id if len(rows) > limit else None)

    def update(self, tx: Tx, subject_id: str, **values: Any) -> None:
        """Set columns and the time of change. Not announced yet."""
        tx.update(self.table, {"id": subject_id}, **values, updated_at=tx.now)

    def announce(self, tx: Tx, subject_id: str, by: str | None = None, *, created: bool = False) -> D:
        """Append its current state to the project's log; `by` is the user who changed it, or None for a run or the
        server. Raises `NotFound`."""
        data = self.data(tx, subject_id)
        event = f"{self.noun}.{'created' if created else 'updated'}"
        append(tx, data.project_id, [(event, self._changed(**{self.noun: data, "by": by}))])
        return data

    def delete(self, tx: Tx, subject_id: str) -> None:
        """Remove the row with its dependent rows, and append the event to the project's log. The caller removes its
        thread and workspace."""
        removed = sa.delete(self.table).where(self.table.c.id == subject_id).returning(self.table.c.project_id)
        project_id = tx.execute(removed).scalar()
        if project_id is not None:
            append(tx, project_id, [(f"{self.noun}.deleted", self._deleted(**{f"{self.noun}_id": subject_id}))])

    def _found(self, row: T | None, subject_id: str) -> T:
        if row is None:
            named: dict[str, Any] = {f"{self.noun}_id": subject_id}
            raise NotFound(f"This {self.noun} does not exist.", **named)
        return row


def with_thread_and_sandbox(table: sa.Table, *columns: sa.ColumnElement[Any]) -> sa.Select[Any]:
    """These columns of subjects with files, and for each `run_status, active_run_id, message_count` of its thread and
    the `sandbox_id` of its newest sandbox."""
    newest = sa.select(sa.func.max(sandboxes.c.id)).where(sandboxes.c.workspace_id == table.c.workspace_id)
    thread = threads.c.run_status, threads.c.active_run_id, threads.c.message_count
    listed = sa.select(*columns, *thread, newest.scalar_subquery().label("sandbox_id"))
    return listed.join(threads, threads.c.id == table.c.thread_id)
