"""Sandboxes that programs request through an API: rows of `hosted_sandboxes`. First argument: the open transaction.

Such a sandbox is named by its workspace, which stays the same while the machine under it is stopped, lost and started
again. It runs until `ends_at`, when it is paused or killed; the idle clocks begin once it is paused.
"""

import secrets
from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from typing import Any, Final, Literal, NamedTuple

import sqlalchemy as sa

from outlast.base.ids import new_id
from outlast.base.records import dataclass
from outlast.db.database import Tx
from outlast.kernel.sandboxes.checkpoints.workspaces import add_workspace
from outlast.kernel.sandboxes.tables import hosted_sandboxes, sandboxes, workspaces

BELL: Final = "hosted_sandboxes"  # rung when an end was set or moved
BASE: Final = "base"  # the template that is the bare base
OWNER: Final = "api"
OnTimeout = Literal["pause", "kill"]


@dataclass(frozen=True, slots=True)
class HostedOrder:
    """A program's request. `options` are stored for the surface to read later."""

    timeout_s: float
    template: str = BASE
    on_timeout: OnTimeout = "kill"
    metadata: Mapping[str, str] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)


class Hosted(NamedTuple):
    """One sandbox of the API. `pause_kind` is the machine's (`frozen` or `stopped`), None while it is awake or gone,
    `node_id` the node it was last on; `access_token` opens only this sandbox."""

    workspace_id: str
    user_id: str
    template: str
    metadata: Mapping[str, str]
    env: Mapping[str, str]
    options: Mapping[str, Any]
    ends_at: datetime
    on_timeout: OnTimeout
    paused_at: datetime | None
    access_token: str
    created_at: datetime
    project_id: str
    pause_kind: str | None
    node_id: str | None

    @property
    def runs(self) -> bool:
        return self.paused_at is None


def add(tx: Tx, project_id: str, user_id: str, order: HostedOrder, ends_at: datetime) -> str:
    """Record a new one with its own workspace; returns the workspace's id."""
    workspace_id = new_id("workspace")
    add_workspace(tx, project_id, OWNER, workspace_id, workspace_id)
    tx.insert(
        hosted_sandboxes,
        workspace_id=workspace_id,
        user_id=user_id,
        template=order.template,
        metadata=dict(order.metadata),
        env=dict(order.env),
        options=dict(order.options),
        ends_at=ends_at,
        on_timeout=order.on_timeout,
        access_token=f"sat_{secrets.token_hex(24)}",  # 192 random bits: it opens the sandbox without a user's key
        created_at=tx.now,
    )
    tx.ring(BELL)
    return workspace_id


def find(tx: Tx, workspace_id: str) -> Hosted | None:
    """The sandbox of this workspace, or None if it was killed or not made through the API."""
    return tx.row(Hosted, _all().where(hosted_sandboxes.c.workspace_id == workspace_id))


def of_project(tx: Tx, project_id: str) -> list[Hosted]:
    """All sandboxes of a project, the newest first."""
    mine = _all().where(workspaces.c.project_id == project_id)
    return tx.rows(Hosted, mine.order_by(hosted_sandboxes.c.workspace_id.desc()))


def running(tx: Tx, limit: int) -> list[Hosted]:
    """At most `limit` running ones, the newest first."""
    now = _all().where(hosted_sandboxes.c.paused_at.is_(None))
    return tx.rows(Hosted, now.order_by(hosted_sandboxes.c.workspace_id.desc()).limit(limit))


def count_running(tx: Tx, project_id: str) -> tuple[int, int]:
    """The numbers of running ones: of this project, and of all."""
    counted = (
        sa.select(sa.func.count(), sa.func.count().filter(workspaces.c.project_id == project_id))
        .select_from(hosted_sandboxes.join(workspaces, workspaces.c.id == hosted_sandboxes.c.workspace_id))
        .where(hosted_sandboxes.c.paused_at.is_(None))
    )
    row: Any = tx.execute(counted).one()
    return int(row[1]), int(row[0])


def running_workspaces(tx: Tx) -> set[str]:
    """Workspaces with a running one: the idle clocks do not count there."""
    now = sa.select(hosted_sandboxes.c.workspace_id).where(hosted_sandboxes.c.paused_at.is_(None))
    return set(tx.execute(now).scalars())


def due(tx: Tx) -> tuple[list[Hosted], datetime | None]:
    """Running ones that have reached their end, and the time at which the next one does."""
    late = _all().where(hosted_sandboxes.c.paused_at.is_(None), hosted_sandboxes.c.ends_at <= tx.now)
    later = sa.select(sa.func.min(hosted_sandboxes.c.ends_at)).where(
        hosted_sandboxes.c.paused_at.is_(None), hosted_sandboxes.c.ends_at > tx.now
    )
    return tx.rows(Hosted, late), tx.execute(later).scalar()


def run_until(tx: Tx, workspace_id: str, ends_at: datetime) -> None:
    """Record that it runs until then."""
    _change(tx, workspace_id, ends_at=ends_at, paused_at=None)


def move_end(tx: Tx, workspace_id: str, ends_at: datetime) -> None:
    _change(tx, workspace_id, ends_at=ends_at)


def mark_paused(tx: Tx, workspace_id: str) -> bool:
    """Record the pause. False if it was already paused, or is gone."""
    mine = hosted_sandboxes.c.workspace_id == workspace_id
    running_now = mine & hosted_sandboxes.c.paused_at.is_(None)
    # One statement: of two callers that pause it at once, one continues.
    return tx.execute(sa.update(hosted_sandboxes).where(running_now), {"paused_at": tx.now}).rowcount == 1


def set_options(tx: Tx, workspace_id: str, options: Mapping[str, Any]) -> None:
    _change(tx, workspace_id, options=dict(options))


def _change(tx: Tx, workspace_id: str, **values: Any) -> None:
    tx.update(hosted_sandboxes, {"workspace_id": workspace_id}, **values)
    tx.ring(BELL)


def _all() -> sa.Select[Any]:
    newest = (
        sa.select(sandboxes.c.id)
        .where(sandboxes.c.workspace_id == hosted_sandboxes.c.workspace_id)
        .order_by(sandboxes.c.created_at.desc(), sandboxes.c.id.desc())
        .limit(1)
        .correlate(hosted_sandboxes)
        .scalar_subquery()
    )
    columns = workspaces.c.project_id, sandboxes.c.pause_kind, sandboxes.c.node_id
    places = hosted_sandboxes.join(workspaces, workspaces.c.id == hosted_sandboxes.c.workspace_id)
    return sa.select(hosted_sandboxes, *columns).select_from(places.outerjoin(sandboxes, sandboxes.c.id == newest))
