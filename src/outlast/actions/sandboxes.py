"""Sandboxes: see them, put them to sleep, wake and end them, read the files in them."""

from dataclasses import dataclass
from typing import Final

import sqlalchemy as sa

from outlast.actions.services import Services
from outlast.base.clock import iso
from outlast.base.errors import SandboxLost, SandboxUnavailable
from outlast.core.accounts.actor import Actor
from outlast.core.projects.permissions import require, require_sandbox
from outlast.core.projects.rules import Right
from outlast.core.sandboxes.interface import FileEntry, SandboxStatistics
from outlast.core.sandboxes.ladder import step_down
from outlast.core.sandboxes.manager import SandboxManager
from outlast.core.sandboxes.orphans import collect
from outlast.db.database import Tx
from outlast.db.tables import runs, sandboxes, workspaces

MAX_FILE_BYTES: Final = 5_000_000
MAX_FILES: Final = 5_000


@dataclass(frozen=True, slots=True)
class SandboxView:
    """A sandbox as its project sees it. Memory, processes and CPU are measured now, and None while it is not awake."""

    id: str
    workspace_id: str
    project_id: str
    thread_id: str | None
    provider: str
    state: str
    pause_kind: str | None
    memory_bytes: int | None
    processes: int | None
    cpu_s: float | None
    created_at: str
    last_used_at: str
    ended_at: str | None


async def list_sandboxes(services: Services, actor: Actor, project_id: str) -> list[SandboxView]:
    """The project's living sandboxes, newest first."""

    def run(tx: Tx) -> list[sa.RowMapping]:
        require(tx, actor, project_id, Right.READ)
        alive = _rows().where(sandboxes.c.project_id == project_id, sandboxes.c.ended_at.is_(None))
        return tx.all(alive.order_by(sandboxes.c.created_at.desc()))

    return [_view(row, None) for row in await services.db.read(run)]


async def read_sandbox(services: Services, actor: Actor, sandbox_id: str) -> SandboxView:
    """One sandbox, measured if it is awake."""
    row = await services.db.read(_require, actor, sandbox_id, Right.READ)
    measured: SandboxStatistics | None = None
    if row["state"] == "ready" and services.machines is not None:
        try:
            sandbox = await services.machines.find(row["workspace_id"])
            measured = await sandbox.statistics() if sandbox is not None else None
        except SandboxLost:
            row = await services.db.read(_require, actor, sandbox_id, Right.READ)
    return _view(row, measured)


async def pause_sandbox(services: Services, actor: Actor, sandbox_id: str) -> SandboxView:
    """Freeze it with its memory (editors). Repeating is harmless."""
    row = await services.db.read(_require, actor, sandbox_id, Right.EDIT)
    await _machines(services).freeze(row["workspace_id"])
    return await read_sandbox(services, actor, sandbox_id)


async def resume_sandbox(services: Services, actor: Actor, sandbox_id: str) -> SandboxView:
    """Wake the sandbox of its workspace, a new one over the same files where this one has ended (editors)."""
    row = await services.db.read(_require, actor, sandbox_id, Right.EDIT)
    sandbox = await _machines(services).ensure(row["workspace_id"], row["project_id"])
    return await read_sandbox(services, actor, sandbox.sandbox_id)


async def kill_sandbox(services: Services, actor: Actor, sandbox_id: str) -> SandboxView:
    """End it with all its processes; the files stay (editors). Repeating is harmless."""
    row = await services.db.read(_require, actor, sandbox_id, Right.EDIT)
    await _machines(services).kill(row["workspace_id"])
    return await read_sandbox(services, actor, sandbox_id)


async def list_files(services: Services, actor: Actor, sandbox_id: str, path: str = "") -> list[FileEntry]:
    """Files and folders of the workspace below `path`, at most 5,000. Wakes the sandbox. Raises `PathRefused`."""
    row = await services.db.read(_require, actor, sandbox_id, Right.READ)
    sandbox = await _machines(services).ensure(row["workspace_id"], row["project_id"])
    return await sandbox.list_files(path, MAX_FILES)


async def read_file(services: Services, actor: Actor, sandbox_id: str, path: str) -> bytes:
    """A file's first 5 MB. Wakes the sandbox. Raises `NotFound`, `PathRefused`."""
    row = await services.db.read(_require, actor, sandbox_id, Right.READ)
    sandbox = await _machines(services).ensure(row["workspace_id"], row["project_id"])
    return await sandbox.read_file(path, MAX_FILE_BYTES)


async def pause_idle(services: Services) -> None:
    """Freeze, stop or end the sandboxes that have been idle for as long as the settings say, and remove what deleted
    threads have left; for the server itself."""
    if services.machines is not None:
        await collect(services.machines)
        await step_down(services.machines, await services.db.read(_busy_workspaces))


def _machines(services: Services) -> SandboxManager:
    if services.machines is None:
        raise SandboxUnavailable(
            "This server has no sandboxes configured.",
            hint='Set provider = "local" in the section [sandbox].',
        )
    return services.machines


def _require(tx: Tx, actor: Actor, sandbox_id: str, right: Right) -> sa.RowMapping:
    require_sandbox(tx, actor, sandbox_id, right)
    row = tx.one(_rows().where(sandboxes.c.id == sandbox_id))
    assert row is not None
    return row


def _rows() -> sa.Select[tuple[object, ...]]:
    owner = sa.case((workspaces.c.owner_type == "thread", workspaces.c.owner_id)).label("thread_id")
    return sa.select(sandboxes, owner).join(workspaces, workspaces.c.id == sandboxes.c.workspace_id)


def _busy_workspaces(tx: Tx) -> set[str]:
    """Where a run works or will go on at once; runs that wait for a person do not keep a sandbox awake."""
    working = sa.select(runs.c.workspace_id).where(
        runs.c.leg.in_(("ready", "held")), runs.c.workspace_id.is_not(None)
    )
    return set(tx.execute(working).scalars())


def _view(row: sa.RowMapping, measured: SandboxStatistics | None) -> SandboxView:
    return SandboxView(
        id=row["id"],
        workspace_id=row["workspace_id"],
        project_id=row["project_id"],
        thread_id=row["thread_id"],
        provider=row["provider"],
        state=row["state"],
        pause_kind=row["pause_kind"],
        memory_bytes=measured.memory_bytes if measured else None,
        processes=measured.processes if measured else None,
        cpu_s=measured.cpu_s if measured else None,
        created_at=iso(row["created_at"]),
        last_used_at=iso(row["last_used_at"]),
        ended_at=iso(row["ended_at"]) if row["ended_at"] else None,
    )
