"""Effects in the journal before they begin: an attempt that finds one there knows that it may have taken effect."""

from collections.abc import Sequence

from outlast.db.database import Tx
from outlast.kernel.agents.agent import Agent
from outlast.kernel.runs import store
from outlast.kernel.runs.line_parts import reset_in
from outlast.kernel.runs.shapes import StepReset, StepStarted
from outlast.kernel.runs.steer import read_messages
from outlast.kernel.runs.transcript import Effect, Run, Transcript
from outlast.kernel.streams.log_store import NamedEvent


def name_turn(tx: Tx, agent: Agent, run: Run, transcript: Transcript, step: int, events: list[NamedEvent]) -> Effect:
    """Write the effect's id before it starts; a cut turn's parts are taken back first. The turn reads the messages of
    the transcript that are unread. Adds the events to `events`."""
    last = transcript.last_turn
    again = last if last is not None and last.step == step else None
    if again is not None:
        events.append(("step.reset", StepReset(run_id=run.id, step=step, attempt=run.attempt, parts=[])))
        events.extend(reset_in(tx, agent.lines, run, again.id, step))
    events.extend(read_messages(tx, run, transcript.unread, step - 1))
    events.append(("step.started", StepStarted(run_id=run.id, step=step, attempt=run.attempt)))
    if again is not None:  # under its old id, and with its earlier tries
        store.update_effect(tx, again.id, status="started", attempt=run.attempt)
        return again
    return store.start_effect(tx, run, transcript.next_ordinal, step, "model")


def start_calls(tx: Tx, run: Run, calls: Sequence[Effect]) -> list[Effect]:
    """Mark the calls as started. Returns them with the time of their first start; `status` still shows if an earlier
    attempt had started them."""
    begun = [call._replace(started_at=call.started_at or tx.now) for call in calls]
    for call in begun:
        store.update_effect(tx, call.id, status="started", attempt=run.attempt, started_at=call.started_at)
    return begun
