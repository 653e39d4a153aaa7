"""Leases: claims of ready runs by nodes, renewals, and runs whose lease lapsed. The first argument is always the open
transaction."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import Any, NamedTuple

import sqlalchemy as sa

from outlast.db.database import Tx
from outlast.kernel.runs.crashes import SUSPECT_DEATHS
from outlast.kernel.runs.model import Run
from outlast.kernel.runs.store import BELL, run_of
from outlast.kernel.runs.tables import effects, runs
from outlast.kernel.streams.writer import RESERVE

# Statements of the hot path, built once: see db/prepared.py.
_DUE = sa.and_(runs.c.leg == "ready", sa.or_(runs.c.ready_at.is_(None), runs.c.ready_at <= sa.bindparam("now")))
_HELD_SUSPECT = sa.select(runs.c.id).where(runs.c.leg == "held", runs.c.deaths >= SUSPECT_DEATHS).limit(1)
_ONE_SUSPECT = 0x73757370656374  # the key of PostgreSQL's advisory lock: one claim of a suspect at a time
# An attempt that recorded a result made progress: the run is not suspected for the death of its process.
_RECORDED = sa.exists().where(
    effects.c.run_id == runs.c.id,
    effects.c.attempt == runs.c.attempt,
    effects.c.status.in_(["finished", "interrupted", "denied", "failed", "cancelled"]),
    sa.not_(effects.c.inherited),  # copied with the attempt number of the run that this one continues
)
_CLAIM = (
    sa.update(runs)
    .where(runs.c.id == sa.bindparam("run"))
    .values(
        leg="held",
        status="running",
        waiting_for=None,
        owner=sa.bindparam("node"),
        attempt=runs.c.attempt + 1,  # the fence: later writes of an earlier holder are refused
        lease_until=sa.bindparam("until"),
        ready_at=None,
        paused_at=None,
        # Above any number that an earlier attempt may have shown without saving it: no number is used twice.
        seq_reserved=runs.c.seq_reserved + RESERVE,
        started_at=sa.func.coalesce(runs.c.started_at, sa.bindparam("now", type_=runs.c.started_at.type)),
    )
    .returning(runs.c.seq_reserved)
)


@cache
def _ready(agents: frozenset[str] | None, *, suspect: bool = False, locked: bool = False) -> sa.Select[Any]:
    """The oldest due runs of these agents, or of any if None: suspects, or all others."""
    deaths = runs.c.deaths >= SUSPECT_DEATHS if suspect else runs.c.deaths < SUSPECT_DEATHS
    chosen = sa.select(runs.c.id).where(_DUE, deaths, of_agents(agents))
    oldest = chosen.order_by(runs.c.created_at).limit(sa.bindparam("most", type_=sa.Integer))
    return oldest.with_for_update(skip_locked=True) if locked else oldest


def of_agents(agents: frozenset[str] | None) -> sa.ColumnElement[bool]:
    """The condition that a run's agent is one of these; no condition if None."""
    if agents is None:
        return sa.true()
    return sa.or_(sa.false(), *(runs.c.profile == name for name in sorted(agents)))


def claim_ready(
    tx: Tx,
    owner: str,
    lease: timedelta,
    limit: int,
    known: Collection[tuple[str, int]] | None = None,
    agents: frozenset[str] | None = None,
) -> list[tuple[Run, int]]:
    """Claim up to `limit` legs that are ready: raises the attempt, takes the lease and reserves numbers. Returns each
    run with the first number that its writer may use. `known`: the legs (run id, attempt) that `owner` works on, if the
    answer to an earlier claim may have been lost; all its other runs are given back first. `agents`: the agents that
    `owner` knows, or None for all; runs of other agents are left to servers that know them."""
    if known is not None:
        _hand_back_strays(tx, owner, known)
    ready = _ready(agents, locked=tx.conn.dialect.name != "sqlite")  # SQLite has a single writer
    chosen = list(tx.execute(ready, {"now": tx.now, "most": limit}).scalars())
    if len(chosen) < limit:  # suspects last: no other run waits for one
        chosen += _claimable_suspect(tx, agents)
    claimed = []
    for run_id in chosen:
        claim = {"run": run_id, "node": owner, "until": tx.now + lease, "now": tx.now}
        reserved = tx.execute(_CLAIM, claim).scalar_one()
        claimed.append((run_of(tx, run_id), reserved - RESERVE + 1))
    return claimed


