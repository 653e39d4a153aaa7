"""`sandbox.mode = "warm"`: a thread's sandbox is started in the background with the thread or at the start of a run, so
that the first tool call finds it."""

import logging
from collections.abc import Collection
from typing import Final

import anyio

from outlast.base.errors import NotFound
from outlast.db.database import Database, Tx
from outlast.kernel.agents.registry import Agents
from outlast.kernel.agents.workspaces import workspace_of_thread
from outlast.kernel.sandboxes.manager import SandboxManager
from outlast.kernel.threads.rows import ThreadRow
from outlast.kernel.threads.tables import threads

AT_A_TIME: Final = 4
MAX_WAITING: Final = 1_000
log = logging.getLogger("outlast.sandboxes")


class Warmer:
    """In memory: the threads that wait. Losing them costs time, never work: a tool call starts a missing sandbox.
    Only those of agents that work in a sandbox are started."""

    def __init__(self, db: Database, machines: SandboxManager, agents: Agents) -> None:
        self._db, self._machines, self._agents = db, machines, agents
        # Bounded: a flood must not fill the memory.
        self._wanted, self._coming = anyio.create_memory_object_stream[str](MAX_WAITING)

    def warm(self, thread_id: str) -> None:
        """Start the thread's sandbox soon. Returns at once; in a flood of threads some are skipped."""
        try:
            self._wanted.send_nowait(thread_id)
        except anyio.WouldBlock:
            log.info("sandbox not warmed: too many threads at once", extra={"thread_id": thread_id})

    async def run(self) -> None:
        """Until cancelled."""
        limiter = anyio.CapacityLimiter(AT_A_TIME)
        async with anyio.create_task_group() as tasks:
            async for thread_id in self._coming:
                # The first tool call tries again, and reports the error.
                tasks.start_soon(self._machines.guard.once, "warming", thread_id, self._warm, thread_id, limiter)

    async def _warm(self, thread_id: str, limiter: anyio.CapacityLimiter) -> None:
        async with limiter:
            place = await self._db.write(_place_of, thread_id, self._agents.sandboxed)
            if place is not None:
                await self._machines.ensure(*place)


def _place_of(tx: Tx, thread_id: str, agents: Collection[str]) -> tuple[str, str] | None:
    """(workspace id, project id) of a thread, or None if its agent is none of these."""
    thread = tx.find(ThreadRow, threads, {"id": thread_id})
    if thread is None:
        raise NotFound("This thread was deleted.", id=thread_id)
    if thread.profile not in agents:
        return None
    return workspace_of_thread(tx, thread.project_id, thread_id), thread.project_id
