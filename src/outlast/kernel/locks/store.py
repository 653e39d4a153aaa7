"""Locks in the database. First argument: the open transaction; second: the id of the locked resource, a thread or a
section (its prefix shows which).

The caller holds the thread's row (`kernel/locks/thread_locks.py` does), or the row of the section's document
(`apps/documents/section_locks.py`), so that two users cannot both be first.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any, Final, Literal, NamedTuple, NoReturn

import sqlalchemy as sa

from outlast.base.clock import iso
from outlast.base.errors import SectionLocked, ThreadLocked
from outlast.db.database import Tx
from outlast.kernel.accounts.tables import users
from outlast.kernel.locks import rules
from outlast.kernel.locks.rules import Change, Lock, Standing
from outlast.kernel.locks.shapes import LockData
from outlast.kernel.locks.tables import locks
from outlast.kernel.runs.tables import IS_OPEN, runs


class LockColumns(NamedTuple):
    """`LOCK_COLUMNS`. Each is None while the lock is free."""

    lock_holder_id: str | None
    lock_holder_name: str
    lock_acquired_at: datetime
    lock_expires_at: datetime
    lock_requested_by: str | None
    lock_requested_by_name: str | None


class _ShownLock(NamedTuple):
    resource_id: str
    lock: LockColumns


_holder, _asker = users.alias("lock_holder"), users.alias("lock_asker")
LOCK_COLUMNS: tuple[sa.Label[Any], ...] = (
    locks.c.holder_id.label("lock_holder_id"),
    _holder.c.name.label("lock_holder_name"),
    locks.c.acquired_at.label("lock_acquired_at"),
    locks.c.expires_at.label("lock_expires_at"),
    locks.c.requested_by.label("lock_requested_by"),
    _asker.c.name.label("lock_requested_by_name"),
)

Kind = Literal["thread", "section"]
_MINE = (locks.c.resource_type == sa.bindparam("resource_type")) & (locks.c.resource_id == sa.bindparam("resource_id"))
_DROP = sa.delete(locks).where(_MINE)
_NAMED: Final = (
    sa.select(locks.c.resource_id, *LOCK_COLUMNS)
    .select_from(locks.join(_holder, _holder.c.id == locks.c.holder_id))
    .outerjoin(_asker, _asker.c.id == locks.c.requested_by)
)
_SHOWN = _NAMED.where(_MINE)
_AT_WORK = (
    sa.select(runs.c.id)
    .where(runs.c.thread_id == sa.bindparam("thread"), IS_OPEN, runs.c.started_by == sa.bindparam("holder"))
    .where(runs.c.status.in_(["queued", "running"]))
    .limit(1)
)


def join_lock(source: sa.FromClause, thread_id: sa.ColumnElement[str]) -> sa.FromClause:
    """`source` joined with the lock of each thread, for queries that select `LOCK_COLUMNS`."""
    of_thread = (locks.c.resource_type == "thread") & (locks.c.resource_id == thread_id)
    joined = source.outerjoin(locks, of_thread).outerjoin(_holder, _holder.c.id == locks.c.holder_id)
    return joined.outerjoin(_asker, _asker.c.id == locks.c.requested_by)


def lock_data(row: LockColumns, resource_id: str) -> LockData | None:
    """The lock in a row selected with `LOCK_COLUMNS`, or None if it is free."""
    if row.lock_holder_id is None:
        return None
    return LockData(
        resource_type=_kind(resource_id),
        resource_id=resource_id,
        holder_id=row.lock_holder_id,
        holder_name=row.lock_holder_name,
        acquired_at=iso(row.lock_acquired_at),
        expires_at=iso(row.lock_expires_at),
        requested_by=row.lock_requested_by,
        requested_by_name=row.lock_requested_by_name,
    )


def find_lock(tx: Tx, resource_id: str) -> Lock | None:
    """The lock, expired or not."""
    return tx.find(Lock, locks, _of(resource_id))


def shown_lock(tx: Tx, resource_id: str) -> LockData | None:
    """The lock with names, for people."""
    row = tx.row(_ShownLock, _SHOWN, _of(resource_id))
    return None if row is None else lock_data(row.lock, resource_id)


def is_live(tx: Tx, resource_id: str, lock: Lock | None) -> bool:
    """True if a run of the lock's holder is queued or running in the thread, which keeps the lock. Always false for a
    section."""
    if lock is None or _kind(resource_id) != "thread":
        return False
    return tx.execute(_AT_WORK, {"thread": resource_id, "holder": lock.holder_id}).first() is not None


def acquire(tx: Tx, resource_id: str, project_id: str, user_id: str, ttl_s: float) -> tuple[Change, Lock | None]:
    """Acquire, refresh or take over. Returns the kind of change, and the lock as it was before. Raises
    `ThreadLocked`, naming the holder and the expiry."""
    lock, live = _find_with_live(tx, resource_id)
    with _naming_holder(tx, resource_id):
        after, change = rules.acquire(lock, user_id, tx.now, timedelta(seconds=ttl_s), live=live)
    if lock is None:
        tx.insert(locks, **_of(resource_id), project_id=project_id, **after._asdict())
    else:
        _update(tx, resource_id, after)
    return change, lock


def held_by_other(tx: Tx, resource_id: str, user_id: str) -> bool:
    """True if another user holds the lock now."""
    lock, live = _find_with_live(tx, resource_id)
    return rules.standing(lock, user_id, tx.now, live=live) is Standing.THEIRS


def demand(tx: Tx, resource_id: str, user_id: str) -> None:
    """Raise `ThreadLocked`, naming the holder and the expiry, while another user drives. For changes of a thread's
    files by a user who does not drive."""
    if held_by_other(tx, resource_id, user_id):
        with _naming_holder(tx, resource_id):
            raise rules.refusal(find_lock(tx, resource_id))


def release(tx: Tx, resource_id: str, user_id: str) -> Lock | None:
    """Release the lock. Returns the lock as it was, or None if there was nothing to release. Raises `ThreadLocked`,
    `ThreadBusy`."""
    lock, live = _find_with_live(tx, resource_id)
    with _naming_holder(tx, resource_id):
        if rules.release(lock, user_id, tx.now, live=live) is None:
            return None
    drop(tx, resource_id)
    return lock


def request(tx: Tx, resource_id: str, user_id: str) -> None:
    """Ask the holder for the lock. Raises `LockNotHeld`."""
    lock, live = _find_with_live(tx, resource_id)
    _update(tx, resource_id, rules.request(lock, user_id, tx.now, live=live))


def hand_over(tx: Tx, resource_id: str, user_id: str, to_user_id: str, ttl_s: float) -> Lock | None:
    """Make another member the driver. Returns the lock as it was. Raises `LockNotHeld`, `ThreadBusy`."""
    lock, live = _find_with_live(tx, resource_id)
    _update(tx, resource_id, rules.hand_over(lock, user_id, to_user_id, tx.now, timedelta(seconds=ttl_s), live=live))
    return lock


def drop(tx: Tx, resource_id: str) -> None:
    """Remove the lock of any holder."""
    tx.execute(_DROP, _of(resource_id))


def held_by(tx: Tx, project_id: str, user_id: str, kind: Kind = "thread") -> Sequence[str]:
    """The threads of the project that this user drives, or the sections that they keep."""
    mine = locks.c.project_id == project_id, locks.c.holder_id == user_id, locks.c.resource_type == kind
    return tx.execute(sa.select(locks.c.resource_id).where(*mine).order_by(locks.c.resource_id)).scalars().all()


def locks_of(tx: Tx, resource_ids: Sequence[str]) -> dict[str, LockData]:
    """The locks, with names, of the locked ones among these resources (all of one kind)."""
    if not resource_ids:
        return {}
    mine = locks.c.resource_type == _kind(resource_ids[0]), locks.c.resource_id.in_(resource_ids)
    rows = tx.rows(_ShownLock, _NAMED.where(*mine))
    return {row.resource_id: lock for row in rows if (lock := lock_data(row.lock, row.resource_id)) is not None}


def _kind(resource_id: str) -> Kind:
    return "section" if resource_id.startswith("sec_") else "thread"


def _of(resource_id: str) -> dict[str, str]:
    return {"resource_type": _kind(resource_id), "resource_id": resource_id}


def _find_with_live(tx: Tx, resource_id: str) -> tuple[Lock | None, bool]:
    """The lock, and whether a run keeps it."""
    lock = find_lock(tx, resource_id)
    return lock, is_live(tx, resource_id, lock)


@contextmanager
def _naming_holder(tx: Tx, resource_id: str) -> Iterator[None]:
    """Raise a rule's `ThreadLocked` with the holder's name and the expiry."""
    try:
        yield
    except ThreadLocked:
        shown = shown_lock(tx, resource_id)
        if shown is None:
            raise
        refuse(shown)


def refuse(lock: LockData) -> NoReturn:
    """Raise `ThreadLocked` or `SectionLocked`, naming the holder and the expiry."""
    kind = lock.resource_type
    words = f"This {kind} is locked by {lock.holder_name} until {lock.expires_at}."
    fields = lock.model_dump(include={"holder_id", "holder_name", "expires_at"})
    if kind == "section":
        raise SectionLocked(words, section_id=lock.resource_id, **fields) from None
    raise ThreadLocked(words, thread_id=lock.resource_id, **fields) from None


def _update(tx: Tx, resource_id: str, lock: Lock) -> None:
    tx.update(locks, _of(resource_id), **lock._asdict())


def renew(tx: Tx, resource_id: str, ttl_s: float) -> None:
    """Let a lock live `ttl_s` from now on, for any holder."""
    tx.update(locks, _of(resource_id), expires_at=tx.now + timedelta(seconds=ttl_s))
