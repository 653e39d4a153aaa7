"""Timers: rows with a due time, handled by the one sweeper. A handler re-checks the state, so late or double is
harmless."""

from datetime import datetime, timedelta
from typing import Literal, NamedTuple

import sqlalchemy as sa

from outlast.db.database import Tx
from outlast.kernel.runs.tables import timers

BELL = "timers"
LONGEST_SLEEP = timedelta(seconds=60)  # the sweeper looks at least this often, so only sooner timers need the bell
TimerKind = Literal[
    "approval_pause",  # a run waits for a person: freeze its sandbox, show it as paused
    "paused_kill",  # a run has been paused for a day: kill its sandbox, keep the files
    "abandon",  # a run goes on with nobody following
    "cancel_force",  # a cancel that no worker confirmed
    "agent_unknown",  # a queued run waits for a server that knows its agent
    "fold",  # a run has ended a while ago: fold its deltas
    "clean_up",  # a run's raw records have had their time
    "page_dormant",  # nobody has used a page for a while
]

_CLEAR = sa.delete(timers).where(timers.c.subject_id == sa.bindparam("subject"), timers.c.kind == sa.bindparam("kind_"))
_CLEAR_ALL = sa.delete(timers).where(timers.c.subject_id == sa.bindparam("subject"))


def set_timer(tx: Tx, kind: TimerKind, subject_id: str, due_at: datetime) -> None:
    """Set or move the timer. Wakes the sweeper after the commit."""
    if not tx.update(timers, {"kind": kind, "subject_id": subject_id}, due_at=due_at):
        tx.insert(timers, kind=kind, subject_id=subject_id, due_at=due_at)
    if due_at - tx.now < LONGEST_SLEEP:
        tx.ring(BELL)


def clear_timers(tx: Tx, subject_id: str, *kinds: TimerKind) -> None:
    for kind in kinds:
        tx.execute(_CLEAR, {"subject": subject_id, "kind_": kind})


def clear_all(tx: Tx, subject_id: str) -> None:
    """No clock runs for this subject any more."""
    tx.execute(_CLEAR_ALL, {"subject": subject_id})


class _DueTimer(NamedTuple):
    kind: TimerKind
    subject_id: str


def take_due(tx: Tx, limit: int = 100) -> list[tuple[TimerKind, str]]:
    """Take timers that are due: (kind, subject id). A taken timer is gone; its handler sets it anew where needed."""
    rows = tx.rows(
        _DueTimer,
        sa.select(timers.c.kind, timers.c.subject_id)
        .where(timers.c.due_at <= tx.now)
        .order_by(timers.c.due_at)
        .limit(limit),
    )
    return [(row.kind, row.subject_id) for row in rows]


def done(tx: Tx, kind: str, subject_id: str) -> None:
    """Remove a timer once handled, unless its handler moved it into the future."""
    tx.execute(
        sa.delete(timers).where(timers.c.kind == kind, timers.c.subject_id == subject_id, timers.c.due_at <= tx.now)
    )


def forget(tx: Tx, kind: str, subject_id: str) -> None:
    """Remove a timer whose subject is gone."""
    tx.execute(sa.delete(timers).where(timers.c.kind == kind, timers.c.subject_id == subject_id))


def next_due(tx: Tx) -> datetime | None:
    moment: datetime | None = tx.execute(sa.select(sa.func.min(timers.c.due_at))).scalar()
    return moment


class _SetTimer(NamedTuple):
    kind: str
    due_at: datetime


def due_of(tx: Tx, subject_id: str) -> list[tuple[str, datetime]]:
    """The running clocks of a run: what is due when."""
    rows = tx.rows(_SetTimer, sa.select(timers.c.kind, timers.c.due_at).where(timers.c.subject_id == subject_id))
    return [(row.kind, row.due_at) for row in rows]
