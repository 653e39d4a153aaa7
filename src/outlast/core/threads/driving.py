"""Who drives a thread: its lock, changed under the thread row's lock, and told on the thread's and project's logs."""

import sqlalchemy as sa

from outlast.base.events import LockChanged, LockData
from outlast.core.accounts.actor import Actor
from outlast.core.locks import store as locks
from outlast.core.locks.rules import Change
from outlast.core.streams.log import append
from outlast.core.threads.store import announce, hold
from outlast.db.database import Tx


def drive(tx: Tx, thread_id: str, project_id: str, actor: Actor, ttl_s: float) -> LockData:
    """The actor drives from now on: a free lock is acquired, the actor's own refreshed, an expired one taken over.
    Raises `ThreadLocked`, naming the holder and the expiry. Only a change of driver is told; the caller announces the
    thread when it has more to say (a refresh is not worth an event of its own)."""
    hold(tx, thread_id)
    change = locks.acquire(tx, thread_id, project_id, actor.user_id, ttl_s)
    shown = _shown(tx, thread_id)
    if change != "refreshed":
        _tell(tx, thread_id, project_id, change, shown)
    return shown


def demand_not_locked(tx: Tx, thread_id: str, actor: Actor) -> None:
    """Raise `ThreadLocked`, naming the holder and the expiry, while somebody else drives; nothing is acquired."""
    locks.demand(tx, thread_id, actor.user_id)


def take(tx: Tx, thread: sa.RowMapping, actor: Actor, ttl_s: float) -> LockData:
    """As `drive`, for somebody who takes the lock by hand: followers always learn the new expiry."""
    shown = drive(tx, thread["id"], thread["project_id"], actor, ttl_s)
    announce(tx, thread["id"])
    return shown


def release(tx: Tx, thread: sa.RowMapping, actor: Actor) -> None:
    """The actor lets go. Repeating is harmless. Raises `ThreadLocked` for somebody else's lock, `ThreadBusy` while the
    actor's run works."""
    hold(tx, thread["id"])
    if locks.release(tx, thread["id"], actor.user_id) is not None:
        _tell(tx, thread["id"], thread["project_id"], "released", None)
        announce(tx, thread["id"])


def request(tx: Tx, thread: sa.RowMapping, actor: Actor) -> LockData:
    """The actor asks the holder for the lock. Raises `LockNotHeld` where there is nobody to ask."""
    hold(tx, thread["id"])
    locks.request(tx, thread["id"], actor.user_id)
    return _told(tx, thread, "requested")


def hand_over(tx: Tx, thread: sa.RowMapping, actor: Actor, to_user_id: str, ttl_s: float) -> LockData:
    """The actor makes another member (who must be allowed to: the caller checks) the driver. Raises `LockNotHeld`,
    `ThreadBusy`."""
    hold(tx, thread["id"])
    locks.hand_over(tx, thread["id"], actor.user_id, to_user_id, ttl_s)
    return _told(tx, thread, "handed_over")


def release_all(tx: Tx, project_id: str, user_id: str) -> None:
    """Somebody leaves the project: whatever they drove there is free."""
    driven = locks.held_by(tx, project_id, user_id)
    for thread_id in driven:  # all threads before the project's log: the order in which everybody takes rows
        hold(tx, thread_id)
        locks.drop(tx, thread_id)
    for thread_id in driven:
        _tell(tx, thread_id, project_id, "released", None)
        announce(tx, thread_id)


def _told(tx: Tx, thread: sa.RowMapping, change: Change) -> LockData:
    shown = _shown(tx, thread["id"])
    _tell(tx, thread["id"], thread["project_id"], change, shown)
    announce(tx, thread["id"])
    return shown


def _shown(tx: Tx, thread_id: str) -> LockData:
    shown = locks.shown_lock(tx, thread_id)
    assert shown is not None  # it was written a moment ago, in this transaction
    return shown


def _tell(tx: Tx, thread_id: str, project_id: str, change: Change, lock: LockData | None) -> None:
    event = (f"lock.{change}", LockChanged(thread_id=thread_id, lock=lock))
    append(tx, thread_id, [event])
    append(tx, project_id, [event])
