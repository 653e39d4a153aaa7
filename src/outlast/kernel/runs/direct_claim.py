"""Claims beyond the lease: a leg's first step begins in the claim's transaction, and a run that becomes ready may be
claimed in the same one, without a worker's own claim."""

from collections.abc import Sequence
from datetime import timedelta
from functools import partial

from outlast.db.database import Tx
from outlast.kernel.runs import store
from outlast.kernel.runs.claims import Claimed, FirstStep, claimed_from, take
from outlast.kernel.runs.crashes import SUSPECT_DEATHS
from outlast.kernel.runs.effect_starts import name_turn, start_calls
from outlast.kernel.runs.engine import Engine
from outlast.kernel.runs.rules import AskModel, CallTools, next_step
from outlast.kernel.runs.shapes import RunStarted
from outlast.kernel.runs.tables import runs
from outlast.kernel.runs.transcript import Effect, Run, Transcript
from outlast.kernel.streams.log_store import Line, NamedEvent, encode_all, save


def offer(tx: Tx, engine: Engine, run_id: str, queued: Sequence[Line] = ()) -> None:
    """A run has become ready. At the end of the transaction, claim it for this process if its worker has a place;
    otherwise wake all workers. `queued`: the first lines of a new run's log, which are saved then."""
    tx.before_commit(partial(_take_or_ring, tx, engine, run_id, queued))


def _take_or_ring(tx: Tx, engine: Engine, run_id: str, queued: Sequence[Line]) -> None:
    ready = store.run_of(tx, run_id)
    is_fit = ready.leg == "ready" and ready.deaths < SUSPECT_DEATHS and ready.profile in engine.agents
    if not is_fit or not engine.intake.take_place():
        save(tx, run_id, queued)
        tx.ring(store.BELL)
        return
    run, first_seq = claimed_from(ready, tx.now)
    before = Transcript(run) if run.is_new else store.transcript_of(tx, run_id, engine.agents.questions)
    claimed, lines = Claimed(run, first_seq), queued
    # What was cut, or decided while the run was held, the leg brings in order first.
    if run.is_new or not (before.is_cut or store.unannounced(tx, run_id)):
        claimed = begin(tx, engine, claimed, before)
        lines = [*queued, *(claimed.first.lines if claimed.first is not None else ())]
    save(tx, run_id, lines)
    take(tx, engine.node_id, timedelta(seconds=engine.settings.runs.lease_s), run, claimed.saved)
    tx.after_commit(partial(engine.intake.put, claimed))


def begin_new(tx: Tx, engine: Engine, run: Run, first_seq: int) -> Claimed:
    """Begin the first step of a run that was claimed in this transaction for the first time. Other runs may have long
    journals, which their legs read."""
    claimed = Claimed(run, first_seq)
    if not run.is_new:
        return claimed
    claimed = begin(tx, engine, claimed, Transcript(run))
    if claimed.first is not None:
        save(tx, run.id, claimed.first.lines)
        tx.update(runs, {"id": run.id}, seq_saved=claimed.saved)
    return claimed


def begin(tx: Tx, engine: Engine, claimed: Claimed, before: Transcript) -> Claimed:
    """Name the turn, or start the calls, that are next after this journal; the caller saves the lines. Other steps are
    left to the leg."""
    run, first_seq, _ = claimed
    agent = engine.agents[run.profile]
    if agent.flow is not None:
        return claimed
    coming = next_step(before.situation(engine.max_steps(agent), agent.plan))
    events: list[NamedEvent] = [("run.started", RunStarted(run_id=run.id, attempt=run.attempt))]
    turn: Effect | None = None
    calls: Sequence[Effect] = ()
    if isinstance(coming, AskModel):
        turn = name_turn(tx, agent, run, before, coming.step, events)
    elif isinstance(coming, CallTools):
        calls = start_calls(tx, run, [before.effect(effect_id) for effect_id in coming.effect_ids])
    else:
        return claimed
    lines = encode_all(run.id, first_seq, events, tx.now)
    return Claimed(run, first_seq, FirstStep(before, turn, calls, events, lines))