def _claimable_suspect(tx: Tx, agents: frozenset[str] | None) -> list[str]:
    """The oldest suspect that is ready, unless another one is being executed on any node."""
    suspect, oldest = _ready(agents, suspect=True), {"now": tx.now, "most": 1}
    if tx.execute(suspect, oldest).scalar() is None:  # the usual case: no lock is needed
        return []
    # Held until the commit: otherwise two nodes that claim at once would both find no suspect held.
    if tx.conn.dialect.name == "postgresql":
        tx.execute(sa.select(sa.func.pg_advisory_xact_lock(_ONE_SUSPECT)))
    if tx.execute(_HELD_SUSPECT).scalar() is not None:
        return []
    return list(tx.execute(_ready(agents, suspect=True, locked=True), oldest).scalars())


def next_ready_at(tx: Tx) -> datetime | None:
    """The time at which the next waiting leg becomes ready, or None if no leg waits. A leg whose time has come waits
    for a free worker, not for the clock."""
    moment: datetime | None = tx.execute(
        sa.select(sa.func.min(runs.c.ready_at)).where(runs.c.leg == "ready", runs.c.ready_at > tx.now)
    ).scalar()
    return moment


class _Held(NamedTuple):
    id: str
    attempt: int


def renew_leases(tx: Tx, owner: str, run_ids: Sequence[str], lease: timedelta) -> set[tuple[str, int]]:
    """Renew the leases of these runs; returns those that this owner holds, each with its attempt. Runs that this owner
    holds by mistake are not renewed: a run whose hand-back failed, or whose claim was lost on the way, has no leg any
    more and must lapse."""
    held = sa.and_(runs.c.id.in_(run_ids), runs.c.owner == owner, runs.c.leg == "held")
    renew = sa.update(runs).where(held).values(lease_until=tx.now + lease)
    return {(row.id, row.attempt) for row in tx.rows(_Held, renew.returning(runs.c.id, runs.c.attempt))}


def free_lapsed(tx: Tx, everything: bool = False) -> list[str]:
    """Make the runs ready whose lease lapsed (`everything`: all held ones, if no other process is alive). Each counts
    as a death of the process, unless the attempt had recorded a result; a living process takes that back
    (`crashes.take_back_death`)."""
    lapsed = runs.c.leg == "held"
    if not everything:
        lapsed = sa.and_(lapsed, runs.c.lease_until < tx.now)
    # The attempt stays until the next claim: a holder that wakes up is already refused, because its leg is not held.
    deaths = sa.case((_RECORDED, 0), else_=runs.c.deaths + 1)
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
    """Give the leg back, to be claimed again at once or after a while. Refused silently when the fence moved on."""
    ready_at = tx.now + timedelta(seconds=after_s) if after_s else None
    held = {"id": run_id, "attempt": attempt, "leg": "held"}
    tx.update(runs, held, leg="ready", owner=None, lease_until=None, ready_at=ready_at)
    tx.ring(BELL if ready_at is None else "timers")


def _hand_back_strays(tx: Tx, owner: str, known: Collection[tuple[str, int]]) -> None:
    """Give back the runs of `owner` without a leg. No process died during them."""
    held = sa.select(runs.c.id, runs.c.attempt).where(runs.c.leg == "held", runs.c.owner == owner)
    for row in tx.rows(_Held, held):
        if (row.id, row.attempt) not in known:
            hand_back(tx, row.id, row.attempt)
