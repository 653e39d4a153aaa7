"""Messages that people send to a run while it works: unread effects of its journal, until a turn of the model reads
them.

Their ordinals are negative, so that the holder of the run numbers its own effects without knowing of them; `step` is
the step after which the model has read them.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import sqlalchemy as sa

from outlast.base.errors import RateLimited
from outlast.base.ids import new_id
from outlast.db.database import Tx
from outlast.kernel.models.protocol import Piece
from outlast.kernel.runs import store
from outlast.kernel.runs.shapes import PartCarrier, RunStatusChanged
from outlast.kernel.runs.tables import effects
from outlast.kernel.runs.transcript import Effect, Run
from outlast.kernel.streams.log_store import NamedEvent
from outlast.kernel.threads import message_store as thread_messages
from outlast.kernel.threads.parts import MessagePart
from outlast.kernel.threads.rules import text_of
from outlast.kernel.threads.tables import messages

MAX_UNREAD: Final = 20  # of a run, at one time
FIRST_ORDINAL: Final = -1_000_000
_UNREAD = sa.select(effects.c.ordinal).where(
    effects.c.run_id == sa.bindparam("run"), effects.c.kind == "message", effects.c.status == "waiting"
)
_LAST = sa.select(sa.func.max(effects.c.ordinal)).where(effects.c.run_id == sa.bindparam("run"), effects.c.ordinal < 0)


class _Message(NamedTuple):
    id: str
    sender_id: str | None
    status: str
    parts: Any


def demand_room(tx: Tx, run: Run) -> None:
    """Raise `RateLimited` if the model has to read as many messages as a run can hold. The run's row is held."""
    if len(tx.execute(_UNREAD, {"run": run.id}).all()) >= MAX_UNREAD:
        raise RateLimited(
            f"{MAX_UNREAD} messages already wait for the agent's next turn.",
            hint="Wait until the agent has read them, or queue the message behind this run.",
            limit=MAX_UNREAD,
            per="run",
        )


def add_unread(tx: Tx, run: Run, message_id: str) -> None:
    """Let the run's next turn read this message of its thread. The run's row is held."""
    last = tx.execute(_LAST, {"run": run.id}).scalar()
    ordinal = FIRST_ORDINAL if last is None else int(last) + 1
    result = {"message_id": message_id}
    store.insert_effect(tx, run.id, ordinal, 0, "message", status="waiting", result=result)
    if run.attempt == 0:  # with this line in its log it is not new: its first attempt reads the journal
        store.append_unheld(tx, run.id, [("run.status", RunStatusChanged(run_id=run.id, status="queued"))])


def read_messages(tx: Tx, run: Run, unread: Sequence[Effect], after_step: int) -> list[NamedEvent]:
    """The turn after this step reads these messages: written to the journal in the transaction that names the turn, so
    each is read by exactly one. Returns the events that show them in the answer."""
    if not unread:
        return []
    found, events = _messages_of(tx, unread), list[NamedEvent]()
    for effect in unread:
        part_id = new_id("part")
        store.update_effect(
            tx, effect.id, status="finished", step=after_step, part_id=part_id, started_at=tx.now, ended_at=tx.now
        )
        message = found.get(message_of(effect))
        if message is not None:  # else it was deleted
            if message.status != "complete":  # marked by the end of the run that this one continues
                thread_messages.mark_read(tx, run.thread_id, message.id)
            part = MessagePart(
                id=part_id,
                step=after_step,
                message_id=message.id,
                sender_id=message.sender_id,
                text=text_of(message.parts),
            )
            events.append(("part.created", PartCarrier(part=part)))
    return events


def message_of(effect: Effect) -> str:
    """The id of the message that this effect is."""
    return str((effect.result or {})["message_id"])


def pieces_read(
    tx: Tx, whole: Sequence[Effect], render: Callable[[Sequence[Mapping[str, Any]]], Sequence[Piece]]
) -> dict[str, Sequence[Piece]]:
    """By effect, the messages that the model has read, as it reads them."""
    read = [effect for effect in whole if effect.kind == "message" and effect.status == "finished"]
    found = _messages_of(tx, read)
    return {e.id: render(found[message_of(e)].parts) for e in read if message_of(e) in found}


def _messages_of(tx: Tx, found: Sequence[Effect]) -> dict[str, _Message]:
    if not found:
        return {}
    ids = [message_of(effect) for effect in found]
    chosen = sa.select(*(messages.c[name] for name in _Message._fields)).where(messages.c.id.in_(ids))
    return {row.id: row for row in tx.rows(_Message, chosen)}
