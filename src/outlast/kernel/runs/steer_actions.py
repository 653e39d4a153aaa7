"""A message to a run that works or waits: the agent reads it before its next turn."""

from typing import Any

from outlast.base.errors import RunFinished
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.idempotency import remember, request_hash
from outlast.kernel.locks import thread_locks
from outlast.kernel.mentions.actions import tell_named
from outlast.kernel.projects.permissions import require_run
from outlast.kernel.projects.rules import Right
from outlast.kernel.runs import steer, store
from outlast.kernel.runs.notifications import announce_thread
from outlast.kernel.services import Services
from outlast.kernel.threads import store as threads
from outlast.kernel.threads.message_store import add_message
from outlast.kernel.threads.rules import demand_open
from outlast.kernel.threads.shapes import MessageData
from outlast.kernel.threads.user_input import Draft, compose, demand_vision


async def steer_run(
    services: Services, actor: Actor, run_id: str, draft: Draft, *, key: str | None = None
) -> MessageData:
    """Post a message that the run's model reads before its next turn; a run that would end reads it first, within its
    limit of turns. Needs what a start in the thread needs, except credits. A repeated `key` gets the first answer.
    Raises `RunFinished`, `TooManyUnread`, `ThreadLocked`, `ThreadArchived`, `VisionUnsupported`, and the errors of
    composing a message; after an error nothing was changed."""
    asked = request_hash("steer", run_id, draft.content, list(draft.parts), list(draft.images), list(draft.mentions))

    def produce(tx: Tx) -> dict[str, Any]:
        # A worker that names a turn or ends the run waits for this lock: it finds the message, or this finds the end.
        run = store.hold_run(tx, run_id)
        thread = threads.hold(tx, run.thread_id)
        demand_open(thread.status, thread.id)
        if run.leg == "ended" or run.cancel_reason is not None:
            raise RunFinished("This run has already ended.", run_id=run_id, status=run.status)
        parts = compose(tx, run.project_id, draft, services.settings.limits)
        demand_vision(services.catalog.get(run.model), parts)
        steer.demand_room(tx, run)
        thread_locks.drive(tx, thread.id, run.project_id, actor, services.settings.locks.ttl_s)
        message = add_message(tx, thread.id, "user", actor.user_id, "complete", parts, run_id=run_id)
        steer.add_unread(tx, run, message.id)
        if run.leg == "ready":
            tx.ring(store.BELL)  # a claim at this moment skipped the row that is locked here
        announce_thread(tx, thread.id)
        tell_named(tx, actor, run.project_id, message, draft.mentions)
        return message.model_dump()

    def run(tx: Tx) -> dict[str, Any]:
        require_run(tx, actor, run_id, Right.EDIT)
        return remember(tx, actor.user_id, key, asked, lambda: produce(tx))

    return MessageData(**await services.db.write(run))
