"""Cancel runs without followers."""

from datetime import timedelta

from outlast.db.database import Tx
from outlast.kernel.runs import store, timers, unknown_agents
from outlast.kernel.runs.cancel import request_cancel
from outlast.kernel.runs.engine import Engine
from outlast.kernel.runs.followers import arm_abandonment, is_followed
from outlast.kernel.runs.tables import runs


def abandon(tx: Tx, engine: Engine, run_id: str) -> None:
    """Cancel a run that had no follower during the whole abandonment time. Otherwise set the timer again, so that a
    follower whose node vanishes is noticed too."""
    run = store.hold_run(tx, run_id)
    if run.step_id is not None:  # the run that started it is abandoned, and this one with it
        return
    waits_for_run = run.leg == "parked" and tx.value(runs.c.waiting_for, {"id": run_id}) == "run"
    if run.leg not in ("ready", "held") and not waits_for_run:
        return
    since = tx.value(runs.c.unwatched_since, {"id": run_id})
    after = timedelta(seconds=engine.settings.runs.abandoned_after_s)
    waits = unknown_agents.is_waiting(run, engine.agents.names)  # no events to follow yet
    if waits or is_followed(tx, run.thread_id):
        timers.set_timer(tx, "abandon", run_id, tx.now + after)
    elif since is None:
        arm_abandonment(tx, engine.settings, run_id, run.thread_id)
    elif since + after > tx.now:
        timers.set_timer(tx, "abandon", run_id, since + after)
    else:
        request_cancel(tx, engine, run_id, "abandoned", None)
