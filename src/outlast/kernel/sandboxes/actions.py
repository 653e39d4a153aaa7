"""Sandboxes: see them, put them to sleep, wake and end them, read the files in them."""

from contextlib import suppress
from dataclasses import replace

import sqlalchemy as sa

from outlast.base.errors import OutlastError, SandboxLost, SandboxUnavailable
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.projects.permissions import require_sandbox
from outlast.kernel.projects.rules import Right
from outlast.kernel.runs import parked as parking
from outlast.kernel.runs import store as run_rows
from outlast.kernel.runs.tables import runs
from outlast.kernel.sandboxes import store
from outlast.kernel.sandboxes.checkpoints.actions import MAX_FILE_BYTES, MAX_FILES, list_asleep, read_asleep, shown_name
from outlast.kernel.sandboxes.hosted import running_workspaces
from outlast.kernel.sandboxes.idle_policy import step_down
from outlast.kernel.sandboxes.manager import SandboxManager
from outlast.kernel.sandboxes.orphans import collect
from outlast.kernel.sandboxes.rules import State
from outlast.kernel.sandboxes.shapes import SandboxAnswer
from outlast.kernel.sandboxes.views import read_sandbox
from outlast.kernel.services import Services
from outlast_sandbox.interface import FileEntry, Sandbox


async def pause_sandbox(services: Services, actor: Actor, sandbox_id: str) -> SandboxAnswer:
    """Freeze it with its memory (editors); a run that waits for a person there is paused with it. Repeating is
    harmless, and so is pausing one that has ended."""
    sandbox = await services.db.read(require_sandbox, actor, sandbox_id, Right.EDIT)
    if sandbox.ended_at is None:
        await machines_of(services).freeze(sandbox.workspace_id)
        await services.db.write(_pause_run, services, sandbox.workspace_id)
    return await read_sandbox(services, actor, sandbox_id)


async def resume_sandbox(services: Services, actor: Actor, sandbox_id: str) -> SandboxAnswer:
    """Wake the sandbox of its workspace, a new one over the same files where this one has ended (editors); a run that
    was paused with it waits again."""
    sandbox = await services.db.read(require_sandbox, actor, sandbox_id, Right.EDIT)
    awake = await machines_of(services).ensure(sandbox.workspace_id, sandbox.project_id)
    await services.db.write(_wake_run, services, sandbox.workspace_id)
    return await read_sandbox(services, actor, awake.sandbox_id)


async def kill_sandbox(services: Services, actor: Actor, sandbox_id: str) -> SandboxAnswer:
    """End it with all its processes; the files stay (editors). Repeating is harmless."""
    sandbox = await services.db.read(require_sandbox, actor, sandbox_id, Right.EDIT)
    if sandbox.ended_at is None:
        await machines_of(services).kill(sandbox.workspace_id)
    return await read_sandbox(services, actor, sandbox_id)


async def list_files(services: Services, actor: Actor, sandbox_id: str, path: str = "") -> list[FileEntry]:
    """Files and folders of the workspace below `path`, at most 5,000. A sleeping sandbox is listed from its checkpoint,
    and woken only if it has none. A name that is not UTF-8 is shown as far as it is, and cannot be asked for. Raises
    `PathRefused`, `NotFound`."""
    sandbox = await services.db.read(require_sandbox, actor, sandbox_id, Right.READ)
    kept = await list_asleep(services, sandbox.workspace_id, path)
    if kept is not None:
        return kept
    awake = await machines_of(services).ensure(sandbox.workspace_id, sandbox.project_id)
    found = await awake.list_files(path, MAX_FILES)
    return [replace(entry, path=shown_name(entry.path)) for entry in found]


async def read_file(services: Services, actor: Actor, sandbox_id: str, path: str) -> bytes:
    """A file's first 5 MB; as `list_files`. Raises `NotFound`, `PathRefused`."""
    sandbox = await services.db.read(require_sandbox, actor, sandbox_id, Right.READ)
    kept = await read_asleep(services, sandbox.workspace_id, path)
    if kept is not None:
        return kept
    awake = await machines_of(services).ensure(sandbox.workspace_id, sandbox.project_id)
    return await awake.read_file(path, MAX_FILE_BYTES)


async def end_given_up(services: Services) -> None:
    """End the sandboxes of what was just deleted. One that cannot be ended now is ended later."""
    if services.sandboxes.manager is not None:
        with suppress(OutlastError):  # noted in the tables, and tried again every few minutes
            await collect(services.sandboxes.manager)


async def pause_idle(services: Services) -> None:
    """Freeze, stop or end the sandboxes that have been idle for as long as the settings say, and remove what deleted
    threads have left; for the server itself."""
    if services.sandboxes.manager is not None:
        await collect(services.sandboxes.manager)
        await step_down(services.sandboxes.manager, await services.db.read(_busy_workspaces))


async def awake_sandbox(services: Services, workspace_id: str) -> Sandbox | None:
    """The workspace's sandbox if it is awake at this moment; it is not woken for this."""
    row = await services.db.read(store.newest, workspace_id)
    if services.sandboxes.manager is None or row is None or row.life.state is not State.READY:
        return None
    try:
        return await services.sandboxes.manager.find(workspace_id)
    except SandboxLost:
        return None


def machines_of(services: Services) -> SandboxManager:
    """Raises `SandboxUnavailable` where the configuration offers no sandboxes."""
    if services.sandboxes.manager is None:
        raise SandboxUnavailable(
            "This server has no sandboxes configured.", hint='Set provider = "local" in the section [sandbox].'
        )
    return services.sandboxes.manager


def _pause_run(tx: Tx, services: Services, workspace_id: str) -> None:
    for run_id in _waiting_runs(tx, workspace_id):
        parking.pause(tx, services.settings, run_id)


def _wake_run(tx: Tx, services: Services, workspace_id: str) -> None:
    for run_id in _waiting_runs(tx, workspace_id):
        run = run_rows.hold_run(tx, run_id)
        if run.status == "paused":
            parking.wake(tx, services.settings, run)


def _waiting_runs(tx: Tx, workspace_id: str) -> list[str]:
    waiting = sa.select(runs.c.id).where(runs.c.workspace_id == workspace_id, runs.c.leg == "parked")
    return list(tx.execute(waiting).scalars())


def _busy_workspaces(tx: Tx) -> set[str]:
    """Where a run works or will continue at once, and where a program's sandbox runs; runs that wait for a person do
    not keep a sandbox awake."""
    working = sa.select(runs.c.workspace_id).where(runs.c.leg.in_(("ready", "held")), runs.c.workspace_id.is_not(None))
    return set(tx.execute(working).scalars()) | running_workspaces(tx)
