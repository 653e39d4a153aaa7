"""Sandboxes: list them with their usage and processes, pause, wake and end them, read their files."""

from contextlib import suppress
from dataclasses import asdict, replace
from typing import Any, Final, NamedTuple

import anyio
import sqlalchemy as sa

from outlast.base.clock import iso
from outlast.base.errors import OutlastError, SandboxLost, SandboxUnavailable
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.accounts.tables import users
from outlast.kernel.projects.permissions import require, require_sandbox
from outlast.kernel.projects.rules import Right
from outlast.kernel.runs import parked as parking
from outlast.kernel.runs import store as run_rows
from outlast.kernel.runs.tables import runs
from outlast.kernel.sandboxes import store
from outlast.kernel.sandboxes.checkpoints.actions import list_asleep, read_asleep
from outlast.kernel.sandboxes.checkpoints.contents import MAX_FILE_BYTES, MAX_FILES, shown_name
from outlast.kernel.sandboxes.clocks import clocks_of
from outlast.kernel.sandboxes.hosted import running_workspaces
from outlast.kernel.sandboxes.idle_policy import step_down
from outlast.kernel.sandboxes.manager import SandboxManager
from outlast.kernel.sandboxes.orphans import collect
from outlast.kernel.sandboxes.rules import State, is_alive
from outlast.kernel.sandboxes.services.store import states_of
from outlast.kernel.sandboxes.settings import NO_SANDBOXES_HINT
from outlast.kernel.sandboxes.shapes import SandboxAnswer, SandboxLimitsAnswer
from outlast.kernel.sandboxes.sizes import limits_of
from outlast.kernel.sandboxes.store import SandboxRecord
from outlast.kernel.sandboxes.tables import hosted_sandboxes, sandboxes, workspaces
from outlast.kernel.services import Services
from outlast.kernel.subjects import registry as subjects
from outlast.kernel.threads.tables import threads
from outlast_sandbox.interface import FileEntry, Sandbox

MEASURED_AT_A_TIME: Final = 8  # each call asks a machine and walks a folder
MAX_LISTED: Final = 200


class ShownSandbox(NamedTuple):
    sandbox: SandboxRecord
    owner_type: str
    template: str | None
    thread_id: str | None
    thread_title: str | None
    user_id: str | None
    user_name: str | None
    active_run_id: str | None


async def list_sandboxes(services: Services, actor: Actor, project_id: str) -> list[SandboxAnswer]:
    """The project's living sandboxes, newest first, at most 200; a few at a time are measured."""

    def run(tx: Tx) -> list[tuple[ShownSandbox, SandboxAnswer]]:
        require(tx, actor, project_id, Right.READ)
        alive = _rows().where(sandboxes.c.project_id == project_id, sandboxes.c.ended_at.is_(None))
        newest_first = alive.order_by(sandboxes.c.created_at.desc(), sandboxes.c.id.desc()).limit(MAX_LISTED)
        return [(row, _describe(tx, services, row)) for row in tx.rows(ShownSandbox, newest_first)]

    found = await services.db.read(run)
    measured: dict[str, SandboxAnswer] = {}
    limiter = anyio.CapacityLimiter(MEASURED_AT_A_TIME)

    async def measure(row: ShownSandbox, recorded: SandboxAnswer) -> None:
        async with limiter:
            measured[recorded.id] = await _measure(services, row, recorded)

    async with anyio.create_task_group() as tasks:
        for row, recorded in found:
            tasks.start_soon(measure, row, recorded)
    return [measured[recorded.id] for _, recorded in found]


async def read_sandbox(services: Services, actor: Actor, sandbox_id: str) -> SandboxAnswer:
    """One sandbox with its usage; it is not woken for that."""

    def run(tx: Tx) -> tuple[ShownSandbox, SandboxAnswer]:
        require_sandbox(tx, actor, sandbox_id, Right.READ)
        row = tx.row(ShownSandbox, _rows().where(sandboxes.c.id == sandbox_id))
        assert row is not None
        return row, _describe(tx, services, row)

    return await _measure(services, *await services.db.read(run))


