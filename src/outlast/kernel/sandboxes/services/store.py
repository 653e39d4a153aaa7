"""Rows of declared services. First argument: the open transaction."""

from dataclasses import asdict
from typing import Any

import sqlalchemy as sa

from outlast.base.errors import NotFound
from outlast.db.database import Tx
from outlast.kernel.sandboxes.rows import ServiceRow
from outlast.kernel.sandboxes.services.rules import Declared, checked, must_restart
from outlast.kernel.sandboxes.shapes import ServiceStateData, ServiceStatus
from outlast.kernel.sandboxes.tables import services


def services_of(tx: Tx, workspace_id: str) -> list[ServiceRow]:
    """The workspace's services, by name."""
    mine = sa.select(services).where(services.c.workspace_id == workspace_id).order_by(services.c.name)
    return tx.rows(ServiceRow, mine)


def service_of(tx: Tx, workspace_id: str, name: str) -> ServiceRow:
    """Raises `NotFound`."""
    row = tx.find(ServiceRow, services, {"workspace_id": workspace_id, "name": name})
    if row is None:
        raise NotFound(f"The service {name[:80]!r} does not exist here.", hint="List the services to see their names.")
    return row


def declared_by(row: ServiceRow) -> Declared:
    """The declaration of a recorded service."""
    return Declared(row.name, row.command, row.port, row.health_path)


def declare(tx: Tx, workspace_id: str, wanted: Declared) -> tuple[ServiceRow, bool]:
    """Add or replace a declaration. Returns it, and whether it must be restarted, and is `stopped` until then. Raises
    `MalformedInput`."""
    present = {row.name: row for row in services_of(tx, workspace_id)}
    checked(wanted, [declared_by(row) for row in present.values()])
    before = present.get(wanted.name)
    fresh = {**asdict(wanted), "state": "stopped", "error": None, "changed_at": tx.now}
    restart = before is None or must_restart(declared_by(before), before.state, wanted)
    if before is None:
        tx.insert(services, workspace_id=workspace_id, created_at=tx.now, **fresh)
    elif restart:
        tx.update(services, {"workspace_id": workspace_id, "name": wanted.name}, **fresh)
    return service_of(tx, workspace_id, wanted.name), restart


def remove(tx: Tx, workspace_id: str, name: str) -> None:
    """Raises `NotFound`."""
    service_of(tx, workspace_id, name)
    tx.execute(sa.delete(services).where(_one(workspace_id, name)))


def set_state(
    tx: Tx, workspace_id: str, name: str, state: ServiceStatus, *, error: str | None = None, restarted: bool = False
) -> bool:
    """Record its state. False if it was removed in the meantime."""
    values: dict[str, Any] = {"state": state, "error": error, "changed_at": tx.now}
    if restarted:
        values["restarts"] = services.c.restarts + 1  # incremented in the database, which loses no update
    changed = tx.execute(sa.update(services).where(_one(workspace_id, name)).values(**values))
    return bool(changed.rowcount)


def stop_all(tx: Tx, workspace_id: str) -> None:
    """Their sandbox has ended or was stopped: none of them runs any more."""
    mine = services.c.workspace_id == workspace_id, services.c.state != "stopped"
    stopped = {"state": "stopped", "error": None, "changed_at": tx.now}
    tx.execute(sa.update(services).where(*mine).values(**stopped))


def states_of(tx: Tx, workspace_id: str) -> list[ServiceStateData]:
    """The states for followers."""
    return [
        ServiceStateData(name=row.name, port=row.port, state=row.state, error=row.error, restarts=row.restarts)
        for row in services_of(tx, workspace_id)
    ]


def _one(workspace_id: str, name: str) -> sa.ColumnElement[bool]:
    return sa.and_(services.c.workspace_id == workspace_id, services.c.name == name)
