"""A message to a run that works or waits: the agent reads it before its next turn."""

from typing import Any

from outlast.base.agent_errors import FlowMisused
from outlast.base.errors import NotFound, RunFinished
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.idempotency import remember, request_hash
from outlast.kernel.locks import thread_locks
from outlast.kernel.mentions.actions import tell_named
from outlast.kernel.projects.permissions import require_run
from outlast.kernel.projects.rules import Right
from outlast.kernel.runs import steer, store
from outlast.kernel.runs.cancel import request_cancel
from outlast.kernel.runs.notifications import announce_thread
from outlast.kernel.services import Services
from outlast.kernel.threads import message_store as thread_messages
from outlast.kernel.threads import store as threads
from outlast.kernel.threads.rows import MessageRow
from outlast.kernel.threads.rules import demand_open
from outlast.kernel.threads.shapes import MessageData
from outlast.kernel.threads.user_input import Draft, compose, demand_vision


async def steer_run(
    services: Services, actor: Actor, run_id: str, content: Draft | str, *, key: str | None = None
) -> MessageData:
    """Post a message that the run's model reads before its next turn; a run that would end reads it first, within its
    limit of turns. `content` may be the id of a run queued behind this one: it is removed from the queue, and its
    message is sent. Needs what a start in the thread needs, except credits. A repeated `key` gets the first answer.
    Raises `RunFinished`, `RateLimited`, `ThreadLocked`, `ThreadArchived`, `VisionUnsupported`, and the errors of
    composing a message; after an error nothing was changed."""
    draft = content if isinstance(content, Draft) else Draft()
    given = [draft.content, list(draft.parts), list(draft.images), list(draft.mentions)]
    asked = request_hash("steer", run_id, given, None if isinstance(content, Draft) else content)

    def produce(tx: Tx, thread_id: str) -> dict[str, Any]:
        queued = None if isinstance(content, Draft) else _unqueue(tx, services, actor, thread_id, content)
        # A worker that names a turn or ends the run waits for this lock: it finds the message, or this finds the end.
        run = store.hold_run(tx, run_id)
        demand_open(threads.hold(tx, thread_id).status, thread_id)
        if run.leg == "ended" or run.cancel_reason is not None:
            raise RunFinished("This run has already ended.", run_id=run_id, status=run.status)
        agent = services.engine.agents.get(run.profile)
        if agent is not None and agent.flow is not None:
            raise FlowMisused("A flow reads no messages while it works.", hint="Queue the message behind this run.")
        parts = (
            queued.parts
            if queued is not None
            else compose(tx, run.project_id, thread_id, draft, services.settings.limits)
        )
        demand_vision(services.catalog.get(run.model), parts)
        steer.demand_room(tx, run)
        thread_locks.drive(tx, thread_id, run.project_id, actor, services.settings.locks.ttl_s)
        if queued is None:
            message = thread_messages.add_message(
                tx, thread_id, "user", actor.user_id, "complete", parts, run_id=run_id
            )
            tell_named(tx, actor, run.project_id, message, draft.mentions)
        else:
            thread_messages.take_turn(tx, thread_id, queued.id, run_id)
            message = thread_messages.message_data(tx, queued.id)
        steer.add_unread(tx, run, message.id)
        if run.leg == "ready":
            tx.ring(store.BELL)  # a claim at this moment skipped the row that is locked here
        announce_thread(tx, thread_id)
        return message.model_dump()

    def run(tx: Tx) -> dict[str, Any]:
        row = require_run(tx, actor, run_id, Right.EDIT)
        return remember(tx, actor.user_id, key, asked, lambda: produce(tx, row.thread_id))

    return MessageData(**await services.db.write(run))


def _unqueue(tx: Tx, services: Services, actor: Actor, thread_id: str, run_id: str) -> MessageRow:
    """Remove a run from the thread's queue; its message. Raises `NotFound`, and `RunFinished` if its turn has come."""
    store.hold_open_runs(tx, thread_id)  # all of them, before the thread: one of them ends
    queued = store.run_of(tx, run_id)
    if queued.thread_id != thread_id:
        raise NotFound("No such run is queued in this thread.", id=run_id)
    if queued.leg != "blocked":
        raise RunFinished("This message is no longer queued.", run_id=run_id, status=queued.status)
    request_cancel(tx, services.engine, run_id, "superseded", actor.user_id)
    return thread_messages.message_in(tx, thread_id, queued.message_id)
