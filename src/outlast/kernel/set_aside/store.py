"""Items that are set aside, in the database. First argument: the open transaction; kind and id name the item."""

from typing import Final, NamedTuple

import sqlalchemy as sa

from outlast.base.errors import NotFound
from outlast.base.supervision.items import SetAside
from outlast.db.database import Tx
from outlast.kernel.set_aside.rows import SetAsideRow
from outlast.kernel.set_aside.tables import set_aside

BELL: Final = "set_aside"
MOST_LISTED: Final = 500


def add(tx: Tx, item: SetAside) -> None:
    """Set an item aside; one that is so already keeps its row."""
    if not tx.exists(set_aside, {"kind": item.kind, "id": item.id}):
        tx.insert(
            set_aside,
            kind=item.kind,
            id=item.id,
            since=item.since,
            tries=item.tries,
            code=item.code,
            reason=item.reason,
        )
        tx.ring(BELL)


def listed(tx: Tx, limit: int = MOST_LISTED) -> list[SetAside]:
    """The items, newest first, at most `limit`."""
    query = sa.select(set_aside).order_by(set_aside.c.since.desc(), set_aside.c.kind, set_aside.c.id)
    return [_item(row) for row in tx.rows(SetAsideRow, query.limit(limit))]


def count(tx: Tx) -> int:
    return int(tx.execute(sa.select(sa.func.count()).select_from(set_aside)).scalar_one())


class _Key(NamedTuple):
    kind: str
    id: str


def keys(tx: Tx) -> set[tuple[str, str]]:
    """(kind, id) of each."""
    return {(row.kind, row.id) for row in tx.rows(_Key, sa.select(set_aside.c.kind, set_aside.c.id))}


def require(tx: Tx, kind: str, item_id: str) -> SetAside:
    """Raises `NotFound`."""
    row = tx.find(SetAsideRow, set_aside, {"kind": kind, "id": item_id})
    if row is None:
        raise NotFound(f"This {kind} is not set aside.", hint="'outlast doctor' lists what is.", kind=kind, id=item_id)
    return _item(row)


def remove(tx: Tx, kind: str, item_id: str) -> SetAside:
    """Take an item back, so that it is tried again; what it was. Raises `NotFound`."""
    found = require(tx, kind, item_id)
    tx.execute(sa.delete(set_aside).where(set_aside.c.kind == kind, set_aside.c.id == item_id))
    tx.ring(BELL)
    return found


def _item(row: SetAsideRow) -> SetAside:
    return SetAside(*row)
