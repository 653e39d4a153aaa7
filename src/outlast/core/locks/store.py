"""Locks in the database. First argument: the open transaction.

Whoever calls holds the thread's row (`core/threads/driving.py` does), so that two people cannot both be first.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import timedelta
from typing import Any, TypeVar

import sqlalchemy as sa

from outlast.base.clock import iso
from outlast.base.errors import ThreadLocked
from outlast.base.events import LockData
from outlast.core.locks import rules
from outlast.core.locks.rules import Change, Lock
from outlast.db.database import Tx
from outlast.db.tables import locks, runs, users

T = TypeVar("T")
_holder, _asker = users.alias("lock_holder"), users.alias("lock_asker")
LOCK_COLUMNS: tuple[sa.Label[Any], ...] = (
    locks.c.holder_id.label("lock_holder_id"),
    _holder.c.name.label("lock_holder_name"),
    locks.c.acquired_at.label("lock_acquired_at"),
    locks.c.expires_at.label("lock_expires_at"),
    locks.c.requested_by.label("lock_requested_by"),
    _asker.c.name.label("lock_requested_by_name"),
)

_MINE = (locks.c.resource_type == "thread") & (locks.c.resource_id == sa.bindparam("thread"))
_ADD = sa.insert(locks)
_FIND = sa.select(locks).where(_MINE)
_SHOWN = (
    sa.select(*LOCK_COLUMNS)
    .select_from(locks.join(_holder, _holder.c.id == locks.c.holder_id))
    .outerjoin(_asker, _asker.c.id == locks.c.requested_by)
    .where(_MINE)
)
_AT_WORK = (
    sa.select(runs.c.id)
    .where(runs.c.thread_id == sa.bindparam("thread"), runs.c.started_by == sa.bindparam("holder"))
    .where(runs.c.status.in_(["queued", "running"]))
    .limit(1)
)


def join_lock(source: sa.FromClause, thread_id: sa.ColumnElement[str]) -> sa.FromClause:
    """`source` with the lock of each thread beside it, for queries that select `LOCK_COLUMNS`."""
    of_thread = (locks.c.resource_type == "thread") & (locks.c.resource_id == thread_id)
    joined = source.outerjoin(locks, of_thread).outerjoin(_holder, _holder.c.id == locks.c.holder_id)
    return joined.outerjoin(_asker, _asker.c.id == locks.c.requested_by)


def lock_data(row: sa.RowMapping, thread_id: str) -> LockData | None:
    """The lock in a row selected with `LOCK_COLUMNS`; None: free."""
    if row["lock_holder_id"] is None:
        return None
    return LockData(
        resource_type="thread",
        resource_id=thread_id,
        holder_id=row["lock_holder_id"],
        holder_name=row["lock_holder_name"],
        acquired_at=iso(row["lock_acquired_at"]),
        expires_at=iso(row["lock_expires_at"]),
        requested_by=row["lock_requested_by"],
        requested_by_name=row["lock_requested_by_name"],
    )


def find_lock(tx: Tx, thread_id: str) -> Lock | None:
    """The thread's lock, expired or not."""
    row = tx.one(_FIND, {"thread": thread_id})
    if row is None:
        return None
    return Lock(
        row["holder_id"], row["acquired_at"], row["expires_at"], row["requested_by"], row["requested_at"]
    )


def shown_lock(tx: Tx, thread_id: str) -> LockData | None:
    """The thread's lock with names, as people see it."""
    row = tx.one(_SHOWN, {"thread": thread_id})
    return None if row is None else lock_data(row, thread_id)


def is_live(tx: Tx, thread_id: str, lock: Lock | None) -> bool:
    """Whether a run of the lock's holder is queued or running in the thread: it keeps the lock."""
    if lock is None:
        return False
    return tx.one(_AT_WORK, {"thread": thread_id, "holder": lock.holder_id}) is not None


