"""Items that are set aside, in the database. First argument: the open transaction; kind and id name the item."""

from typing import Final

import sqlalchemy as sa

from outlast.base.lookups import demand_found
from outlast.base.supervision.item_guard import SetAside
from outlast.db.database import Tx
from outlast.kernel.set_aside.tables import set_aside

BELL: Final = "set_aside"
MAX_LISTED: Final = 500


def add(tx: Tx, item: SetAside) -> None:
    """Set an item aside; an item that is already set aside keeps its row."""
    if not tx.exists(set_aside, {"kind": item.kind, "id": item.id}):
        tx.insert(set_aside, **item._asdict())
        tx.ring(BELL)


def listed(tx: Tx, limit: int = MAX_LISTED) -> list[SetAside]:
    """The items, newest first, at most `limit`."""
    query = sa.select(set_aside).order_by(set_aside.c.since.desc(), set_aside.c.kind, set_aside.c.id)
    return tx.rows(SetAside, query.limit(limit))


def keys(tx: Tx) -> set[tuple[str, str]]:
    """(kind, id) of each item."""
    return {(item.kind, item.id) for item in tx.rows(SetAside, sa.select(set_aside))}


def remove(tx: Tx, kind: str, item_id: str) -> SetAside:
    """Take an item back, so that it is retried. Returns the item. Raises `NotFound`."""
    row = tx.find(SetAside, set_aside, {"kind": kind, "id": item_id})
    hint = "'outlast doctor' lists the items that are."
    found = demand_found(row, f"This {kind} is not set aside.", hint=hint, kind=kind, id=item_id)
    tx.execute(sa.delete(set_aside).where(set_aside.c.kind == kind, set_aside.c.id == item_id))
    tx.ring(BELL)
    return found
