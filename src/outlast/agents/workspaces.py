"""Where a run works: its workspace (the thread's, until screens and pages have their own) and the sandbox that runs
it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeVar

import sqlalchemy as sa

from outlast.base.errors import NotFound, SandboxUnavailable
from outlast.base.ids import new_id
from outlast.core.runs.model import Run
from outlast.core.runs.profile import ToolContext
from outlast.core.sandboxes.interface import Sandbox
from outlast.db.database import Database, Tx
from outlast.db.tables import runs, sandboxes, threads, workspaces

T = TypeVar("T")


class SandboxSource(Protocol):
    """What the sandboxes room offers here: a living sandbox over a workspace, made or brought back as needed."""

    async def ensure(self, workspace_id: str, project_id: str) -> Sandbox: ...


@dataclass(frozen=True, slots=True)
class OpenWorkspace:
    workspace_id: str
    sandbox: Sandbox


class Workspaces:
    """Opens the workspace of a run. `source` is None where the configuration offers no sandboxes."""

    def __init__(self, db: Database, source: SandboxSource | None) -> None:
        self._db, self._source = db, source

    async def open(self, context: ToolContext) -> OpenWorkspace:
        """The run's sandbox, made now if there is none; a run whose sandbox was lost and replaced meanwhile is told.
        Raises `SandboxUnavailable` with the reason and the fix."""
        run = context.run
        if self._source is None:
            raise SandboxUnavailable(
                "This server has no sandboxes configured, so nothing can be run or written.",
                hint="Configure [sandbox] provider, or ask without tools.",
            )
        workspace_id = run.workspace_id or await self._workspace_of(run)
        sandbox = await self._source.ensure(workspace_id, run.project_id)
        replaced = await self._db.read(_lost_during, workspace_id, run.created_at)
        if replaced is not None:
            await context.lost(workspace_id, replaced)
        return OpenWorkspace(workspace_id, sandbox)

    async def attach_or_start(
        self, workspace: OpenWorkspace, context: ToolContext, call: Callable[[bool], Awaitable[T]]
    ) -> T | None:
        """`call(attach_only)`: begin an effect, or on a later attempt attach to what an earlier one began. None: it
        may have begun in another sandbox that is gone, so it must not begin again (semantics: interrupted)."""
        if not context.reattach:
            return await call(False)
        try:
            return await call(True)
        except NotFound:
            since = context.started_at
            if await self._db.read(_lived_elsewhere, workspace, since):
                return None
            return await call(False)

    async def _workspace_of(self, run: Run) -> str:
        return await self._db.write(workspace_of_thread, run)


def find_workspace(tx: Tx, run: Run) -> str | None:
    """The id of the workspace that the run's thread has; None: none yet."""
    found: str | None = tx.execute(
        sa.select(workspaces.c.id).where(
            workspaces.c.owner_type == "thread", workspaces.c.owner_id == run.thread_id
        )
    ).scalar()
    return found


def workspace_of_thread(tx: Tx, run: Run) -> str:
    """The id of the thread's workspace, made at its first use; the run is told."""
    # The calls of one step come here side by side: the second waits until the first has made it.
    tx.execute(sa.select(runs.c.id).where(runs.c.id == run.id).with_for_update())
    workspace_id = find_workspace(tx, run)
    if workspace_id is None:
        workspace_id = new_id("workspace")
        row = {
            "id": workspace_id,
            "project_id": run.project_id,
            "owner_type": "thread",
            "owner_id": run.thread_id,
        }
        tx.execute(sa.insert(workspaces).values(**row, created_at=tx.now, last_used_at=tx.now))
        tx.execute(sa.update(threads).where(threads.c.id == run.thread_id).values(workspace_id=workspace_id))
    tx.execute(sa.update(runs).where(runs.c.id == run.id).values(workspace_id=workspace_id))
    return workspace_id


def _lost_during(tx: Tx, workspace_id: str, since: datetime) -> str | None:
    """The sandbox of the workspace that was lost last, if that was found since then."""
    lost = sa.select(sandboxes.c.id).where(
        sandboxes.c.workspace_id == workspace_id,
        sandboxes.c.state == "lost",
        sandboxes.c.ref != "",  # it had been ready: nothing is lost with one that never was
        sandboxes.c.ended_at >= since,
    )
    sandbox_id: str | None = tx.execute(lost.order_by(sandboxes.c.ended_at.desc()).limit(1)).scalar()
    return sandbox_id


def _lived_elsewhere(tx: Tx, workspace: OpenWorkspace, since: datetime) -> bool:
    """Whether another sandbox of the workspace was ready at some time since then. One that never got a ref was not:
    nothing can have begun in it."""
    alive = sa.or_(sandboxes.c.ended_at.is_(None), sandboxes.c.ended_at >= since)
    others = sa.select(sandboxes.c.id).where(
        sandboxes.c.workspace_id == workspace.workspace_id,
        sandboxes.c.id != workspace.sandbox.sandbox_id,
        sandboxes.c.ref != "",
        alive,
    )
    return tx.execute(others.limit(1)).scalar() is not None
