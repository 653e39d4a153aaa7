"""Leases on what only one of several servers may do with the sandboxes that all of them reach: rows of
`sandbox_leases`. A lease ends when it is given back, or when its server did not renew it for its whole length.

Sandboxes on a server's own machine need none: that server alone reaches them.
"""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from datetime import datetime, timedelta
from typing import Final

import anyio
import sqlalchemy as sa

from outlast.base.clock import Clock, wait_at_most
from outlast.base.errors import OutlastError, SandboxUnavailable, StorageUnavailable
from outlast.db.database import Database, Tx
from outlast.db.prepared import upsert_into
from outlast.kernel.sandboxes.tables import sandbox_leases

LEASE_S: Final = 15.0
LOOK_EVERY_S: Final = 0.5  # a bell is rung when a lease is given back; a dead server rings none
STEP: Final = "step:"
ATTEND: Final = "attend:"


def take(tx: Tx, name: str, node_id: str, length: timedelta, *, by_force: bool = False) -> bool:
    """True if the lease is now this node's, for `length`: it was free, lapsed, its own already, or taken by force."""
    insert = upsert_into(sandbox_leases, tx.conn.dialect.name).values(name=name, node_id=node_id, until=tx.now + length)
    free = sa.or_(sandbox_leases.c.until <= tx.now, sandbox_leases.c.node_id == node_id)
    taken = insert.on_conflict_do_update(
        index_elements=["name"],
        set_={"node_id": insert.excluded.node_id, "until": insert.excluded.until},
        where=sa.true() if by_force else free,
    )
    return tx.execute(taken).rowcount == 1


def renew(tx: Tx, name: str, node_id: str, length: timedelta) -> bool:
    """False if another node has taken it, or no lease is left."""
    return tx.update(sandbox_leases, {"name": name, "node_id": node_id}, until=tx.now + length) == 1


def release(tx: Tx, name: str, node_id: str, keep: timedelta | None = None) -> None:
    """Give it back, at once or after `keep`. Does nothing if it is another node's by now."""
    mine = sandbox_leases.c.name == name, sandbox_leases.c.node_id == node_id
    if keep is None:
        tx.execute(sa.delete(sandbox_leases).where(*mine))
        tx.ring(name)
    else:
        tx.execute(sa.update(sandbox_leases).where(*mine).values(until=tx.now + keep))


def holder(tx: Tx, name: str) -> str | None:
    """The node that holds it now."""
    mine = sandbox_leases.c.name == name, sandbox_leases.c.until > tx.now
    found: str | None = tx.execute(sa.select(sandbox_leases.c.node_id).where(*mine)).scalar()
    return found


def demand(tx: Tx, name: str, node_id: str) -> None:
    """Raise `SandboxUnavailable` unless this node holds the lease. The row is held until the transaction ends, so that
    no other node takes the lease before; one that lapsed is still held if no other node has taken it."""
    mine = sandbox_leases.c.name == name, sandbox_leases.c.node_id == node_id
    if tx.execute(sa.select(sandbox_leases.c.name).where(*mine).with_for_update()).first() is None:
        raise SandboxUnavailable(
            "Another server has taken over this sandbox.", hint="Try again.", retry_after_s=1, lease=name
        )


def clear_lapsed(tx: Tx, since: datetime) -> None:
    """Remove leases that lapsed before then."""
    tx.execute(sa.delete(sandbox_leases).where(sandbox_leases.c.until < since))


class Leases:
    """The leases of one server, `node_id`. In memory: the callers that wait for one."""

    def __init__(self, db: Database, clock: Clock, node_id: str, lease_s: float = LEASE_S) -> None:
        self._db, self._clock = db, clock
        self.node_id, self.length = node_id, timedelta(seconds=lease_s)
        self._waits: dict[str, anyio.Event] = {}
        db.on_notice(self._on_notice)

    @asynccontextmanager
    async def step(self, workspace_id: str) -> AsyncIterator[None]:
        """Hold the lease on changes of this workspace's sandbox, and wait for it if another server does. The caller
        holds the workspace's lock, so that one server waits once. Changes are recorded with `demand`: a server that was
        suspended for the lease's length records none."""
        name = STEP + workspace_id
        while not await self._db.write(take, name, self.node_id, self.length):
            news = self._waits.setdefault(name, anyio.Event())
            try:
                await wait_at_most(self._clock, news, LOOK_EVERY_S)
            finally:
                self._waits.pop(name, None)
        async with self._kept(name, None):
            yield

    @asynccontextmanager
    async def alone(self, name: str, rest_s: float = 0.0) -> AsyncIterator[bool]:
        """Whether this server alone may do the task of this name now; the others get False until it has ended and
        `rest_s` more have passed."""
        if not await self._db.write(take, name, self.node_id, self.length):
            yield False
            return
        async with self._kept(name, timedelta(seconds=rest_s) if rest_s else None):
            yield True

    @asynccontextmanager
    async def _kept(self, name: str, rest: timedelta | None) -> AsyncIterator[None]:
        """Renew a lease that was taken until the end, then give it back."""
        failure: Exception | None = None
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._renew, name)
                try:
                    yield
                except Exception as error:  # raised outside of the task group, which would wrap it
                    failure = error
                tasks.cancel_scope.cancel()
        finally:
            with anyio.CancelScope(shield=True), suppress(OutlastError):  # else it lapses
                await self._db.write(release, name, self.node_id, rest)
        if failure is not None:
            raise failure

    async def _renew(self, name: str) -> None:
        while True:
            await self._clock.sleep(self.length.total_seconds() / 3)
            with suppress(StorageUnavailable):  # then `demand` cannot record anything either
                if not await self._db.write(renew, name, self.node_id, self.length):
                    return  # what is recorded from now on is refused

    def _on_notice(self, stream_id: str) -> None:
        if stream_id == "*":
            waiting: Iterable[anyio.Event] = list(self._waits.values())
        else:
            found = self._waits.get(stream_id)
            waiting = () if found is None else (found,)
        for news in waiting:
            news.set()
