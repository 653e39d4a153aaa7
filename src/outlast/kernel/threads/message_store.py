"""Messages in the database. First argument: the open transaction."""

from typing import Any, Final, NamedTuple

import sqlalchemy as sa

from outlast.base.ids import new_id
from outlast.base.lookups import demand_found
from outlast.db.database import Tx
from outlast.kernel.accounts.tables import users
from outlast.kernel.row_shapes import shape_of
from outlast.kernel.streams.log_store import append
from outlast.kernel.threads.rows import MessageRow
from outlast.kernel.threads.rules import text_of, title_from
from outlast.kernel.threads.search_index import move_words, put_words, replace_words, set_title
from outlast.kernel.threads.shapes import MessageCreated, MessageData
from outlast.kernel.threads.tables import messages, threads

PAGE: Final = 50

# Built once: building a statement takes four times as long as running it, and every start uses these.
_NAMED: Final = sa.select(messages, users.c.name.label("sender_name")).outerjoin(
    users, users.c.id == messages.c.sender_id
)
_ONE: Final = _NAMED.where(messages.c.id == sa.bindparam("message"))
_NEXT_POSITION: Final = (
    sa.update(threads)
    .where(threads.c.id == sa.bindparam("thread"))
    .values(
        message_count=threads.c.message_count + 1,
        last_position=threads.c.last_position + 1,
        updated_at=sa.bindparam("now"),
    )
    .returning(
        threads.c.message_count, threads.c.last_position, threads.c.titled, threads.c.title, threads.c.project_id
    )
)
_LAST_POSITION: Final = (
    sa.update(threads)
    .where(threads.c.id == sa.bindparam("thread"))
    .values(last_position=threads.c.last_position + 1)
    .returning(threads.c.last_position)
)
_STANDS: Final = sa.select(messages.c.position, messages.c.status, threads.c.last_position, threads.c.project_id).where(
    messages.c.id == sa.bindparam("message"), threads.c.id == messages.c.thread_id
)


class _NextPosition(NamedTuple):
    message_count: int
    last_position: int
    titled: bool
    title: str
    project_id: str


def add_message(
    tx: Tx,
    thread_id: str,
    role: str,
    sender_id: str | None,
    status: str,
    parts: list[dict[str, Any]],
    *,
    model: str | None = None,
    profile: str | None = None,
    run_id: str | None = None,
    reply_to: str | None = None,
    credits: int | None = None,  # noqa: A002 - the field's word
    error: dict[str, Any] | None = None,
    stop_reason: str | None = None,
    logged: bool = True,
) -> MessageData:
    """Append a message to a thread: it gets the next position under the thread row's lock. Also gives an untitled
    thread a title from its first message, sends `message.created` to followers, and indexes the words. Does not
    announce the thread itself."""
    found = tx.row(_NextPosition, _NEXT_POSITION, {"thread": thread_id, "now": tx.now})
    thread = demand_found(found, "There is no such thread.", thread_id=thread_id)
    row = MessageRow(
        id=new_id("message"),
        thread_id=thread_id,
        position=thread.last_position,
        role=role,
        sender_id=sender_id,
        status=status,
        parts=parts,
        model=model,
        profile=profile,
        run_id=run_id,
        reply_to=reply_to,
        credits=credits,
        error=error,
        stop_reason=stop_reason,
        created_at=tx.now,
    )
    tx.insert(messages, **row._asdict())
    text = text_of(parts)
    put_words(tx, thread_id, thread.project_id, thread.last_position, text)
    if thread.message_count == 1 and not thread.titled and text.strip():
        title = title_from(text)
        if title != thread.title:
            set_title(tx, thread_id, thread.project_id, title)
    sender_name = None if sender_id is None else tx.value(users.c.name, {"id": sender_id})
    data = _to_data(_NamedMessage(row, sender_name))
    if logged:  # an answer's message.created is in its run's log instead, before run.completed
        append(tx, thread_id, [("message.created", MessageCreated(message=data))])
    return data


class _NamedMessage(NamedTuple):
    message: MessageRow
    sender_name: str | None


def message_data(tx: Tx, message_id: str) -> MessageData:
    """One message as the API shows it. Raises `NotFound`."""
    row = tx.row(_NamedMessage, _ONE, {"message": message_id})
    return _to_data(demand_found(row, "There is no such message.", message_id=message_id))


