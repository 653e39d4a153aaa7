"""Threads in the database, and their events. First argument: the open transaction."""

from typing import Any, Final, NamedTuple, TypeVar

import sqlalchemy as sa

from outlast.base.errors import ThreadBusy
from outlast.base.ids import new_id
from outlast.base.lookups import demand_found
from outlast.db.database import Tx
from outlast.kernel.locks.store import LOCK_COLUMNS, LockColumns, drop, find_lock, join_lock, lock_data
from outlast.kernel.mentions import store as mentions
from outlast.kernel.mentions.inbox_items import INBOX, went
from outlast.kernel.projects.tables import projects
from outlast.kernel.row_shapes import shape_of
from outlast.kernel.runs.tables import runs, timers
from outlast.kernel.runs.timers import ANY_KIND, timed_in
from outlast.kernel.sandboxes.tables import sandboxes
from outlast.kernel.streams.log_store import append
from outlast.kernel.streams.tables import log
from outlast.kernel.subjects import registry as subjects
from outlast.kernel.threads.ports import default_agent
from outlast.kernel.threads.rows import ThreadRow
from outlast.kernel.threads.rules import document_of, title_from
from outlast.kernel.threads.search_index import TITLE, put_words, set_title
from outlast.kernel.threads.shapes import ThreadData, ThreadDeleted, ThreadUpdated
from outlast.kernel.threads.tables import threads

T = TypeVar("T", bound=ThreadData)

_sandbox = (
    sa.select(sa.func.max(sandboxes.c.id))
    .where(sandboxes.c.workspace_id == threads.c.workspace_id, sandboxes.c.ended_at.is_(None))
    .scalar_subquery()
    .label("sandbox_id")
)

# Built once: building a statement takes four times as long as running it, and every start uses these.
_OF: Final = threads.c.id == sa.bindparam("thread")
_HOLD: Final = sa.select(threads).where(_OF).with_for_update(key_share=True)
_TO_START: Final = sa.select(
    threads,
    *(
        sa.select(column).where(projects.c.id == threads.c.project_id).scalar_subquery().label(column.name)
        for column in (projects.c.agents, projects.c.instructions)
    ),
).where(_OF)
_HOLD_TO_START: Final = _TO_START.with_for_update(key_share=True)
SHOWN_THREADS: Final = sa.select(threads, _sandbox, *LOCK_COLUMNS).select_from(join_lock(threads, threads.c.id))
"""Threads with their lock and sandbox, for `to_data`."""
_ONE: Final = SHOWN_THREADS.where(_OF)


def add_thread(
    tx: Tx,
    project_id: str,
    created_by: str,
    *,
    title: str | None = None,
    profile: str | None = None,
    anchor: dict[str, Any] | None = None,
    parent_thread_id: str | None = None,
    parent_message_id: str | None = None,
    first_message: str = "",
    workspace_id: str | None = None,
    caller_run_id: str | None = None,
) -> str:
    """Create an open thread and return its id. An `anchor` in a document must be of this project, with its
    `document_id` (`documents/thread_anchors.py`). Without a title it gets one from its first message: now, if that is
    known, else with the message. Not announced yet."""
    thread_id, shown = new_id("thread"), title or title_from(first_message)
    tx.insert(
        threads,
        id=thread_id,
        project_id=project_id,
        title=shown,
        titled=title is not None,
        profile=profile or default_agent(),
        status="open",
        run_status="idle",
        anchor=anchor,
        document_id=document_of(anchor),
        parent_thread_id=parent_thread_id,
        parent_message_id=parent_message_id,
        workspace_id=workspace_id,
        caller_run_id=caller_run_id,
        created_by=created_by,
        created_at=tx.now,
        updated_at=tx.now,
    )
    put_words(tx, thread_id, project_id, TITLE, shown)
    return thread_id


def hold(tx: Tx, thread_id: str) -> ThreadRow:
    """The thread's row, locked until the transaction ends, so that decisions about it stay valid. Raises `NotFound`."""
    return demand_found(
        tx.row(ThreadRow, _HOLD, {"thread": thread_id}), "There is no such thread.", thread_id=thread_id
    )


class HeldThread(NamedTuple):
    """A thread, and of its project the agents that may be used (None: all) and their instructions."""

    thread: ThreadRow
    agents: list[str] | None
    instructions: str


def hold_to_start(tx: Tx, thread_id: str) -> HeldThread:
    """As `hold`, for a start of a run in this thread."""
    held = tx.row(HeldThread, _HOLD_TO_START, {"thread": thread_id})
    return demand_found(held, "There is no such thread.", thread_id=thread_id)


