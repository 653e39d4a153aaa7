"""Cancelling a run: the durable flag, and the end of a run that no worker holds."""

from datetime import timedelta

import sqlalchemy as sa

from outlast.db.database import Tx
from outlast.kernel.runs import store, timers
from outlast.kernel.runs.engine import Engine
from outlast.kernel.runs.outcome import Ending
from outlast.kernel.runs.rules import ENDED, End
from outlast.kernel.runs.settlement import end_unheld
from outlast.kernel.runs.tables import effects, function_steps, runs
from outlast.kernel.runs.transcript import Run
from outlast.kernel.runs.worker import CANCEL_BELL
from outlast.kernel.streams.fold import fold_lines
from outlast.kernel.streams.log_store import read_all


def request_cancel(tx: Tx, engine: Engine, run_id: str, reason: str, by: str | None) -> None:
    """Set the durable cancel flag. A run without a worker ends in this transaction. For a held one the bell rings, and
    the run is taken from its worker if that does not confirm in time. Repeating is harmless: the first cancel
    counts."""
    run = store.hold_run(tx, run_id)
    if run.status in ENDED or run.cancel_reason is not None:
        return
    tx.update(runs, {"id": run_id}, cancel_requested_at=tx.now, cancelled_by=by, cancel_reason=reason)
    if run.leg == "held":
        # The worker may hang or be dead: then this timer ends the run instead.
        force_at = tx.now + timedelta(seconds=engine.settings.runs.cancel_force_s)
        timers.set_timer(tx, "cancel_force", run_id, force_at)
        tx.ring(CANCEL_BELL)
        return
    end_cancelled(tx, engine, run._replace(cancelled_by=by, cancel_reason=reason))


def end_cancelled(tx: Tx, engine: Engine, run: Run) -> None:
    """End a run that has its cancel flag, with the state in its log. `cancel_force` stops commands that its calls still
    run in the sandbox."""
    end = End("cancelled", run.cancel_reason or "user")
    ending = Ending.of(end, fold_lines(read_all(tx, run.id)), by=run.cancelled_by)
    end_unheld(tx, engine.settings, engine.agents.get(run.profile), run, ending)
    if cut_calls(tx, run.id):  # the end clears all clocks; after a kill before the stop, the commands still end
        timers.set_timer(tx, "cancel_force", run.id, tx.now)


def cut_calls(tx: Tx, run_id: str) -> list[str]:
    """Calls and stages that had started when the run was cancelled, and commands that its functions had begun."""
    begun = function_steps.c.run_id == run_id, function_steps.c.kind == "sandbox", function_steps.c.status == "waiting"
    own = effects.c.run_id == run_id, ~effects.c.inherited, effects.c.kind.not_in(("model", "compaction"))
    mine = sa.select(effects.c.id).where(*own)
    cut = mine.where(effects.c.status == "cancelled", effects.c.started_at.is_not(None))
    return list(tx.execute(sa.union_all(cut, sa.select(function_steps.c.id).where(*begun))).scalars())
