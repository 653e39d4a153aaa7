"""Rows with a lease for threads that have followers, written when a thread on this node gets its first or loses its
last one."""

from datetime import timedelta
from typing import Final

import anyio
import sqlalchemy as sa

from outlast.base.clock import Clock
from outlast.base.errors import OutlastError
from outlast.db.database import Database, Tx
from outlast.kernel.runs import timers
from outlast.kernel.runs.tables import followers, runs
from outlast.kernel.settings import Settings
from outlast.kernel.streams.hub import Hub
from outlast.kernel.threads.tables import threads

LEASE: Final = timedelta(seconds=120)
TOUCH_S: Final = 30.0  # a status read counts as following for at least this long

GATHER_S: Final = 1.0  # changes are written together, at most once a second
_LIVE_FOLLOWER: Final = (
    sa.select(followers.c.node_id)
    .where(followers.c.thread_id == sa.bindparam("thread"), followers.c.lease_until > sa.bindparam("now"))
    .limit(1)
)
_UNFOLLOW: Final = sa.delete(followers).where(
    followers.c.thread_id == sa.bindparam("thread"), followers.c.node_id == sa.bindparam("node")
)
_AT_WORK: Final = sa.select(runs.c.id).where(
    runs.c.thread_id == sa.bindparam("thread"),
    sa.or_(runs.c.leg == "ready", runs.c.leg == "held", runs.c.leg == "parked"),  # one by one: read by the index
    sa.or_(runs.c.leg != "parked", runs.c.waiting_for == "run"),
)


def is_followed(tx: Tx, thread_id: str) -> bool:
    """True if any node has a follower of this thread."""
    return tx.execute(_LIVE_FOLLOWER, {"thread": thread_id, "now": tx.now}).scalar() is not None


def arm_abandonment(tx: Tx, settings: Settings, run_id: str, thread_id: str) -> None:
    """A run continues: start the abandonment timer, unless the thread has a follower."""
    if is_followed(tx, thread_id):
        return
    tx.update(runs, {"id": run_id}, unwatched_since=tx.now)
    set_abandonment(tx, settings, run_id)


def set_abandonment(tx: Tx, settings: Settings, run_id: str) -> None:
    """Start the timer after which a run without a follower is abandoned."""
    timers.set_timer(tx, "abandon", run_id, tx.now + timedelta(seconds=settings.runs.abandoned_after_s))


class Watching:
    """Keeps the followers table in step with this node's hub. In memory: the threads that changed since the last
    write."""

    def __init__(self, db: Database, hub: Hub, clock: Clock, settings: Settings, node_id: str) -> None:
        self._db, self._hub, self._clock, self._settings, self._node_id = db, hub, clock, settings, node_id
        self._changed: set[str] = set()
        self._touched: dict[str, float] = {}
        self._wake = anyio.Event()
        hub.on_watch(self._note)

    def touch(self, thread_id: str) -> None:
        """A client read the status of this thread or its run: that counts as following for a while."""
        now = self._clock.monotonic()
        if not self._hub.watchers(thread_id) and now - self._touched.get(thread_id, -TOUCH_S) >= TOUCH_S:
            if len(self._touched) > 10_000:  # a bound; a forgotten thread is only written once more
                self._touched.clear()
            self._touched[thread_id] = now
            self._note(thread_id, 0)

    async def run(self) -> None:
        """Until cancelled. Rows of an earlier process under this node's name are removed first."""
        await self._db.write(forget_node, self._settings, self._node_id)
        while True:
            with anyio.move_on_after(LEASE.total_seconds() / 2):
                await self._wake.wait()
            await self._clock.sleep(GATHER_S)
            # Replaced before the changes are taken: a change during the write is written in the next round. Every
            # followed thread is written each time, which renews its lease.
            self._wake = anyio.Event()
            changed, self._changed = self._changed | set(self._hub.watched()), set()
            if changed:
                try:
                    await self._db.write(self._write, {t: self._hub.watchers(t) > 0 for t in changed})
                except OutlastError:  # the changed threads are kept; the counts are read again at the next write
                    self._changed |= changed
                    await self._clock.sleep(1)

    def _note(self, thread_id: str, _watchers: int) -> None:
        self._changed.add(thread_id)
        self._wake.set()

    def _write(self, tx: Tx, watched: dict[str, bool]) -> None:
        for thread_id, yes in watched.items():
            tx.execute(_UNFOLLOW, {"thread": thread_id, "node": self._node_id})
            if yes and tx.exists(threads, {"id": thread_id}):  # it may have been deleted while it was followed
                tx.insert(followers, thread_id=thread_id, node_id=self._node_id, lease_until=tx.now + LEASE)
            for run_id in tx.execute(_AT_WORK, {"thread": thread_id}).scalars().all():
                if yes:
                    tx.update(runs, {"id": run_id}, unwatched_since=None)
                else:
                    arm_abandonment(tx, self._settings, run_id, thread_id)


def forget_node(tx: Tx, settings: Settings, node_id: str) -> None:
    """A node starts: the followers of its former process are gone until they reconnect."""
    forgotten = sa.delete(followers).where(followers.c.node_id == node_id).returning(followers.c.thread_id)
    for thread_id in list(tx.execute(forgotten).scalars()):
        for run_id in tx.execute(_AT_WORK, {"thread": thread_id}).scalars().all():
            arm_abandonment(tx, settings, run_id, thread_id)
