"""Queued runs whose agent this server does not have: they are left for a server that has it, and after a day the user
gets a notice."""

from datetime import timedelta
from typing import Final

import sqlalchemy as sa

from outlast.base.ids import new_id
from outlast.db.database import Tx
from outlast.kernel.runs import claims, store, timers
from outlast.kernel.runs.shapes import PartCarrier
from outlast.kernel.runs.tables import runs
from outlast.kernel.runs.tables import timers as timer_rows
from outlast.kernel.runs.transcript import Run
from outlast.kernel.streams.log_store import read_all
from outlast.kernel.threads.parts import NoticePart

CODE: Final = "agent_unknown"  # the timer's kind and the notice's code
TELL_AFTER: Final = timedelta(days=1)
AT_ONCE: Final = 100
TEXT: Final = (
    "This run has waited for a day, because no running server has the agent {agent!r}. It begins when one starts. "
    "Cancel it if you no longer need it."
)


def unwatched(tx: Tx, agents: frozenset[str]) -> bool:
    """True if runs of agents other than these wait without a timer."""
    return tx.execute(_waiting(agents).limit(1)).scalar() is not None


def set_timers(tx: Tx, agents: frozenset[str]) -> None:
    """Set a timer for each run that waits for an agent other than these, at most 100. Another server may do the
    same."""
    # Skipped: runs that a server with the agent claims at this moment.
    waiting = _waiting(agents).limit(AT_ONCE).with_for_update(skip_locked=True)
    for run_id in list(tx.execute(waiting).scalars()):
        timers.set_timer(tx, "agent_unknown", run_id, store.run_of(tx, run_id).created_at + TELL_AFTER)


def tell(tx: Tx, run_id: str, agents: frozenset[str]) -> None:
    """Notify the user, once, that the run still waits. Does nothing for a run that has begun, or that this server can
    begin."""
    run = store.hold_run(tx, run_id)
    if not is_waiting(run, agents):
        return
    if not any(f'"code":"{CODE}"'.encode() in line for _, line in read_all(tx, run.id)):
        text = TEXT.format(agent=run.profile)
        notice = NoticePart(id=new_id("part"), level="warning", code=CODE, text=text)
        store.append_unheld(tx, run_id, [("part.created", PartCarrier(part=notice))])
    # While the run has a timer, no server sets another.
    timers.set_timer(tx, "agent_unknown", run_id, tx.now + TELL_AFTER)


def is_waiting(run: Run, agents: frozenset[str]) -> bool:
    """True if the run waits for a server that has its agent, which is not one of these."""
    return run.leg == "ready" and run.profile not in agents


def _waiting(agents: frozenset[str]) -> sa.Select[tuple[str]]:
    has_timer = sa.exists().where(timer_rows.c.kind == CODE, timer_rows.c.subject_id == runs.c.id)
    return sa.select(runs.c.id).where(runs.c.leg == "ready", ~claims.of_agents(agents), ~has_timer)
