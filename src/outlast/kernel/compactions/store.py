"""Compactions in the database. The first argument is always the open transaction."""

from collections.abc import Mapping
from typing import Any, Final

import sqlalchemy as sa

from outlast.base.ids import new_id
from outlast.base.lookups import demand_found
from outlast.db.database import Tx
from outlast.kernel.compactions.rows import CompactionRow
from outlast.kernel.compactions.shapes import CompactionData, ThreadCompacted
from outlast.kernel.compactions.tables import compactions
from outlast.kernel.row_shapes import shape_of
from outlast.kernel.streams.log_store import append

NEWEST: Final = (compactions.c.to_position.desc(), compactions.c.id.desc())
_IN_USE: Final = (
    sa.select(compactions)
    .where(compactions.c.thread_id == sa.bindparam("thread"), compactions.c.undone_at.is_(None))
    .order_by(*NEWEST)
    .limit(1)
)


def compaction_in_use(tx: Tx, thread_id: str) -> CompactionData | None:
    """The newest compaction of the thread that is in use, or None."""
    row = tx.row(CompactionRow, _IN_USE, {"thread": thread_id})
    return None if row is None else shape_of(CompactionData, row)


def add_compaction(
    tx: Tx, thread_id: str, covers: Mapping[str, int], text: str, *, run_id: str, model: str, usage: Mapping[str, Any]
) -> None:
    """Add a compaction, and announce it to the thread's followers. `covers`: `to_position` and `last_position`."""
    tx.insert(
        compactions,
        id=new_id("compaction"),
        thread_id=thread_id,
        text=text,
        run_id=run_id,
        model=model,
        input_tokens=usage.get("input_tokens", 0),
        output_tokens=usage.get("output_tokens", 0),
        created_at=tx.now,
        **covers,
    )
    announce(tx, thread_id)


def undo(tx: Tx, thread_id: str, compaction_id: str, user_id: str) -> None:
    """Stop the use of a compaction, and announce what is used instead. Repeating does nothing. Raises `NotFound`."""
    key = {"id": compaction_id, "thread_id": thread_id}
    row = demand_found(tx.find(CompactionRow, compactions, key), "This thread has no such summary.", **key)
    if row.undone_at is None:
        tx.update(compactions, key, undone_at=tx.now, undone_by=user_id)
        announce(tx, thread_id)


def announce(tx: Tx, thread_id: str) -> None:
    """Send the summary in use to the followers of the thread."""
    event = ThreadCompacted(thread_id=thread_id, compaction=compaction_in_use(tx, thread_id))
    append(tx, thread_id, [("thread.compacted", event)])


def copy_to_fork(tx: Tx, from_thread_id: str, to_thread_id: str, upto: int) -> None:
    """Copy the compactions of messages that the fork has, up to this position."""
    source = compactions.c.thread_id == from_thread_id, compactions.c.last_position <= upto
    rows = tx.rows(CompactionRow, sa.select(compactions).where(*source).order_by(compactions.c.id))
    copies = [row._replace(id=new_id("compaction"), thread_id=to_thread_id) for row in rows]
    tx.insert_many(compactions, [copy._asdict() for copy in copies])
