"""Unused pages become dormant: their code sessions end, and their cached tree is freed. Nothing is lost.

A timer row is set whenever a run of a page ends; the sweeper calls `rest` when it is due. Files, sandbox and volume
have their own clocks.
"""

from datetime import timedelta
from typing import Final

from outlast.apps.pages.store import page_of
from outlast.apps.pages.tree_cache import LiveTrees
from outlast.db.database import Database, Tx
from outlast.kernel.runs import timers
from outlast.kernel.runs.tables import TimerKind
from outlast.kernel.sandboxes.manager import SandboxManager
from outlast.kernel.threads.tables import threads

KIND: Final[TimerKind] = "page_dormant"


class Dormancy:
    """`machines` is None if this server has no sandboxes."""

    def __init__(self, db: Database, live: LiveTrees, after_s: float, machines: SandboxManager | None) -> None:
        self._db, self._live, self._machines = db, live, machines
        self._after = timedelta(seconds=after_s)

    async def rest(self, page_id: str) -> None:
        """Free the page's memory if it has not been used for the time in the settings; else set the timer again. A page
        with a run is left unchanged: the run's end sets the timer. Repeatable. Raises `NotFound`."""
        workspace_id = await self._db.write(self._due, page_id)
        if workspace_id is not None:
            self._live.forget(page_id)
            if self._machines is not None:
                await self._machines.end_sessions(workspace_id)

    def _due(self, tx: Tx, page_id: str) -> str | None:
        page = page_of(tx, page_id)
        if tx.value(threads.c.active_run_id, {"id": page.thread_id}) is not None:
            return None
        due_at = page.active_at + self._after
        if due_at > tx.now:
            timers.set_timer(tx, KIND, page_id, due_at)
            return None
        return str(page.workspace_id)
