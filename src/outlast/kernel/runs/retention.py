"""Retention of an ended run's records: deltas are folded soon, steps and calls are removed after a while."""

from typing import Final

import sqlalchemy as sa

from outlast.db.database import Database, Tx
from outlast.kernel.idempotency import KEPT, idempotency
from outlast.kernel.runs import store
from outlast.kernel.runs.rules import ENDED
from outlast.kernel.runs.tables import approvals, effects, runs
from outlast.kernel.streams.fold import fold_deltas
from outlast.kernel.streams.log_store import Line, read_all, replace_all

_GONE_WITH_THE_RECORDS: Final = (b'"event":"step.', b'"event":"part.', b'"event":"tool_call.', b'"event":"approval.',
                                 b'"event":"question.', b'"event":"run.status"', b'"event":"files.')  # fmt: skip


def _stays(line: bytes) -> bool:
    """True if a cleaned log keeps this line: the beginning and the end with the saved message, nothing in between."""
    head = line[:120]
    return not any(mark in head for mark in _GONE_WITH_THE_RECORDS)


async def fold(db: Database, run_id: str) -> None:
    """Replace the deltas by snapshots, with an equal result from any cursor."""
    # The log of an ended run no longer changes, so a read outside of the transaction that replaces it is enough.
    if (await db.read(store.run_of, run_id)).status not in ENDED:
        return
    folded, count = await db.read(_fold_log, run_id)
    if len(folded) < count:
        await db.write(replace_all, run_id, folded)


async def clean_up(db: Database, run_id: str) -> None:
    """Remove the records of steps and calls. Messages stay, and the log keeps the lines that replay to the same end."""
    if (await db.read(store.run_of, run_id)).status not in ENDED:
        return
    folded, _ = await db.read(_fold_log, run_id)
    await db.write(_remove, run_id, [line for line in folded if _stays(line[1])])


def _fold_log(tx: Tx, run_id: str) -> tuple[list[Line], int]:
    """The folded log, and the number of its lines before folding."""
    lines = read_all(tx, run_id)
    return fold_deltas(lines), len(lines)


def _remove(tx: Tx, run_id: str, kept: list[Line]) -> None:
    store.hold_run(tx, run_id)
    replace_all(tx, run_id, kept)
    tx.execute(sa.delete(approvals).where(approvals.c.run_id == run_id))
    tx.execute(sa.delete(effects).where(effects.c.run_id == run_id))
    tx.update(runs, {"id": run_id}, cleaned=True)
    tx.execute(sa.delete(idempotency).where(idempotency.c.created_at < tx.now - KEPT))
