"""Who drives a thread: take, release, request, hand over."""

from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.locks import thread_locks
from outlast.kernel.locks.shapes import LockData
from outlast.kernel.projects.permissions import require_editor, require_thread
from outlast.kernel.projects.rules import Right
from outlast.kernel.services import Services, in_write


async def take_lock(services: Services, actor: Actor, thread_id: str) -> LockData:
    """Drive a thread (editors): a free lock is acquired, one's own refreshed, an expired one taken over. Raises
    `ThreadLocked`, naming the holder and the expiry."""

    def run(tx: Tx) -> LockData:
        row = require_thread(tx, actor, thread_id, Right.EDIT)
        return thread_locks.take(tx, row, actor, services.settings.locks.ttl_s)

    return await services.db.write(run)


@in_write
def release_lock(tx: Tx, actor: Actor, thread_id: str) -> None:
    """Stop driving (editors). Repeating is harmless. Raises `ThreadLocked` for another user's lock, `ThreadBusy` while
    the actor's run works."""
    thread_locks.release(tx, require_thread(tx, actor, thread_id, Right.EDIT), actor)


@in_write
def request_lock(tx: Tx, actor: Actor, thread_id: str) -> LockData:
    """Ask the one who drives for a hand-over (editors). Raises `LockNotHeld` where there is nobody to ask."""
    return thread_locks.request(tx, require_thread(tx, actor, thread_id, Right.EDIT), actor)


async def hand_over_lock(services: Services, actor: Actor, thread_id: str, user_id: str) -> LockData:
    """Make another member, who may edit, the driver. Raises `LockNotHeld`, `ThreadBusy`, `NotFound` and `Forbidden`
    about the other member."""

    def run(tx: Tx) -> LockData:
        row = require_thread(tx, actor, thread_id, Right.EDIT)
        require_editor(tx, user_id, row.project_id, "thread", "drive")
        return thread_locks.hand_over(tx, row, actor, user_id, services.settings.locks.ttl_s)

    return await services.db.write(run)
