"""Rows of nodes. First argument: the open transaction."""

from datetime import timedelta
from typing import Any, Final

import sqlalchemy as sa

from outlast.db.database import Tx
from outlast.kernel.nodes.rows import NodeRow
from outlast.kernel.nodes.tables import nodes

REMOVED_AFTER: Final = timedelta(days=1)
_LOCK: Final = 0x6F75746E  # of PostgreSQL: one node at a time enters


def listed(tx: Tx) -> list[NodeRow]:
    """All nodes, the latest started first. The dead ones of the last day are among them."""
    return tx.rows(NodeRow, sa.select(nodes).order_by(nodes.c.started_at.desc()))


def lives(row: NodeRow, tx: Tx, lease_s: float) -> bool:
    """True if it renewed its row within the lease."""
    return row.seen_at > tx.now - timedelta(seconds=lease_s)


def living(tx: Tx, node_id: str, lease_s: float) -> NodeRow | None:
    """The node, if it renewed its row within the lease."""
    row = tx.find(NodeRow, nodes, {"id": node_id})
    return row if row is not None and lives(row, tx, lease_s) else None


def enter_alone(tx: Tx) -> None:
    """Other nodes that enter wait until this transaction ends."""
    if tx.conn.dialect.name == "postgresql":
        tx.execute(sa.text(f"select pg_advisory_xact_lock({_LOCK})"))


def put(tx: Tx, node_id: str, **facts: Any) -> None:
    """Add or replace a node, which starts now."""
    values = {**facts, "started_at": tx.now, "seen_at": tx.now, "left_at": None}
    if not tx.insert_missing(nodes, id=node_id, **values):
        tx.update(nodes, {"id": node_id}, **values)


def beat(tx: Tx, node_id: str) -> bool:
    """Renew the row. False if it is gone, because the node was dead for a day."""
    return tx.update(nodes, {"id": node_id}, seen_at=tx.now) == 1


def beat_unless_held(tx: Tx, node_id: str) -> None:
    """As `beat`, but does not wait for another transaction that holds the row: if this process stands still in the
    middle of one, that may stay open for long."""
    free = sa.select(nodes.c.id).where(nodes.c.id == node_id).with_for_update(skip_locked=True)
    tx.execute(sa.update(nodes).where(nodes.c.id.in_(free)).values(seen_at=tx.now))


def leave(tx: Tx, node_id: str) -> None:
    """The node stops cleanly: others need not fit it any more. Its sandboxes are kept for a lease, for its restart."""
    tx.update(nodes, {"id": node_id}, left_at=tx.now)


def remove_old(tx: Tx) -> None:
    """Remove nodes that have been dead for a day."""
    tx.execute(sa.delete(nodes).where(nodes.c.seen_at < tx.now - REMOVED_AFTER))
