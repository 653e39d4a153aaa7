"""Keeps the row of this node, and looks after dead ones."""

import logging
from collections.abc import Awaitable, Callable, Collection
from datetime import datetime
from importlib.metadata import version
from socket import gethostname
from typing import Final

import anyio

from outlast.base.clock import Clock
from outlast.base.errors import OutlastError
from outlast.base.node_errors import NodeRefused
from outlast.base.records import dataclass
from outlast.db.database import Database, Tx
from outlast.kernel.nodes import store
from outlast.kernel.nodes.rows import NodeRow
from outlast.kernel.nodes.rules import Fit, Misfit, find_misfit

LOOK_S: Final = 0.5  # while a start waits for a node that may be dead
BEATS: Final = 3  # in a lease: two may fail
OnDead = Callable[[Collection[str]], Awaitable[None]]
log = logging.getLogger("outlast.nodes")


@dataclass(frozen=True, slots=True)
class Node:
    """This process: its kind (`server` or `worker`), and what has to fit other nodes."""

    id: str
    kind: str
    blobs: str
    sandbox: str
    lease_s: float

    @property
    def fit(self) -> Fit:
        return Fit(self.id, gethostname(), self.blobs, self.sandbox)


class NodeKeeper:
    """On SQLite it does nothing: there is no other node."""

    def __init__(self, db: Database, clock: Clock, node: Node) -> None:
        self._db, self._clock, self._node = db, clock, node
        self._dead: frozenset[str] = frozenset()
        self.on_dead: OnDead | None = None
        """Called with the ids of dead nodes, when there are new ones. Repeated after an error."""

    async def enter(self) -> None:
        """Add this node. A node that does not fit and does not renew its row is waited for until its lease lapses.
        Raises `NodeRefused` with the reason and what to do, and then nothing was changed."""
        if self._db.dialect == "sqlite":
            return
        seen: dict[str, datetime] = {}
        while (found := await self._db.write(self._try_to_enter)) is not None:
            misfit, other = found
            if seen.setdefault(misfit.other, other.seen_at) != other.seen_at:
                raise NodeRefused(misfit.reason, hint=misfit.hint, node_id=misfit.other, host=other.host)
            await self._clock.sleep(LOOK_S)

    async def leave(self) -> None:
        """This node stops cleanly. Errors are only logged: its lease lapses."""
        if self._db.dialect == "sqlite":
            return
        try:
            await self._db.write(store.leave, self._node.id)
        except OutlastError as error:
            log.warning("the node's end was not recorded", extra={"reason": str(error)})

    async def run(self) -> None:
        """Renew the row. Until cancelled."""
        if self._db.dialect == "sqlite":
            await anyio.sleep_forever()
        while True:
            await self._clock.sleep(self._node.lease_s / BEATS)
            await self.beat()

    def renew(self, tx: Tx) -> None:
        """Renew the row in a transaction of others, which a blocked event loop does not delay."""
        if self._db.dialect != "sqlite":
            store.beat_unless_held(tx, self._node.id)

    async def beat(self) -> None:
        """Renew the row once, and report nodes that died since the last call. Raises nothing if the database does not
        answer: the next call tries again."""
        try:
            dead = await self._db.write(self._beat)
            if dead - self._dead and self.on_dead is not None:
                await self.on_dead(dead)
            self._dead = dead
        except OutlastError as error:
            log.warning("the node was not renewed", extra={"reason": str(error)})

    def _try_to_enter(self, tx: Tx) -> tuple[Misfit, NodeRow] | None:
        store.enter_alone(tx)
        living = {row.id: row for row in store.listed(tx) if self._counts(row, tx)}
        fits = [Fit(row.id, row.host, row.blobs, row.sandbox) for row in living.values()]
        misfit = find_misfit(self._node.fit, fits)
        if misfit is not None:
            return misfit, living[misfit.other]
        self._put(tx)
        return None

    def _counts(self, row: NodeRow, tx: Tx) -> bool:
        return row.left_at is None and store.lives(row, tx, self._node.lease_s)

    def _put(self, tx: Tx) -> None:
        node, fit = self._node, self._node.fit
        facts = {"kind": node.kind, "version": version("outlast"), "host": fit.host}
        store.put(tx, node.id, **facts, blobs=node.blobs, sandbox=node.sandbox)

    def _beat(self, tx: Tx) -> frozenset[str]:
        """The ids of the dead nodes."""
        if not store.beat(tx, self._node.id):
            self._put(tx)
        rows = store.listed(tx)
        dead = frozenset(row.id for row in rows if not store.lives(row, tx, self._node.lease_s))
        if dead:
            store.remove_old(tx)
        return dead


def shown(tx: Tx, lease_s: float) -> list[tuple[NodeRow, bool]]:
    """All nodes, and whether each lives."""
    return [(row, row.left_at is None and store.lives(row, tx, lease_s)) for row in store.listed(tx)]
