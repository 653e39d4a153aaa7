"""The name of a model's turn: the id of its effect, in the journal before the model is asked."""

from outlast.db.database import Tx
from outlast.kernel.agents.agent import Agent
from outlast.kernel.runs import store
from outlast.kernel.runs.line_parts import reset_in
from outlast.kernel.runs.shapes import StepReset, StepStarted
from outlast.kernel.runs.transcript import Effect, Run, Transcript
from outlast.kernel.streams.log_store import NamedEvent


def name_turn(tx: Tx, agent: Agent, run: Run, transcript: Transcript, step: int, events: list[NamedEvent]) -> Effect:
    """Write the effect's id before it starts; a cut turn's parts are taken back first. Adds its shown parts to
    `events`."""
    last = transcript.last_turn
    again = last if last is not None and last.step == step else None
    if again is not None:
        events.append(("step.reset", StepReset(run_id=run.id, step=step, attempt=run.attempt, parts=[])))
        events.extend(reset_in(tx, agent.lines, run, again.id, step))
    events.append(("step.started", StepStarted(run_id=run.id, step=step, attempt=run.attempt)))
    if again is not None:  # under its old id, and with its earlier tries
        store.update_effect(tx, again.id, status="started", attempt=run.attempt)
        return again
    return store.start_effect(tx, run, transcript.next_ordinal, step, "model")
