"""The files of workspaces: their place, whether a checkpoint has all of them, the run that works with them.

First argument: the open transaction.
"""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

import sqlalchemy as sa

from outlast.base.errors import NotFound, ThreadBusy
from outlast.base.ids import new_id
from outlast.db.database import Tx
from outlast.kernel.runs.tables import runs
from outlast.kernel.sandboxes.rows import WorkspaceRow
from outlast.kernel.sandboxes.rules import ALIVE, PauseKind
from outlast.kernel.sandboxes.tables import sandboxes, workspaces
from outlast.kernel.subjects import registry as subjects
from outlast.kernel.threads.tables import threads

IN_ONE: Final = 400  # values in one query


def place_of(tx: Tx, workspace_id: str) -> WorkspaceRow | None:
    """The workspace, or None if it is gone."""
    return tx.find(WorkspaceRow, workspaces, {"id": workspace_id})


def hold(tx: Tx, workspace_id: str) -> None:
    """Keep other transactions from deleting the workspace until this one ends. Raises `NotFound` if it is gone."""
    # FOR NO KEY UPDATE: rows that refer to it can be added meanwhile.
    held = sa.select(workspaces.c.id).where(workspaces.c.id == workspace_id).with_for_update(key_share=True)
    if tx.execute(held).first() is None:
        raise deleted(workspace_id)


def next_start(tx: Tx, workspace_id: str) -> int:
    """The number of a start that begins now, higher than that of every earlier one. Also holds the workspace, as `hold`
    does, and raises its errors."""
    raised = sa.update(workspaces).where(workspaces.c.id == workspace_id).values(fence=workspaces.c.fence + 1)
    fence: int | None = tx.execute(raised.returning(workspaces.c.fence)).scalar()
    if fence is None:
        raise deleted(workspace_id)
    return fence


def add_workspace(
    tx: Tx, project_id: str, owner_type: str, owner_id: str, workspace_id: str | None = None, **values: Any
) -> str:
    """Add a workspace, with the given id if any. Returns its id. `values` are of its other columns."""
    made = workspace_id or new_id("workspace")
    times = {"created_at": tx.now, "last_used_at": tx.now}
    tx.insert(workspaces, id=made, project_id=project_id, owner_type=owner_type, owner_id=owner_id, **times, **values)
    return made


def mark_kept(tx: Tx, workspace_id: str, since: datetime) -> None:
    """Changes before that time are in the newest checkpoint."""
    mine = workspaces.c.id == workspace_id, workspaces.c.changed_at <= since
    tx.execute(sa.update(workspaces).where(*mine).values(changed_at=None))  # a change since the save stays noted


def mark_changed(tx: Tx, workspace_id: str) -> None:
    """Its files may differ from the newest checkpoint from now on."""
    tx.update(workspaces, {"id": workspace_id}, changed_at=tx.now)


def demand_idle(tx: Tx, workspace_id: str) -> WorkspaceRow:
    """The workspace. Raises `ThreadBusy` while a run works there, is queued or waits for a user; `NotFound`."""
    place = place_of(tx, workspace_id)
    if place is None:
        raise deleted(workspace_id)
    busy = active_run(tx, place)
    if busy is not None:
        raise ThreadBusy(
            "The agent still works with these files, or waits for a user.",
            hint="Wait for the run to end, or cancel it first.",
            active_run_id=busy,
        )
    return place


def away(tx: Tx, workspace_id: str) -> None:
    """Its folder is invalid until its checkpoint has been restored there; its unsaved changes are given up."""
    tx.update(workspaces, {"id": workspace_id}, evicted_at=tx.now, changed_at=None)


def back(tx: Tx, workspace_id: str, node_id: str) -> None:
    """Its files are on this node, and are about to be used."""
    tx.update(workspaces, {"id": workspace_id}, evicted_at=None, node_id=node_id, last_used_at=tx.now)


def evict(tx: Tx, workspace_id: str, ttl: timedelta) -> bool:
    """Give up the folder if it may be removed now, and return whether it may: its files were unused for `ttl`, a
    checkpoint has all of them, no sandbox is awake, and no run works there, is queued or waits for a user."""
    place = place_of(tx, workspace_id)
    if place is None or place.evicted_at is not None or tx.now - place.last_used_at < ttl:
        return False
    if place.checkpoint_id is None or place.changed_at is not None:
        return False
    if active_run(tx, place) is not None or _is_awake(tx, workspace_id):
        return False
    away(tx, workspace_id)  # in the transaction of the check: a later start restores the folder first
    return True


def idle(tx: Tx, node_id: str, ttl: timedelta) -> list[str]:
    """Workspaces of this node that were unused for `ttl`, the longest first."""
    rows = sa.select(workspaces.c.id).where(
        workspaces.c.evicted_at.is_(None), workspaces.c.node_id == node_id, workspaces.c.last_used_at <= tx.now - ttl
    )
    return list(tx.execute(rows.order_by(workspaces.c.last_used_at).limit(IN_ONE)).scalars())


class _Unsaved(NamedTuple):
    id: str
    run_id: str | None


def unsaved(tx: Tx, node_id: str, since: timedelta) -> list[_Unsaved]:
    """Workspaces of this node whose changes were unsaved for `since`, and where no run works. With each its last
    run."""
    working = sa.select(runs.c.id).where(runs.c.workspace_id == workspaces.c.id, runs.c.leg.in_(("ready", "held")))
    last = sa.select(runs.c.id).where(runs.c.workspace_id == workspaces.c.id)
    newest = last.order_by(runs.c.created_at.desc()).limit(1).scalar_subquery()
    rows = sa.select(workspaces.c.id, newest.label("run_id")).where(
        workspaces.c.changed_at <= tx.now - since,
        workspaces.c.evicted_at.is_(None),
        sa.or_(workspaces.c.node_id == node_id, workspaces.c.node_id.is_(None)),
        ~working.exists(),
    )
    return tx.rows(_Unsaved, rows.limit(IN_ONE))


def unknown(tx: Tx, workspace_ids: Collection[str]) -> set[str]:
    """The ids without a workspace."""
    known: set[str] = set()
    wanted = sorted(workspace_ids)
    for at in range(0, len(wanted), IN_ONE):
        some = workspaces.c.id.in_(wanted[at : at + IN_ONE])
        known |= set(tx.execute(sa.select(workspaces.c.id).where(some)).scalars())
    return set(wanted) - known


def active_run(tx: Tx, place: WorkspaceRow) -> str | None:
    """The run that works there, is queued, or waits for a user."""
    here = runs.c.workspace_id == place.id
    if place.owner_type == "thread":
        here |= runs.c.thread_id == place.owner_id
    elif place.owner_type in subjects.owners_of_files():
        here |= runs.c.thread_id.in_(sa.select(threads.c.id).where(threads.c.workspace_id == place.id))
    found: str | None = tx.execute(sa.select(runs.c.id).where(here, runs.c.leg != "ended").limit(1)).scalar()
    return found


def _is_awake(tx: Tx, workspace_id: str) -> bool:
    awake = sa.select(sandboxes.c.id).where(
        sandboxes.c.workspace_id == workspace_id,
        sandboxes.c.state.in_(ALIVE),
        sandboxes.c.pause_kind.is_distinct_from(PauseKind.STOPPED.value),
    )
    return tx.execute(awake.limit(1)).scalar() is not None


def deleted(workspace_id: str) -> NotFound:
    return NotFound("These files were deleted with their thread, screen or page.", id=workspace_id)