def acquire(tx: Tx, thread_id: str, project_id: str, user_id: str, ttl_s: float) -> Change:
    """Acquire, refresh or take over. Raises `ThreadLocked`, naming the holder and the expiry."""
    lock = find_lock(tx, thread_id)
    after, change = _named(
        tx,
        thread_id,
        lambda: rules.acquire(
            lock, user_id, tx.now, timedelta(seconds=ttl_s), live=is_live(tx, thread_id, lock)
        ),
    )
    if lock is None:
        _insert(tx, thread_id, project_id, after)
    else:
        _update(tx, thread_id, after)
    return change


def demand(tx: Tx, thread_id: str, user_id: str) -> None:
    """Raise `ThreadLocked`, naming the holder and the expiry, while somebody else drives."""
    lock = find_lock(tx, thread_id)
    live = is_live(tx, thread_id, lock)
    _named(tx, thread_id, lambda: rules.demand(lock, user_id, tx.now, live=live))


def release(tx: Tx, thread_id: str, user_id: str) -> Change | None:
    """Let go; None where there was nothing to let go of. Raises `ThreadLocked`, `ThreadBusy`."""
    lock = find_lock(tx, thread_id)
    live = is_live(tx, thread_id, lock)
    change = _named(tx, thread_id, lambda: rules.release(lock, user_id, tx.now, live=live))
    if change is not None:
        drop(tx, thread_id)
    return change


def request(tx: Tx, thread_id: str, user_id: str) -> None:
    """Ask the holder for the lock. Raises `LockNotHeld`."""
    lock = find_lock(tx, thread_id)
    _update(tx, thread_id, rules.request(lock, user_id, tx.now, live=is_live(tx, thread_id, lock)))


def hand_over(tx: Tx, thread_id: str, user_id: str, to_user_id: str, ttl_s: float) -> None:
    """Make another member the driver. Raises `LockNotHeld`, `ThreadBusy`."""
    lock, ttl = find_lock(tx, thread_id), timedelta(seconds=ttl_s)
    live = is_live(tx, thread_id, lock)
    _update(tx, thread_id, rules.hand_over(lock, user_id, to_user_id, tx.now, ttl, live=live))


def drop(tx: Tx, thread_id: str) -> None:
    """Remove the lock, whoever holds it."""
    tx.execute(sa.delete(locks).where(*_of(thread_id)))


def held_by(tx: Tx, project_id: str, user_id: str) -> Sequence[str]:
    """The threads of the project that this user drives."""
    mine = locks.c.project_id == project_id, locks.c.holder_id == user_id, locks.c.resource_type == "thread"
    return (
        tx.execute(sa.select(locks.c.resource_id).where(*mine).order_by(locks.c.resource_id)).scalars().all()
    )


def _of(thread_id: str) -> tuple[sa.ColumnElement[bool], sa.ColumnElement[bool]]:
    return locks.c.resource_type == "thread", locks.c.resource_id == thread_id


def _named(tx: Tx, thread_id: str, decide: Callable[[], T]) -> T:
    """What the rule decides; its refusal is told with the holder's name and the expiry."""
    try:
        return decide()
    except ThreadLocked:
        shown = shown_lock(tx, thread_id)
        if shown is None:
            raise
        raise ThreadLocked(
            f"Thread {thread_id} is locked by {shown.holder_name} until {shown.expires_at}.",
            thread_id=thread_id,
            holder_id=shown.holder_id,
            holder_name=shown.holder_name,
            expires_at=shown.expires_at,
        ) from None


def _insert(tx: Tx, thread_id: str, project_id: str, lock: Lock) -> None:
    row = {"resource_type": "thread", "resource_id": thread_id, "project_id": project_id, **asdict(lock)}
    tx.execute(_ADD, row)


def _update(tx: Tx, thread_id: str, lock: Lock) -> None:
    tx.execute(sa.update(locks).where(*_of(thread_id)), asdict(lock))
