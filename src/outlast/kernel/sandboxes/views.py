"""Sandboxes as their project sees them: state, owner, what they use, what runs in them, what time will take away."""

from dataclasses import asdict
from typing import Any, Final, NamedTuple

import anyio
import sqlalchemy as sa

from outlast.base.clock import iso
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.accounts.tables import users
from outlast.kernel.projects.permissions import require, require_sandbox
from outlast.kernel.projects.rules import Right
from outlast.kernel.runs.tables import runs
from outlast.kernel.sandboxes.clocks import clocks_of
from outlast.kernel.sandboxes.rules import is_alive
from outlast.kernel.sandboxes.services.store import states_of
from outlast.kernel.sandboxes.shapes import SandboxAnswer, SandboxLimitsAnswer
from outlast.kernel.sandboxes.sizes import limits_of
from outlast.kernel.sandboxes.store import SandboxRecord
from outlast.kernel.sandboxes.tables import hosted_sandboxes, sandboxes, workspaces
from outlast.kernel.services import Services
from outlast.kernel.subjects import registry as subjects
from outlast.kernel.threads.tables import threads

MEASURED_AT_A_TIME: Final = 8
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
        return [(row, _recorded(tx, services, row)) for row in tx.rows(ShownSandbox, newest_first)]

    found = await services.db.read(run)
    measured: dict[str, SandboxAnswer] = {}
    limiter = anyio.CapacityLimiter(MEASURED_AT_A_TIME)

    async def measure(row: ShownSandbox, recorded: SandboxAnswer) -> None:
        async with limiter:
            measured[recorded.id] = await _measured(services, row, recorded)

    async with anyio.create_task_group() as tasks:
        for row, recorded in found:
            tasks.start_soon(measure, row, recorded)
    return [measured[recorded.id] for _, recorded in found]


async def read_sandbox(services: Services, actor: Actor, sandbox_id: str) -> SandboxAnswer:
    """One sandbox, measured; it is not woken for that."""

    def run(tx: Tx) -> tuple[ShownSandbox, SandboxAnswer]:
        require_sandbox(tx, actor, sandbox_id, Right.READ)
        row = tx.row(ShownSandbox, _rows().where(sandboxes.c.id == sandbox_id))
        assert row is not None
        return row, _recorded(tx, services, row)

    return await _measured(services, *await services.db.read(run))


def _recorded(tx: Tx, services: Services, row: ShownSandbox) -> SandboxAnswer:
    """What the tables say of a sandbox; what it uses is not known yet."""
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


async def _measured(services: Services, row: ShownSandbox, recorded: SandboxAnswer) -> SandboxAnswer:
    """With what the sandbox uses now, as far as it lives; it is not woken for that."""
    machines = services.sandboxes.manager
    if machines is None or not is_alive(row.sandbox.life.state):
        return recorded
    disk = await machines.disk.of(machines.workspace_dir(recorded.workspace_id), machines.layers_of(row.template))
    used = await machines.measure(recorded.workspace_id)
    return recorded.model_copy(update={"disk_bytes": disk, **(asdict(used) if used is not None else {})})


def _rows() -> sa.Select[Any]:
    """Sandboxes with their owner: the thread and who made it, or who asked for it through the API."""
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
