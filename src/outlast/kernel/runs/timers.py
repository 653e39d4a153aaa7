"""Timers: rows with a due time, handled by the sweeper. A handler checks the state again, so a late or double timer is
harmless."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import cache
from typing import Any, get_args

import sqlalchemy as sa

from outlast.db.database import Tx
from outlast.db.prepared import upsert_into
from outlast.kernel.runs.rows import TimerRow
from outlast.kernel.runs.tables import TimerKind, function_steps, timers

BELL = "timers"
LONGEST_SLEEP = timedelta(seconds=60)  # the sweeper looks at least this often, so only sooner timers need the bell

_CLEAR = sa.delete(timers).where(timers.c.subject_id == sa.bindparam("subject"), timers.c.kind == sa.bindparam("kind_"))
ANY_KIND = sa.or_(*(timers.c.kind == kind for kind in get_args(TimerKind)))  # the key begins with the kind
_OF_SUBJECT = sa.and_(ANY_KIND, timers.c.subject_id == sa.bindparam("subject"))
_CLEAR_ALL = sa.delete(timers).where(_OF_SUBJECT)
_ALL = sa.select(timers).where(_OF_SUBJECT)


@cache
def _set(dialect: str) -> sa.Executable:
    insert = upsert_into(timers, dialect)
    return insert.on_conflict_do_update(index_elements=["kind", "subject_id"], set_={"due_at": insert.excluded.due_at})


def set_timer(tx: Tx, kind: TimerKind, subject_id: str, due_at: datetime) -> None:
    """Set or move the timer. Wakes the sweeper after the commit."""
    tx.execute(_set(tx.conn.dialect.name), {"kind": kind, "subject_id": subject_id, "due_at": due_at})
    if due_at - tx.now < LONGEST_SLEEP:
        tx.ring(BELL)


def replace_all(tx: Tx, subject_id: str, due: Mapping[TimerKind, datetime]) -> None:
    """Set these as the only timers of the subject. Wakes the sweeper as `set_timer` does."""
    tx.execute(_CLEAR_ALL, {"subject": subject_id})
    tx.insert_many(timers, [{"kind": kind, "subject_id": subject_id, "due_at": due_at} for kind, due_at in due.items()])
    if min(due.values()) - tx.now < LONGEST_SLEEP:
        tx.ring(BELL)


def clear_timers(tx: Tx, subject_id: str, *kinds: str) -> None:
    for kind in kinds:
        tx.execute(_CLEAR, {"subject": subject_id, "kind_": kind})


def due_now(tx: Tx, limit: int = 100) -> list[TimerRow]:
    """Timers that are due, the longest overdue first. Each stays until `done` is called."""
    return tx.rows(TimerRow, sa.select(timers).where(timers.c.due_at <= tx.now).order_by(timers.c.due_at).limit(limit))


def done(tx: Tx, kind: str, subject_id: str) -> None:
    """Remove a timer once handled, unless its handler moved it into the future."""
    tx.execute(
        sa.delete(timers).where(timers.c.kind == kind, timers.c.subject_id == subject_id, timers.c.due_at <= tx.now)
    )


def next_due(tx: Tx) -> datetime | None:
    moment: datetime | None = tx.execute(sa.select(sa.func.min(timers.c.due_at))).scalar()
    return moment


def timed_in(of_runs: sa.Select[tuple[str]]) -> tuple[sa.Select[Any], sa.Select[Any]]:
    """The steps and the functions of these runs, which are subjects of timers too."""
    mine = function_steps.c.run_id.in_(of_runs)
    return sa.select(function_steps.c.id).where(mine), sa.select(function_steps.c.effect_id).where(mine)


def timers_of(tx: Tx, subject_id: str) -> list[TimerRow]:
    """The running timers of a run."""
    return tx.rows(TimerRow, _ALL, {"subject": subject_id})
