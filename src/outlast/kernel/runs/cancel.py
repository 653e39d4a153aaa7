"""Cancelling a run: the durable flag, and the end of one that no worker holds."""

from datetime import timedelta

import sqlalchemy as sa

from outlast.db.database import Tx
from outlast.kernel.runs import store, timers
from outlast.kernel.runs.engine import Engine
from outlast.kernel.runs.model import Run
from outlast.kernel.runs.outcome import Ending
from outlast.kernel.runs.rules import ENDED, End
from outlast.kernel.runs.settlement import end_unheld
from outlast.kernel.runs.tables import effects, runs
from outlast.kernel.runs.worker import CANCEL_BELL
from outlast.kernel.streams.fold import fold_lines
from outlast.kernel.streams.log import read_all


def request_cancel(tx: Tx, engine: Engine, run_id: str, reason: str, by: str | None) -> None:
    """The durable cancel flag. A run that nobody holds ends in this transaction; for a held one the bell rings,
    and taken away if that is not confirmed in time. Repeating it is harmless: the first one counts."""
    run = store.hold_run(tx, run_id)
    if run.status in ENDED or run.cancel_reason is not None:
        return
    tx.update(runs, {"id": run_id}, cancel_requested_at=tx.now, cancelled_by=by, cancel_reason=reason)
    if run.leg == "held":
        # The worker may hang or be dead: then this timer ends the run in its place.
        force_at = tx.now + timedelta(seconds=engine.settings.runs.cancel_force_s)
        timers.set_timer(tx, "cancel_force", run_id, force_at)
        tx.ring(CANCEL_BELL)
        return
    end_cancelled(tx, engine, run._replace(cancelled_by=by, cancel_reason=reason))


def end_cancelled(tx: Tx, engine: Engine, run: Run) -> None:
    """End a run that has its cancel flag, with what its log shows. What its calls still run in the sandbox is stopped
    by `cancel_force`."""
    end = End("cancelled", run.cancel_reason or "user")
    ending = Ending.of(end, fold_lines(read_all(tx, run.id)), by=run.cancelled_by)
    end_unheld(tx, engine.settings, engine.agents.get(run.profile), run, ending)
    if cut_calls(tx, run.id):  # set anew, since the end clears all clocks: a kill before the stop forgets no command
        timers.set_timer(tx, "cancel_force", run.id, tx.now)


def cut_calls(tx: Tx, run_id: str) -> list[str]:
    """Calls and stages that had begun when the run was cancelled."""
    mine = sa.select(effects.c.id).where(effects.c.run_id == run_id, effects.c.kind != "model", ~effects.c.inherited)
    cut = mine.where(effects.c.status == "cancelled", effects.c.started_at.is_not(None))
    return list(tx.execute(cut).scalars())
