"""The lock of a thread's driver, changed under the thread row's lock, with events in the logs of thread and project."""

from datetime import datetime
from typing import NamedTuple

import sqlalchemy as sa

from outlast.base.clock import iso
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.accounts.tables import users
from outlast.kernel.locks import store as locks
from outlast.kernel.locks.rules import Change, Lock
from outlast.kernel.locks.shapes import LockChanged, LockData
from outlast.kernel.locks.tables import locks as locks_table
from outlast.kernel.mentions.inbox_items import INBOX, InboxItem, InboxPart, Waiting, came, went
from outlast.kernel.projects.permissions import require_editor, require_thread
from outlast.kernel.projects.rules import Right
from outlast.kernel.projects.tables import members
from outlast.kernel.streams.log_store import append
from outlast.kernel.threads.rows import ThreadRow
from outlast.kernel.threads.store import announce, hold
from outlast.kernel.threads.tables import threads


def drive(tx: Tx, thread_id: str, project_id: str, actor: Actor, ttl_s: float) -> LockData:
    """The actor drives from now on: a free lock is acquired, the actor's own refreshed, an expired one taken over.
    Raises `ThreadLocked`, naming the holder and the expiry. Only a change of driver has an event; the caller announces
    the thread if there is more to publish (a refresh has no event of its own). The thread's row is held."""
    change, before = locks.acquire(tx, thread_id, project_id, actor.user_id, ttl_s)
    shown = _read_shown(tx, thread_id)
    if change != "refreshed":
        _publish_lock(tx, thread_id, project_id, change, shown)
        tell_unasked(tx, project_id, before)
    return shown


def demand_not_locked(tx: Tx, thread_id: str, actor: Actor) -> None:
    """Raise `ThreadLocked`, naming the holder and the expiry, while another user drives; nothing is acquired."""
    locks.demand(tx, thread_id, actor.user_id)


def take(tx: Tx, actor: Actor, thread_id: str, ttl_s: float) -> LockData:
    """Drive a thread on request (editors). As `drive`, but followers always get the new expiry."""
    thread = _hold(tx, actor, thread_id)
    shown = drive(tx, thread_id, thread.project_id, actor, ttl_s)
    announce(tx, thread_id)
    return shown


def release(tx: Tx, actor: Actor, thread_id: str) -> None:
    """Stop driving (editors). Repeating is harmless. Raises `ThreadLocked` for another user's lock, `ThreadBusy` while
    the actor's run works."""
    thread = _hold(tx, actor, thread_id)
    released = locks.release(tx, thread_id, actor.user_id)
    if released is not None:
        _publish_free(tx, thread_id, thread.project_id)
        tell_unasked(tx, thread.project_id, released)


def request(tx: Tx, actor: Actor, thread_id: str) -> LockData:
    """Ask the driver for a hand-over (editors). Raises `LockNotHeld` if no other user drives."""
    thread = _hold(tx, actor, thread_id)
    locks.request(tx, thread_id, actor.user_id)
    shown = _publish_change(tx, thread, "requested")
    for _, asked in waiting(tx, shown.holder_id, thread_id=thread_id):
        append(tx, thread.project_id, [(INBOX, came(asked, shown.holder_id))])
    return shown


def hand_over(tx: Tx, actor: Actor, thread_id: str, to_user_id: str, ttl_s: float) -> LockData:
    """Make another member, who may edit, the driver. Raises `LockNotHeld`, `ThreadBusy`, and `NotFound` or `Forbidden`
    for the other member."""
    thread = _hold(tx, actor, thread_id)
    require_editor(tx, to_user_id, thread.project_id, "thread", "drive")
    before = locks.hand_over(tx, thread_id, actor.user_id, to_user_id, ttl_s)
    shown = _publish_change(tx, thread, "handed_over")
    tell_unasked(tx, thread.project_id, before)
    return shown


def release_all(tx: Tx, project_id: str, user_id: str) -> None:
    """A user leaves the project: release the threads that they drove there."""
    driven = {thread_id: locks.find_lock(tx, thread_id) for thread_id in locks.held_by(tx, project_id, user_id)}
    for thread_id in driven:  # all threads before the project's log: the order in which every transaction locks rows
        hold(tx, thread_id)
        locks.drop(tx, thread_id)
    for thread_id, before in driven.items():
        _publish_free(tx, thread_id, project_id)
        tell_unasked(tx, project_id, before)


class _LockRequest(NamedTuple):
    id: str
    title: str
    project_id: str
    document_id: str | None
    requested_at: datetime
    requested_by: str | None
    name: str


def waiting(
    tx: Tx, user_id: str, project_id: str | None = None, part: InboxPart | None = None, *, thread_id: str | None = None
) -> list[Waiting]:
    """Threads that this user drives and another user asks for: one of them, those of one project, or all of the user's;
    only `part` of them, if set."""
    mine = (members.c.project_id == threads.c.project_id) & (members.c.user_id == user_id)
    columns = threads.c.id, threads.c.title, threads.c.project_id, threads.c.document_id
    found = (
        sa.select(*columns, locks_table.c.requested_at, locks_table.c.requested_by, users.c.name)
        .select_from(locks_table.join(threads, threads.c.id == locks_table.c.resource_id))
        .join(users, users.c.id == locks_table.c.requested_by)
        .join(members, mine & members.c.role.in_(["owner", "editor"]))
        .where(locks_table.c.resource_type == "thread", locks_table.c.holder_id == user_id)
    )
    if project_id is not None:
        found = found.where(threads.c.project_id == project_id)
    if thread_id is not None:
        found = found.where(threads.c.id == thread_id)
    if part is not None:
        found = part.of(found, locks_table.c.requested_at, threads.c.id)
    return [(row.requested_at, _to_item(row)) for row in tx.rows(_LockRequest, found)]


def _to_item(row: _LockRequest) -> InboxItem:
    return InboxItem(
        kind="handover",
        id=row.id,
        project_id=row.project_id,
        text=f"{row.name} would like to drive this thread.",
        created_at=iso(row.requested_at),
        by=row.requested_by,
        by_name=row.name,
        thread_id=row.id,
        thread_title=row.title,
        document_id=row.document_id,
    )


def _hold(tx: Tx, actor: Actor, thread_id: str) -> ThreadRow:
    require_thread(tx, actor, thread_id, Right.EDIT)
    return hold(tx, thread_id)


def _publish_free(tx: Tx, thread_id: str, project_id: str) -> None:
    _publish_lock(tx, thread_id, project_id, "released", None)
    announce(tx, thread_id)


def tell_unasked(tx: Tx, project_id: str, before: Lock | None) -> None:
    """The request to the former holder of a lock for a hand-over is withdrawn."""
    if before is not None and before.requested_by is not None:
        append(tx, project_id, [(INBOX, went("handover", before.holder_id))])


def _publish_change(tx: Tx, thread: ThreadRow, change: Change) -> LockData:
    shown = _read_shown(tx, thread.id)
    _publish_lock(tx, thread.id, thread.project_id, change, shown)
    announce(tx, thread.id)
    return shown


def _read_shown(tx: Tx, thread_id: str) -> LockData:
    shown = locks.shown_lock(tx, thread_id)
    assert shown is not None  # written in this transaction
    return shown


def _publish_lock(tx: Tx, thread_id: str, project_id: str, change: Change, lock: LockData | None) -> None:
    event = (f"lock.{change}", LockChanged(thread_id=thread_id, lock=lock))
    append(tx, thread_id, [event])
    append(tx, project_id, [event])
