"""Claims: which ready runs a node takes, with a lease that `leases` renews. The first argument is always the open
transaction."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import Any, NamedTuple

import sqlalchemy as sa

from outlast.db.database import Tx
from outlast.kernel.runs.crashes import SUSPECT_DEATHS
from outlast.kernel.runs.leases import hand_back_strays
from outlast.kernel.runs.store import run_of
from outlast.kernel.runs.tables import runs
from outlast.kernel.runs.transcript import Effect, Run, Transcript
from outlast.kernel.streams.log_store import Line, NamedEvent
from outlast.kernel.streams.writer import RESERVE

# Statements of the hot path, built once: see db/prepared.py.
_DUE = sa.and_(runs.c.leg == "ready", sa.or_(runs.c.ready_at.is_(None), runs.c.ready_at <= sa.bindparam("now")))
_HELD_SUSPECT = sa.select(runs.c.id).where(runs.c.leg == "held", runs.c.deaths >= SUSPECT_DEATHS).limit(1)
_ONE_SUSPECT = 0x73757370656374  # the key of PostgreSQL's advisory lock: one claim of a suspect at a time


class FirstStep(NamedTuple):
    """What the claim's transaction did of a leg's first step: the journal before it; the turn that it named, or the
    calls that it started; and the saved events, as they are and as lines of the log."""

    before: Transcript
    turn: Effect | None
    calls: Sequence[Effect]
    events: Sequence[NamedEvent]
    lines: Sequence[Line]


class Claimed(NamedTuple):
    """A run that this process holds, as it was before `first`; and the first number that its writer may use, which is
    that of the first of these lines."""

    run: Run
    first_seq: int
    first: FirstStep | None = None

    @property
    def saved(self) -> int:
        """The last number in the log."""
        return self.run.seq_saved if self.first is None else self.first.lines[-1][0]


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
        hand_back_strays(tx, owner, known)
    ready = _ready(agents, locked=tx.shares_rows)
    chosen = list(tx.execute(ready, {"now": tx.now, "most": limit}).scalars())
    if len(chosen) < limit:  # suspects last: no other run waits for one
        chosen += _claimable_suspect(tx, agents)
    claimed = [claimed_from(run_of(tx, run_id), tx.now) for run_id in chosen]
    for run, _ in claimed:
        take(tx, owner, lease, run, run.seq_saved)
    return claimed


def claimed_from(ready: Run, now: datetime) -> tuple[Run, int]:
    """A ready run as `take` writes it, and the first number that its writer may use."""
    run = ready._replace(
        leg="held",
        status="running",
        attempt=ready.attempt + 1,  # the fence: later writes of an earlier holder are refused
        # Above any number that an earlier attempt may have shown without saving it: no number is used twice.
        seq_reserved=ready.seq_reserved + RESERVE,
        started_at=ready.started_at or now,
    )
    return run, ready.seq_reserved + 1


def take(tx: Tx, owner: str, lease: timedelta, run: Run, saved: int) -> None:
    """Write a claim (`claimed_from`). The transaction has locked the row, or made it; `saved` is the last number in the
    log."""
    tx.update(
        runs,
        {"id": run.id},
        leg=run.leg,
        status=run.status,
        waiting_for=None,
        owner=owner,
        attempt=run.attempt,
        lease_until=tx.now + lease,
        ready_at=None,
        paused_at=None,
        seq_saved=saved,
        seq_reserved=run.seq_reserved,
        started_at=run.started_at,
    )


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


def has_ready(tx: Tx, agents: frozenset[str]) -> bool:
    """True if a run of these agents can be claimed now."""
    ready = sa.select(runs.c.id).where(_DUE, of_agents(agents)).limit(1)
    return tx.execute(ready, {"now": tx.now}).first() is not None


def next_ready_at(tx: Tx) -> datetime | None:
    """The time at which the next waiting leg becomes ready, or None if no leg waits. A leg whose time has come waits
    for a free worker, not for the clock."""
    moment: datetime | None = tx.execute(
        sa.select(sa.func.min(runs.c.ready_at)).where(runs.c.leg == "ready", runs.c.ready_at > tx.now)
    ).scalar()
    return moment
