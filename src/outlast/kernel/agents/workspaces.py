"""The place where a run works: its workspace (its thread's, or its screen's, which the thread names) and the sandbox
for it."""

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import NamedTuple, TypeVar

import sqlalchemy as sa

from outlast.base.errors import NotFound, SandboxUnavailable
from outlast.base.ids import new_id
from outlast.base.records import dataclass
from outlast.db.blobs.port import Blobs
from outlast.db.database import Database, Tx
from outlast.kernel.agents.context import Context, EffectContext
from outlast.kernel.agents.uploads import place_uploads
from outlast.kernel.attachments.store import unplaced
from outlast.kernel.runs.tables import effects, runs
from outlast.kernel.runs.transcript import Run
from outlast.kernel.sandboxes.manager import SandboxManager
from outlast.kernel.sandboxes.tables import sandboxes, workspaces
from outlast.kernel.threads.tables import threads
from outlast_sandbox.interface import Sandbox

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class OpenWorkspace:
    workspace_id: str
    sandbox: Sandbox


class Workspaces:
    """Opens the workspace of a run. `source` is None where the configuration offers no sandboxes; `blobs` has the files
    of messages, which are written into it (None: they are not). `placeholders` returns those of the secrets in a
    sandbox, by its id (None: its provider keeps them to itself)."""

    def __init__(
        self,
        db: Database,
        source: SandboxManager | None,
        blobs: Blobs | None = None,
        placeholders: Callable[[str], Awaitable[Mapping[str, str]]] | None = None,
    ) -> None:
        self._db, self._source, self._blobs, self.placeholders = db, source, blobs, placeholders

    @property
    def are_offered(self) -> bool:
        """Whether this server has sandboxes."""
        return self._source is not None

    async def open(self, context: EffectContext) -> OpenWorkspace:
        """The run's sandbox, started now if there is none, with the files of the thread's messages; the run gets a note
        if its processes ended with an earlier sandbox, also one of another server, which it takes over. Raises
        `SandboxUnavailable` with the reason and the fix."""
        run = context.this_run
        if self._source is None:
            raise SandboxUnavailable(
                "This server has no sandboxes configured, so the agent cannot run code or write files.",
                hint="Configure [sandbox] provider, or send a message that needs no tools.",
            )
        workspace_id = run.workspace_id
        if workspace_id is None:
            workspace_id = await self._db.write(workspace_of_run, run)
        sandbox = await self._source.ensure(workspace_id, run.project_id, take_over=True)
        replaced, files = await self._db.read(
            lambda tx: (_lost_during(tx, run, workspace_id), unplaced(tx, run.thread_id, sandbox.sandbox_id))
        )
        if replaced is not None:
            await context.lost(workspace_id, replaced)
        if files and self._blobs is not None:
            await place_uploads(self._db, self._blobs, sandbox, run.thread_id, files)
        return OpenWorkspace(workspace_id, sandbox)

    async def attach_or_start(
        self, workspace: OpenWorkspace, context: Context, call: Callable[[bool], Awaitable[T]]
    ) -> T | None:
        """`call(attach_only)`: begin an effect, or on a later attempt attach to the effect of an earlier one. Returns
        None if the effect may have begun in another sandbox that is gone, so it must not begin again."""
        return await self.attach_or_begin(workspace, context.started_at if context.reattach else None, call)

    async def attach_or_begin(
        self, workspace: OpenWorkspace, since: datetime | None, call: Callable[[bool], Awaitable[T]]
    ) -> T | None:
        """As `attach_or_start`, for work that may have begun at that time (None: it has not)."""
        if since is None:
            return await call(False)
        try:
            return await call(True)
        except NotFound:
            if await self._db.read(_lived_elsewhere, workspace, since):
                return None
            return await call(False)

    def own_command(self, context: EffectContext) -> None:
        """The effect runs a command under its id: it is killed when a user cancels, and its output released once the
        result is recorded."""

        async def kill() -> None:
            await (await self.open(context)).sandbox.kill_command(context.effect_id)

        async def acknowledge() -> None:
            await (await self.open(context)).sandbox.acknowledge(context.effect_id)

        context.on_cancel(kill)
        context.on_recorded(acknowledge)


def workspace_of_run(tx: Tx, run: Run) -> str:
    """The id of the workspace of the run's thread, created at its first use and noted in the run."""
    tx.execute(sa.select(runs.c.id).where(runs.c.id == run.id).with_for_update())  # before its thread
    workspace_id = workspace_of_thread(tx, run.project_id, run.thread_id)
    tx.update(runs, {"id": run.id}, workspace_id=workspace_id)
    return workspace_id


class _HeldThread(NamedTuple):
    id: str
    workspace_id: str | None


def workspace_of_thread(tx: Tx, project_id: str, thread_id: str) -> str:
    """The id of the thread's workspace, created at its first use. Raises `NotFound` for a deleted thread."""
    # Parallel calls of one step meet here: the second waits until the first has created it.
    held = sa.select(threads.c.id, threads.c.workspace_id).where(threads.c.id == thread_id).with_for_update()
    thread = tx.row(_HeldThread, held)
    if thread is None:
        raise NotFound("This thread was deleted.", id=thread_id)
    if thread.workspace_id is not None:
        return str(thread.workspace_id)
    workspace_id = find_workspace(tx, thread_id)
    if workspace_id is None:
        workspace_id = new_id("workspace")
        row = {"id": workspace_id, "project_id": project_id, "owner_type": "thread", "owner_id": thread_id}
        tx.insert(workspaces, **row, created_at=tx.now, last_used_at=tx.now)
    tx.update(threads, {"id": thread_id}, workspace_id=workspace_id)
    return workspace_id


def find_workspace(tx: Tx, thread_id: str) -> str | None:
    """The id of the thread's workspace, or None if it has none yet."""
    found: str | None = tx.value(workspaces.c.id, {"owner_type": "thread", "owner_id": thread_id})
    return found


def _lost_during(tx: Tx, run: Run, workspace_id: str) -> str | None:
    """The sandbox of the workspace whose processes ended last, if that came after the run's last call there (lost,
    removed, or stopped and started again) or was found during the run (lost). None if the run's processes still
    exist."""
    last = sa.select(sa.func.max(effects.c.ended_at)).where(effects.c.run_id == run.id, effects.c.kind == "tool")
    called_at = tx.execute(last).scalar()
    ended = sa.func.coalesce(sandboxes.c.ended_at, sandboxes.c.restarted_at)
    since = ended >= called_at if called_at else (sandboxes.c.state == "lost") & (ended >= run.created_at)
    lost = sa.select(sandboxes.c.id).where(
        sandboxes.c.workspace_id == workspace_id,
        sandboxes.c.ref != "",  # it was ready once: nothing is lost with a sandbox that never was
        since,
    )
    sandbox_id: str | None = tx.execute(lost.order_by(ended.desc()).limit(1)).scalar()
    return sandbox_id


def _lived_elsewhere(tx: Tx, workspace: OpenWorkspace, since: datetime) -> bool:
    """True if another sandbox of the workspace was ready at some time since then. A sandbox without a ref never was:
    nothing can have begun in it."""
    alive = sa.or_(sandboxes.c.ended_at.is_(None), sandboxes.c.ended_at >= since)
    others = sa.select(sandboxes.c.id).where(
        sandboxes.c.workspace_id == workspace.workspace_id,
        sandboxes.c.id != workspace.sandbox.sandbox_id,
        sandboxes.c.ref != "",
        alive,
    )
    return tx.execute(others.limit(1)).scalar() is not None