def rewrite_message(tx: Tx, project_id: str, message_id: str, parts: list[dict[str, Any]]) -> MessageData:
    """Replace the parts of a message; followers receive it again with `message.created`. Only for messages that no run
    has begun to answer. Raises `NotFound`."""
    tx.update(messages, {"id": message_id}, parts=parts)
    data = message_data(tx, message_id)
    replace_words(tx, data.thread_id, project_id, data.position, text_of(parts))
    append(tx, data.thread_id, [("message.created", MessageCreated(message=data))])
    return data


class _Turn(NamedTuple):
    position: int
    status: str
    last_position: int
    project_id: str


def take_turn(tx: Tx, thread_id: str, message_id: str, run_id: str | None = None) -> None:
    """Call this when the run that answers this message starts, or when it is sent to `run_id` instead of waiting behind
    it: unless it has an answer, the message moves behind all messages that were added while it waited, and is no longer
    marked as dropped. Followers receive it again with `message.created`. The thread's row is locked."""
    row = tx.row(_Turn, _STANDS, {"message": message_id})
    if row is None or tx.exists(messages, {"thread_id": thread_id, "reply_to": message_id}):
        return
    changed: dict[str, Any] = {} if run_id is None else {"run_id": run_id}
    if row.position != row.last_position:
        changed["position"] = tx.execute(_LAST_POSITION, {"thread": thread_id}).scalar_one()
        move_words(tx, thread_id, row.position, changed["position"])
    if row.status != "complete":
        changed["status"] = "complete"
    if changed:
        _change(tx, thread_id, message_id, **changed)


def mark_dropped(tx: Tx, thread_id: str, message_id: str) -> None:
    """Call this when the run for this message ended before its first output: without an answer, the message gets the
    status `cancelled`, until another run answers it."""
    if not tx.exists(messages, {"thread_id": thread_id, "reply_to": message_id}):
        _change(tx, thread_id, message_id, status="cancelled")


def mark_read(tx: Tx, thread_id: str, message_id: str) -> None:
    """Call this when a run reads a message that an earlier run had not (`mark_unread`)."""
    _change(tx, thread_id, message_id, status="complete")


def mark_unread(tx: Tx, thread_id: str, message_id: str) -> None:
    """Call this when a run ended, after its answer is saved, without reading a message that was sent to it: the message
    moves behind the answer, marked as not answered."""
    row = tx.row(_Turn, _STANDS, {"message": message_id})
    if row is not None:
        position = tx.execute(_LAST_POSITION, {"thread": thread_id}).scalar_one()
        move_words(tx, thread_id, row.position, position)
        _change(tx, thread_id, message_id, position=position, status="cancelled")


def _change(tx: Tx, thread_id: str, message_id: str, **values: Any) -> None:
    if not tx.update(messages, {"id": message_id}, **values):
        return  # it was deleted, which must not keep a run from ending
    data = message_data(tx, message_id)
    append(tx, thread_id, [("message.created", MessageCreated(message=data))])


def message_in(tx: Tx, thread_id: str, message_id: str | None) -> MessageRow:
    """The row of a thread's message, or of its last one for None. Raises `NotFound`."""
    mine = sa.select(messages).where(messages.c.thread_id == thread_id)
    named = mine.order_by(messages.c.position.desc()) if message_id is None else mine.where(messages.c.id == message_id)
    what = "This thread has no messages yet." if message_id is None else "This thread has no such message."
    return demand_found(tx.row(MessageRow, named.limit(1)), what, thread_id=thread_id, message_id=message_id)


def list_messages(
    tx: Tx, thread_id: str, before: int | None = None, limit: int = PAGE
) -> tuple[list[MessageData], int | None]:
    """The last `limit` messages before a position (None for the newest), oldest first, and the position for the page of
    older ones, or None if there are none."""
    mine = _NAMED.where(messages.c.thread_id == thread_id)
    if before is not None:
        mine = mine.where(messages.c.position < before)
    rows = tx.rows(_NamedMessage, mine.order_by(messages.c.position.desc()).limit(limit + 1))
    page = [_to_data(row) for row in reversed(rows[:limit])]
    return page, page[0].position if len(rows) > limit else None


def _to_data(row: _NamedMessage) -> MessageData:
    return shape_of(MessageData, row.message, sender_name=row.sender_name)