def read_to_start(tx: Tx, thread_id: str) -> HeldThread:
    """As `hold_to_start`, without the lock: for checks before it is due."""
    found = tx.row(HeldThread, _TO_START, {"thread": thread_id})
    return demand_found(found, "There is no such thread.", thread_id=thread_id)


class ShownThread(NamedTuple):
    thread: ThreadRow
    sandbox_id: str | None
    lock: LockColumns


def thread_data(tx: Tx, thread_id: str) -> ThreadData:
    """The thread as lists and events show it. Raises `NotFound`."""
    return to_data(_shown(tx, thread_id), ThreadData)


def _shown(tx: Tx, thread_id: str) -> ShownThread:
    row = tx.row(ShownThread, _ONE, {"thread": thread_id})
    return demand_found(row, "There is no such thread.", thread_id=thread_id)


def announce(tx: Tx, thread_id: str) -> ThreadData:
    """Send the thread's state to the followers of the thread and of its project. A thread that a run started is not
    news of the project: the answer of that run shows it."""
    row = _shown(tx, thread_id)
    data = to_data(row, ThreadData)
    event = ("thread.updated", ThreadUpdated(thread=data))
    append(tx, thread_id, [event])
    if row.thread.caller_run_id is None:
        append(tx, data.project_id, [event])
    return data


def rename(tx: Tx, thread_id: str, project_id: str, title: str) -> None:
    """Set the title that a user chose."""
    tx.update(threads, {"id": thread_id}, titled=True, updated_at=tx.now)
    set_title(tx, thread_id, project_id, title)


def set_agent(tx: Tx, thread_id: str, profile: str) -> None:
    """Choose the agent of later runs."""
    tx.update(threads, {"id": thread_id}, profile=profile)


def set_status(tx: Tx, thread_id: str, status: str) -> None:
    """Archive ("archived") or bring back ("open")."""
    tx.update(threads, {"id": thread_id}, status=status)


def set_run_state(tx: Tx, thread_id: str, run_status: str, active_run_id: str | None) -> None:
    """Record what the thread's runs are doing. Not announced yet."""
    tx.update(threads, {"id": thread_id}, run_status=run_status, active_run_id=active_run_id, updated_at=tx.now)


def delete_thread(tx: Tx, thread_id: str) -> None:
    """Delete a thread with its messages, runs, lock, timers, logs and inbox items; the project's followers get an
    event, those of the thread are woken and find it gone. Images stay: they belong to the project, and forks may show
    them. The threads that its runs started are deleted before (`called_threads.delete_called`): raises `ThreadBusy` if
    there is one."""
    of_runs = sa.select(runs.c.id).where(runs.c.thread_id == thread_id)
    started = sa.select(threads.c.id).where(threads.c.caller_run_id.in_(of_runs)).limit(1)
    if tx.execute(started).first() is not None:
        words = "A run in this thread called an agent while the thread was being deleted."
        raise ThreadBusy(words, hint="Delete the thread again.", thread_id=thread_id)
    streams = of_runs, sa.select(sa.literal(thread_id))
    tx.execute(sa.delete(log).where(log.c.stream_id.in_(sa.union_all(*streams))))
    tx.execute(sa.delete(timers).where(ANY_KIND, timers.c.subject_id.in_(sa.union_all(*streams, *timed_in(of_runs)))))
    lock = find_lock(tx, thread_id)
    asked = [went("handover", lock.holder_id)] if lock is not None and lock.requested_by is not None else []
    gone = [*asked, *subjects.removed_from_inbox(tx, thread_id), *mentions.forget(tx, "thread_id", thread_id)]
    drop(tx, thread_id)
    removed = sa.delete(threads).where(threads.c.id == thread_id).returning(threads.c.project_id)
    project_id = tx.execute(removed).scalar()
    if project_id is not None:
        news = [(INBOX, one) for one in gone]
        append(tx, project_id, [("thread.deleted", ThreadDeleted(thread_id=thread_id)), *news])
    tx.ring(thread_id)


def to_data(row: ShownThread, kind: type[T], **more: Any) -> T:
    """A row of `SHOWN_THREADS` as `ThreadData`, or as a shape that extends it with `more`."""
    lock = lock_data(row.lock, row.thread.id)
    return shape_of(kind, row.thread, sandbox_id=row.sandbox_id, lock=lock, **more)