async def pause_sandbox(services: Services, actor: Actor, sandbox_id: str) -> SandboxAnswer:
    """Freeze it with its memory (editors); a run that waits for a user there is paused with it. Repeating is harmless,
    and so is pausing an ended one."""
    sandbox = await services.db.read(require_sandbox, actor, sandbox_id, Right.EDIT)
    if sandbox.ended_at is None:
        await machines_of(services).freeze(sandbox.workspace_id)
        # After the freeze, which may fail: then the run is left unchanged.
        await services.db.write(_pause_run, services, sandbox.workspace_id)
    return await read_sandbox(services, actor, sandbox_id)


async def resume_sandbox(services: Services, actor: Actor, sandbox_id: str) -> SandboxAnswer:
    """Wake the sandbox of its workspace, or start a new one over the same files if this one has ended (editors); a run
    that was paused with it waits again."""
    sandbox = await services.db.read(require_sandbox, actor, sandbox_id, Right.EDIT)
    awake = await machines_of(services).ensure(sandbox.workspace_id, sandbox.project_id)
    await services.db.write(_wake_run, services, sandbox.workspace_id)  # last: a run that waits again has its sandbox
    return await read_sandbox(services, actor, awake.sandbox_id)


async def kill_sandbox(services: Services, actor: Actor, sandbox_id: str) -> SandboxAnswer:
    """End it with all its processes; the files stay (editors). Repeating is harmless."""
    sandbox = await services.db.read(require_sandbox, actor, sandbox_id, Right.EDIT)
    if sandbox.ended_at is None:
        await machines_of(services).kill(sandbox.workspace_id)
    return await read_sandbox(services, actor, sandbox_id)


async def list_files(services: Services, actor: Actor, sandbox_id: str, path: str = "") -> list[FileEntry]:
    """Files and folders of the workspace below `path`, at most 5,000. A sleeping sandbox is listed from its checkpoint,
    and woken only if it has none. A name that is not UTF-8 is shown as far as possible, and cannot be read. Raises
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
    """End the sandboxes of deleted objects. One that cannot be ended now is ended later."""
    if services.sandboxes.manager is not None:
        with suppress(OutlastError):  # noted in the tables, and retried every few minutes
            await collect(services.sandboxes.manager)


async def pause_idle(services: Services) -> None:
    """Freeze, stop or end the sandboxes that have been idle for as long as the settings allow, and remove leftovers of
    deleted threads; for the server itself."""
    if services.sandboxes.manager is not None:
        await collect(services.sandboxes.manager)
        await step_down(services.sandboxes.manager, await services.db.read(_busy_workspaces))


async def awake_sandbox(services: Services, workspace_id: str) -> Sandbox | None:
    """The workspace's sandbox if it is awake at this moment; it is not woken for this."""
    row = await services.db.read(store.newest, workspace_id)
    if services.sandboxes.manager is None or row is None or row.life.state is not State.READY:  # `find` would wake it
        return None
    try:
        return await services.sandboxes.manager.find(workspace_id)
    except SandboxLost:
        return None


def machines_of(services: Services) -> SandboxManager:
    """Raises `SandboxUnavailable` if the configuration offers no sandboxes."""
    if services.sandboxes.manager is None:
        raise SandboxUnavailable("This server has no sandboxes configured.", hint=NO_SANDBOXES_HINT)
    return services.sandboxes.manager


def _pause_run(tx: Tx, services: Services, workspace_id: str) -> None:
    for run_id in _waiting_runs(tx, workspace_id):
        parking.pause(tx, services.settings, run_id)


def _wake_run(tx: Tx, services: Services, workspace_id: str) -> None:
    for run_id in _waiting_runs(tx, workspace_id):
        run = run_rows.hold_run(tx, run_id)
        if run.status == "paused":  # read with its row held: it may have ended meanwhile
            parking.wake(tx, services.settings, run)


