"""Claims beyond the lease: the first turn is named in the claim's transaction, and a run that becomes ready may be
claimed in the same one, without a worker's own claim."""

from datetime import timedelta
from functools import partial

from outlast.db.database import Tx
from outlast.kernel.runs import store
from outlast.kernel.runs.claims import Claimed, FirstTurn, claim
from outlast.kernel.runs.crashes import SUSPECT_DEATHS
from outlast.kernel.runs.engine import Engine
from outlast.kernel.runs.rules import AskModel, next_step
from outlast.kernel.runs.shapes import RunStarted
from outlast.kernel.runs.tables import runs
from outlast.kernel.runs.transcript import Run, Transcript
from outlast.kernel.runs.turn_names import name_turn
from outlast.kernel.streams.log_store import NamedEvent, encode_all, save


def offer(tx: Tx, engine: Engine, run_id: str) -> None:
    """A run has become ready. At the end of the transaction, claim it for this process if its worker lets it in;
    otherwise wake all workers."""
    tx.before_commit(partial(_take_or_ring, tx, engine, run_id))


def _take_or_ring(tx: Tx, engine: Engine, run_id: str) -> None:
    ready = store.run_of(tx, run_id)
    is_fit = ready.leg == "ready" and ready.deaths < SUSPECT_DEATHS and ready.profile in engine.agents
    if not is_fit or not engine.intake.take_place():
        tx.ring(store.BELL)
        return
    lease = timedelta(seconds=engine.settings.runs.lease_s)
    claimed = with_first_turn(tx, engine, *claim(tx, engine.node_id, lease, run_id))
    tx.after_commit(partial(engine.intake.put, claimed))


def with_first_turn(tx: Tx, engine: Engine, run: Run, first_seq: int) -> Claimed:
    """Name the first turn of a run that was claimed in this transaction, if it begins with one."""
    agent = engine.agents.get(run.profile)
    if agent is None or not run.is_new:
        return Claimed(run, first_seq)
    before = Transcript(run)
    coming = next_step(before.situation(engine.max_steps(agent), agent.plan))
    if not isinstance(coming, AskModel):
        return Claimed(run, first_seq)
    events: list[NamedEvent] = [("run.started", RunStarted(run_id=run.id, attempt=run.attempt))]
    effect = name_turn(tx, agent, run, before, coming.step, events)
    lines = encode_all(run.id, first_seq, events, tx.now)
    save(tx, run.id, lines)
    tx.update(runs, {"id": run.id}, seq_saved=lines[-1][0])
    return Claimed(run, first_seq, FirstTurn(before, effect, events, lines))
