"""Leases of claimed runs: renewals, runs whose lease lapsed, and runs that are handed back. `claims` takes the leases.
The first argument is always the open transaction."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

import sqlalchemy as sa

from outlast.db.database import Tx
from outlast.kernel.runs import crashes
from outlast.kernel.runs.store import BELL
from outlast.kernel.runs.tables import effects, function_steps, runs

# An attempt that recorded a result made progress: the run is not suspected for the death of its process.
_RECORDED_STEP = sa.exists().where(function_steps.c.run_id == runs.c.id, function_steps.c.attempt == runs.c.attempt)
_RECORDED_EFFECT = sa.exists().where(
    effects.c.run_id == runs.c.id,
    effects.c.attempt == runs.c.attempt,
    effects.c.status.in_(["finished", "interrupted", "denied", "failed", "cancelled"]),
    sa.not_(effects.c.inherited),  # copied with the attempt number of the run that this one continues
)


class _Held(NamedTuple):
    id: str
    attempt: int


def renew_leases(tx: Tx, owner: str, run_ids: Sequence[str], lease: timedelta) -> set[tuple[str, int]]:
    """Renew the leases of these runs; returns those that this owner holds, each with its attempt. Runs that this owner
    holds by mistake are not renewed: a run whose hand-back failed, or whose claim was lost on the way, has no leg any
    more and must lapse. A run whose row another transaction holds is skipped until the next time: if this process
    stands still, that transaction may stay open for long."""
    held = sa.and_(runs.c.id.in_(run_ids), runs.c.owner == owner, runs.c.leg == "held")
    free = sa.select(runs.c.id).where(held).with_for_update(skip_locked=True)
    renew = sa.update(runs).where(runs.c.id.in_(free)).values(lease_until=tx.now + lease)
    renewed = tx.rows(_Held, renew.returning(runs.c.id, runs.c.attempt))
    skipped = tx.rows(_Held, sa.select(runs.c.id, runs.c.attempt).where(held)) if len(renewed) < len(run_ids) else []
    return {(row.id, row.attempt) for row in [*renewed, *skipped]}


def free_lapsed(tx: Tx, everything: bool = False) -> list[str]:
    """Make the runs ready whose lease lapsed (`everything`: all held ones, if no other process is alive). Each counts
    as a death of the process, unless the attempt had recorded a result; a living process takes that back
    (`crashes.take_back_death`)."""
    lapsed = runs.c.leg == "held"
    if not everything:
        lapsed = sa.and_(lapsed, runs.c.lease_until < tx.now)
    # The attempt stays until the next claim: a holder that wakes up is already refused, because its leg is not held.
    deaths = sa.case((sa.or_(_RECORDED_EFFECT, _RECORDED_STEP), 0), else_=runs.c.deaths + 1)
    free = sa.update(runs).where(lapsed).values(leg="ready", owner=None, deaths=deaths, died_attempt=runs.c.attempt)
    freed = list(tx.execute(free.returning(runs.c.id)).scalars())
    if freed:
        tx.ring(BELL)
    return freed


def next_lapse(tx: Tx) -> datetime | None:
    moment: datetime | None = tx.execute(
        sa.select(sa.func.min(runs.c.lease_until)).where(runs.c.leg == "held")
    ).scalar()
    return moment


def hand_back(tx: Tx, run_id: str, attempt: int, after_s: float = 0) -> None:
    """Give the leg back, to be claimed again at once or after a while. If its lease has lapsed meanwhile, no process
    died of it: the one that held it says so by this call."""
    ready_at = tx.now + timedelta(seconds=after_s) if after_s else None
    held = {"id": run_id, "attempt": attempt, "leg": "held"}
    if not tx.update(runs, held, leg="ready", owner=None, lease_until=None, ready_at=ready_at):
        crashes.take_back_death(tx, run_id, attempt)
        return
    tx.ring(BELL if ready_at is None else "timers")


def hand_back_strays(tx: Tx, owner: str, known: Collection[tuple[str, int]]) -> None:
    """Give back the runs of `owner` without a leg. No process died during them."""
    held = sa.select(runs.c.id, runs.c.attempt).where(runs.c.leg == "held", runs.c.owner == owner)
    for row in tx.rows(_Held, held):
        if (row.id, row.attempt) not in known:
            hand_back(tx, row.id, row.attempt)