def _waiting_runs(tx: Tx, workspace_id: str) -> list[str]:
    waiting = sa.select(runs.c.id).where(runs.c.workspace_id == workspace_id, runs.c.leg == "parked")
    return list(tx.execute(waiting).scalars())


def _busy_workspaces(tx: Tx) -> set[str]:
    """Workspaces where a run works or will continue at once, or with a program's running sandbox; runs that wait for a
    user do not keep a sandbox awake."""
    working = sa.select(runs.c.workspace_id).where(runs.c.leg.in_(("ready", "held")), runs.c.workspace_id.is_not(None))
    return set(tx.execute(working).scalars()) | running_workspaces(tx)


def _describe(tx: Tx, services: Services, row: ShownSandbox) -> SandboxAnswer:
    """The recorded state of a sandbox, without its usage."""
    sandbox, settings, machines = row.sandbox, services.settings.sandbox, services.sandboxes.manager
    columns = {**sandbox._asdict(), **row._asdict()}
    same = {name: value for name, value in columns.items() if name in SandboxAnswer.model_fields}
    bounds = settings and limits_of(settings, machines.lives.template(row.template) if machines is not None else None)
    limits = bounds and SandboxLimitsAnswer(
        memory_bytes=bounds.memory_bytes,
        disk_bytes=bounds.disk_bytes,
        processes=bounds.processes,
        cpus=bounds.cpu_count,
    )
    alive = is_alive(sandbox.life.state)
    return SandboxAnswer(
        **{
            **same,
            **dict.fromkeys(("memory_bytes", "processes", "cpu_s", "disk_bytes")),
            "limits": limits,
            "services": states_of(tx, sandbox.workspace_id),
            "clocks": clocks_of(tx, settings, sandbox) if alive and settings is not None else [],
            "created_at": iso(sandbox.created_at),
            "last_used_at": iso(sandbox.last_used_at),
            "ended_at": iso(sandbox.ended_at) if sandbox.ended_at else None,
        }
    )


async def _measure(services: Services, row: ShownSandbox, recorded: SandboxAnswer) -> SandboxAnswer:
    """The same with the sandbox's current usage, if it lives; it is not woken for that."""
    machines = services.sandboxes.manager
    if machines is None or not is_alive(row.sandbox.life.state):
        return recorded
    disk = await machines.disk.of(machines.workspace_dir(recorded.workspace_id), machines.layers_of(row.template))
    used = await machines.measure(recorded.workspace_id)
    return recorded.model_copy(update={"disk_bytes": disk, **(asdict(used) if used is not None else {})})


def _rows() -> sa.Select[Any]:
    """Sandboxes with their owner: the thread and its creator, or the user who requested it through the API."""
    is_thread = sa.or_(
        (workspaces.c.owner_type == "thread") & (workspaces.c.owner_id == threads.c.id),
        workspaces.c.owner_type.in_(subjects.owners_of_files()) & (workspaces.c.id == threads.c.workspace_id),
    )
    user_id = sa.func.coalesce(threads.c.created_by, hosted_sandboxes.c.user_id)
    works = sa.select(runs.c.id).where(
        runs.c.workspace_id == sandboxes.c.workspace_id, runs.c.leg.in_(("ready", "held", "parked"))
    )
    return (
        sa.select(
            sandboxes,
            workspaces.c.owner_type,
            workspaces.c.template,
            threads.c.id.label("thread_id"),
            threads.c.title.label("thread_title"),
            user_id.label("user_id"),
            users.c.name.label("user_name"),
            works.limit(1).scalar_subquery().label("active_run_id"),
        )
        .join(workspaces, workspaces.c.id == sandboxes.c.workspace_id)
        .outerjoin(threads, is_thread)
        .outerjoin(hosted_sandboxes, hosted_sandboxes.c.workspace_id == workspaces.c.id)
        .outerjoin(users, users.c.id == user_id)
    )
