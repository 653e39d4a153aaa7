"""Rows of declared services. First argument: the open transaction."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from outlast.base.errors import NotFound
from outlast.db.database import Tx
from outlast.kernel.sandboxes.rows import ServiceRow
from outlast.kernel.sandboxes.services.rules import Declared, ServiceState, checked, must_restart
from outlast.kernel.sandboxes.shapes import ServiceStateData
from outlast.kernel.sandboxes.tables import services


@dataclass(frozen=True, slots=True)
class ServiceRecord:
    """One service as recorded; `error` says why it failed or was last restarted."""

    workspace_id: str
    declared: Declared
    state: ServiceState
    error: str | None
    restarts: int
    created_at: datetime
    changed_at: datetime

    @property
    def name(self) -> str:
        return self.declared.name


def services_of(tx: Tx, workspace_id: str) -> list[ServiceRecord]:
    """The workspace's services, by name."""
    mine = sa.select(services).where(services.c.workspace_id == workspace_id).order_by(services.c.name)
    return [_row(row) for row in tx.rows(ServiceRow, mine)]


def service_of(tx: Tx, workspace_id: str, name: str) -> ServiceRecord:
    """Raises `NotFound`."""
    for row in services_of(tx, workspace_id):
        if row.name == name:
            return row
    raise NotFound(f"There is no service {name[:80]!r} here.", hint="The list names those there are.")


def declare(tx: Tx, workspace_id: str, wanted: Declared) -> tuple[ServiceRecord, bool]:
    """Add or replace a declaration: (it, whether it must be started anew, and is `stopped` until then). Raises
    `MalformedInput`."""
    present = services_of(tx, workspace_id)
    checked(wanted, [row.declared for row in present])
    before = next((row for row in present if row.name == wanted.name), None)
    fresh = {
        "command": wanted.command,
        "port": wanted.port,
        "health_path": wanted.health_path,
        "state": ServiceState.STOPPED.value,
        "error": None,
        "changed_at": tx.now,
    }
    if before is None:
        names = {"workspace_id": workspace_id, "name": wanted.name, "created_at": tx.now}
        tx.execute(sa.insert(services).values(**names, **fresh))
        return service_of(tx, workspace_id, wanted.name), True
    anew = must_restart(before.declared, before.state, wanted)
    if anew:
        tx.execute(sa.update(services).where(_one(workspace_id, wanted.name)).values(**fresh))
    return service_of(tx, workspace_id, wanted.name), anew


def remove(tx: Tx, workspace_id: str, name: str) -> None:
    """Raises `NotFound`."""
    service_of(tx, workspace_id, name)
    tx.execute(sa.delete(services).where(_one(workspace_id, name)))


def set_state(
    tx: Tx, workspace_id: str, name: str, state: ServiceState, *, error: str | None = None, restarted: bool = False
) -> bool:
    """Record where it stands. False: it was removed meanwhile."""
    values: dict[str, Any] = {"state": state.value, "error": error, "changed_at": tx.now}
    if restarted:
        values["restarts"] = services.c.restarts + 1
    changed = tx.execute(sa.update(services).where(_one(workspace_id, name)).values(**values))
    return bool(changed.rowcount)


def stop_all(tx: Tx, workspace_id: str) -> None:
    """Their sandbox has ended or was stopped: none of them runs any more."""
    mine = services.c.workspace_id == workspace_id, services.c.state != ServiceState.STOPPED.value
    stopped = {"state": ServiceState.STOPPED.value, "error": None, "changed_at": tx.now}
    tx.execute(sa.update(services).where(*mine).values(**stopped))


def states_of(tx: Tx, workspace_id: str) -> list[ServiceStateData]:
    """As followers see them."""
    return [
        ServiceStateData(
            name=row.name, port=row.declared.port, state=row.state.value, error=row.error, restarts=row.restarts
        )
        for row in services_of(tx, workspace_id)
    ]


def _one(workspace_id: str, name: str) -> sa.ColumnElement[bool]:
    return sa.and_(services.c.workspace_id == workspace_id, services.c.name == name)


def _row(row: ServiceRow) -> ServiceRecord:
    declared = Declared(row.name, row.command, row.port, row.health_path)
    return ServiceRecord(
        row.workspace_id, declared, ServiceState(row.state), row.error, row.restarts, row.created_at, row.changed_at
    )
