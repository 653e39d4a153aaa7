"""Messages that people post to a thread, without asking for a run, or by naming the agent in them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.idempotency import remember, request_hash
from outlast.kernel.limits.store import check_made_rate
from outlast.kernel.mentions.actions import tell_named
from outlast.kernel.mentions.store import named_in
from outlast.kernel.projects.permissions import require_thread
from outlast.kernel.projects.rules import Right
from outlast.kernel.runs.actions import start_in
from outlast.kernel.runs.notifications import announce_thread
from outlast.kernel.services import Services
from outlast.kernel.threads import store as threads
from outlast.kernel.threads.message_parts import Draft, compose
from outlast.kernel.threads.rows import ThreadRow
from outlast.kernel.threads.rules import demand_open
from outlast.kernel.threads.shapes import MessageData
from outlast.kernel.threads.tables import messages as messages_table


@dataclass(frozen=True, slots=True)
class Posted:
    """The message, and the run that it started (None: it did not name the agent)."""

    message: MessageData
    run_id: str | None = None


async def post_message(
    services: Services, actor: Actor, thread_id: str, draft: Draft, *, key: str | None = None
) -> Posted:
    """Add a message (editors; no lock needed); members named in it find it in their inbox. `@agent` in it starts a run
    that answers it, behind one that is at work: then everything that starting one takes is asked for. A repeated `key`
    gets the first answer. Raises `ThreadArchived`, what `compose` does, and with `@agent` what `start_run` does."""
    asked = request_hash("post", thread_id, draft.content, list(draft.parts), list(draft.images), list(draft.mentions))

    def produce(tx: Tx, row: ThreadRow) -> dict[str, Any]:
        if named_in(tx, row.project_id, _text(draft)).agent:
            return start_in(tx, services, actor, thread_id, draft, None, "enqueue")
        check_made_rate(
            tx,
            messages_table,
            actor.user_id,
            services.settings.limits.messages_per_minute_per_user,
            by="sender_id",
            which=messages_table.c.role == "user",
        )
        parts = compose(tx, row.project_id, draft, services.settings.limits)
        demand_open(threads.hold(tx, thread_id).status, thread_id)
        message = threads.add_message(tx, thread_id, "user", actor.user_id, "complete", parts)
        announce_thread(tx, thread_id)
        tell_named(tx, actor, row.project_id, message, draft.mentions)
        return {"message_id": message.id, "run_id": None}

    def run(tx: Tx) -> Posted:
        row = require_thread(tx, actor, thread_id, Right.EDIT)
        made = remember(tx, actor.user_id, key, asked, lambda: produce(tx, row))
        return Posted(threads.message_data(tx, made["message_id"]), made["run_id"])

    posted = await services.db.write(run)
    if posted.run_id is not None:
        services.warm(thread_id)
    return posted


def _text(draft: Draft) -> str:
    texts = [_of_part(part) for part in draft.parts]
    return "\n".join([draft.content or "", *texts])


def _of_part(part: Mapping[str, Any]) -> str:
    text = part.get("text")
    return text if isinstance(text, str) else ""
