"""Sandboxes for programs: create, find, pause, resume and end one, open it, keep its files as a snapshot, fork it
(editors of its project).

They belong to the caller's default project. A killed one is gone with its files, as programs expect.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Final

import anyio
import anyio.lowlevel

from outlast.base.errors import MalformedInput, NotFound, OutlastError, RateLimited
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.idempotency import remember, request_hash
from outlast.kernel.projects import store as projects
from outlast.kernel.projects.permissions import require, require_owned
from outlast.kernel.projects.rules import Right
from outlast.kernel.sandboxes import hosted, hosted_snapshots
from outlast.kernel.sandboxes.actions import machines_of
from outlast.kernel.sandboxes.checkpoints.actions import keeper_of
from outlast.kernel.sandboxes.hosted import BASE, Hosted, HostedOrder
from outlast.kernel.sandboxes.hosted_snapshots import HostedSnapshot
from outlast.kernel.sandboxes.orphans import collect
from outlast.kernel.sandboxes.rows import WorkspaceRow
from outlast.kernel.sandboxes.sizes import hosted_allowed
from outlast.kernel.sandboxes.store import give_up
from outlast.kernel.sandboxes.tables import snapshots, workspaces
from outlast.kernel.services import Services, in_read, in_write
from outlast.kernel.set_aside import kinds
from outlast_sandbox.interface import Sandbox, SandboxStatistics

CLEAN_UP_S: Final = 20.0
MAX_WORDS_BYTES: Final = 64_000  # of metadata, of the environment
Check = Callable[[Hosted], None]
"""Raises if the caller may not open this sandbox: its own token was not sent."""


async def create_hosted(
    services: Services, actor: Actor, order: HostedOrder, key: str | None = None, *, files_of: Hosted | None = None
) -> Hosted:
    """Start a sandbox in the actor's default project, or in the project of the sandbox whose files it begins with, as
    in its newest checkpoint. A repeated idempotency key returns the same sandbox.

    Raises `NotFound` for an unknown template, `RateLimited` while as many run as this server may hold,
    `MalformedInput`, `SandboxUnavailable`. A failed or cancelled call leaves nothing behind."""
    machines = machines_of(services)  # raises before anything is written
    _check_order(services, order)
    wanted = request_hash(order.template, order.timeout_s, dict(order.metadata), dict(order.env))

    def run(tx: Tx) -> dict[str, str]:
        project_id = files_of.project_id if files_of else projects.ensure_default_project(tx, actor.user_id)
        require(tx, actor, project_id, Right.EDIT)
        made = partial(_add, tx, services, actor, project_id, order, files_of)
        return remember(tx, actor.user_id, key, wanted, lambda: {"workspace_id": made()})

    workspace_id = (await services.db.write(run))["workspace_id"]  # after a kill here it ends when its time is over
    found = await services.db.read(_require, actor, workspace_id)
    try:
        await machines.ensure(workspace_id, found.project_id)
    except BaseException:
        with anyio.move_on_after(CLEAN_UP_S, shield=True):
            await _remove(services, found)
        raise
    return found


@in_read
def list_hosted(tx: Tx, actor: Actor) -> list[Hosted]:
    """The sandboxes of the actor's default project, the newest first."""
    project_id = _default_project(tx, actor)
    return [one for one in hosted.of_project(tx, project_id) if not _is_over(tx, one)] if project_id else []


@in_read
def find_template(tx: Tx, actor: Actor, template: str) -> str:
    """The id of the template that `create_hosted` would use for this name. Raises `NotFound`."""
    project_id = projects.find_default_project(tx, actor.user_id)
    snapshot = None if project_id is None else hosted_snapshots.find(tx, project_id, template)
    if snapshot is not None:
        return snapshot.workspace_id
    _require_template(tx, template)
    return template


async def read_hosted(services: Services, actor: Actor, workspace_id: str) -> Hosted:
    """One sandbox. Raises `NotFound`, also if its time is over and it is killed for that."""
    return await services.db.read(_require, actor, workspace_id)


async def kill_hosted(services: Services, actor: Actor, workspace_id: str) -> None:
    """End it with all its processes, and remove its files. Raises `NotFound`."""
    await _remove(services, await services.db.read(_require, actor, workspace_id))


async def set_hosted_timeout(
    services: Services, actor: Actor, workspace_id: str, timeout_s: float, *, only_longer: bool = False
) -> Hosted:
    """Let it run for this long from now (`only_longer`: never shorten its time)."""
    _check_timeout(services, timeout_s)

    def run(tx: Tx) -> Hosted:
        found = _require(tx, actor, workspace_id)
        ends_at = tx.now + timedelta(seconds=timeout_s)
        if not only_longer or ends_at > found.ends_at:
            hosted.move_end(tx, workspace_id, ends_at)
        return _require(tx, actor, workspace_id)

    return await services.db.write(run)


async def connect_hosted(
    services: Services, actor: Actor, workspace_id: str, timeout_s: float, *, keep_memory: bool = True
) -> tuple[Hosted, bool]:
    """Wake it if it sleeps, and let it run for at least this long. Returns it, and whether it slept. `keep_memory`
    false restarts a sleeping one with only its files."""
    _check_timeout(services, timeout_s)
    found = await services.db.read(_require, actor, workspace_id)
    if found.runs:
        return await set_hosted_timeout(services, actor, workspace_id, timeout_s, only_longer=True), False
    if not keep_memory:
        await machines_of(services).stop(workspace_id)  # without its memory: the next start has only its files
    await _resume(services, found, timeout_s)
    return await services.db.read(_require, actor, workspace_id), True


async def pause_hosted(services: Services, actor: Actor, workspace_id: str, *, keep_memory: bool = True) -> bool:
    """Put it to sleep, with its memory or with only its files. False if it already sleeps."""
    return await _pause(services, await services.db.read(_require, actor, workspace_id), keep_memory)


async def measure_hosted(services: Services, actor: Actor, workspace_id: str) -> tuple[SandboxStatistics, int] | None:
    """Its current usage, and the bytes that its files take on disk; None while it sleeps."""
    found = await services.db.read(_require, actor, workspace_id)
    if not found.runs:
        return None
    machines = machines_of(services)
    sandbox = await machines.ensure(workspace_id, found.project_id)
    disk_bytes = await machines.disk.of(machines.workspace_dir(workspace_id))
    measured = await sandbox.statistics()
    return None if measured is None else (measured, disk_bytes or 0)


@in_write
def change_hosted_options(
    tx: Tx, actor: Actor, workspace_id: str, change: Callable[[Hosted], dict[str, object]]
) -> Hosted:
    """Replace the surface's options with the result of `change`."""
    hosted.set_options(tx, workspace_id, change(_require(tx, actor, workspace_id)))
    return _require(tx, actor, workspace_id)


async def open_hosted(services: Services, workspace_id: str, check: Check) -> tuple[Hosted, Sandbox]:
    """The living machine of one; as `visit_hosted`."""
    found = await visit_hosted(services, workspace_id, check)
    return found, await machines_of(services).ensure(workspace_id, found.project_id)


async def visit_hosted(services: Services, workspace_id: str, check: Check) -> Hosted:
    """A running one, for a caller who passes `check`, as long as its creator may edit its project. A sleeping one is
    woken if its creator requested that (option `auto_resume`), for its first run time. Raises `NotFound`, `Forbidden`
    and the errors of `check`."""

    def run(tx: Tx) -> Hosted:
        found = hosted.find(tx, workspace_id)
        if found is None or _is_over(tx, found):
            raise _not_found(workspace_id)
        check(found)
        # Its creator may have left the project since.
        require(tx, Actor(found.user_id, "", "token"), found.project_id, Right.EDIT)
        if not found.runs and not found.options.get("auto_resume"):
            raise _not_found(workspace_id)
        return found

    found = await services.db.read(run)
    if not found.runs:
        await _resume(services, found, float(found.options.get("timeout_s", 300)))
    return found


@in_read
def find_hosted(tx: Tx, is_it: Callable[[Hosted], bool], limit: int = 5_000) -> Hosted | None:
    """The first running one for which `is_it` is true, for addresses that carry a signature and no name."""
    return next((one for one in hosted.running(tx, limit) if is_it(one)), None)


async def snapshot_hosted(
    services: Services, actor: Actor, workspace_id: str, name: str | None = None
) -> HostedSnapshot:
    """Keep the current files of a sandbox; it continues to run. Its processes are not kept. Raises `InputTooLarge`,
    `DiskFull`, `NotFound`."""
    found = await read_hosted(services, actor, workspace_id)
    await keeper_of(services).take(workspace_id, "fork")
    return await services.db.write(hosted_snapshots.add, found.project_id, workspace_id, found.template, name)


@in_read
def list_hosted_snapshots(
    tx: Tx, actor: Actor, source_id: str | None = None, name: str | None = None
) -> list[HostedSnapshot]:
    """The snapshots of the actor's default project, the newest first; of one sandbox, or of one name."""
    project_id = _default_project(tx, actor)
    return hosted_snapshots.of_project(tx, project_id, source_id, name) if project_id else []


@in_write
def delete_hosted_snapshot(tx: Tx, actor: Actor, named: str) -> None:
    """Remove a snapshot, by its id or name; sandboxes that were started from it are left unchanged. Raises
    `NotFound`."""
    project_id = projects.find_default_project(tx, actor.user_id)
    found = None if project_id is None else hosted_snapshots.find(tx, project_id, named)
    if found is None:
        raise NotFound(f"The snapshot {named[:80]} does not exist.", noun="snapshot")
    require_owned(tx, actor, WorkspaceRow, workspaces, "snapshot", found.workspace_id, Right.EDIT)
    give_up(tx, found.project_id, workspace_id=found.workspace_id)


async def fork_hosted(
    services: Services, actor: Actor, workspace_id: str, timeout_s: float, count: int
) -> list[Hosted | OutlastError]:
    """`count` new sandboxes with the files, environment and metadata of this one, each or the reason why it failed.
    This one continues to run; its processes are not copied."""
    found = await read_hosted(services, actor, workspace_id)
    await keeper_of(services).take(workspace_id, "fork")
    order = HostedOrder(
        timeout_s=timeout_s,
        template=found.template,
        on_timeout=found.on_timeout,
        metadata=found.metadata,
        env=found.env,
        options={**found.options, "timeout_s": timeout_s},
    )
    made: list[Hosted | OutlastError] = []
    for _ in range(count):
        await anyio.lowlevel.checkpoint()
        try:
            made.append(await create_hosted(services, actor, order, files_of=found))
        except OutlastError as error:
            made.append(error)
    return made


async def end_due(services: Services) -> datetime | None:
    """Pause or kill those of this node, or that every node reaches, whose time is over; returns the next end. For the
    server itself; harmless on several at once."""
    late, next_end = await services.db.read(hosted.due)
    for one in late:
        if one.node_id not in (None, machines_of(services).node_id):  # the server of that node ends it
            continue
        await services.supervisor.guard.attempt(kinds.HOSTED_END, one.workspace_id, _end, services, one)
    return next_end


async def _end(services: Services, one: Hosted) -> None:
    if one.on_timeout == "kill":
        await _remove(services, one)
    else:
        await _pause(services, one, bool(one.options.get("keep_memory", True)))


def _check_slots(tx: Tx, services: Services, project_id: str) -> None:
    """Raise `RateLimited` if one more would exceed the limit of this project, or of this server."""
    allowed = machines_of(services).awake_allowed
    asked = services.settings.sandbox.max_hosted_per_project if services.settings.sandbox else 0
    share = hosted_allowed(asked, allowed)
    here, everywhere = hosted.count_running(tx, project_id)
    if everywhere >= allowed:
        raise RateLimited(
            f"{allowed} sandboxes are running, the limit of this server.",
            hint="Kill or pause one, or raise sandbox.max_awake.",
            limit=allowed,
            per="server",
        )
    if here >= share:
        raise RateLimited(
            f"{share} sandboxes of this project are running, the limit of one project.",
            hint="Kill or pause one, or raise sandbox.max_hosted_per_project.",
            limit=share,
            per="project",
        )


def _add(tx: Tx, services: Services, actor: Actor, project_id: str, order: HostedOrder, files_of: Hosted | None) -> str:
    _check_slots(tx, services, project_id)
    source = files_of.workspace_id if files_of else None
    if files_of is None and (snapshot := hosted_snapshots.find(tx, project_id, order.template)) is not None:
        source = snapshot.workspace_id
        order = replace(
            order, template=snapshot.template, options={**order.options, "snapshot_id": snapshot.workspace_id}
        )
    _require_template(tx, order.template)
    ends_at = tx.now + timedelta(seconds=order.timeout_s)
    workspace_id = hosted.add(tx, project_id, actor.user_id, order, ends_at)
    if source is not None:
        hosted_snapshots.copy_files(tx, source, workspace_id)
    return workspace_id


def _require_template(tx: Tx, template: str) -> None:
    if template == BASE:
        return
    if not tx.exists(snapshots, {"name": template, "state": "ready"}):
        raise NotFound(
            f"The template {template[:80]!r} does not exist.",
            hint=f"Use {BASE!r}, or the name of a snapshot that is ready.",
            template=template[:80],
        )


def _check_order(services: Services, order: HostedOrder) -> None:
    _check_timeout(services, order.timeout_s, 1)
    for name, words in (("metadata", order.metadata), ("environment", order.env)):
        size = sum(len(key.encode()) + len(value.encode()) for key, value in words.items())
        if size > MAX_WORDS_BYTES:
            raise MalformedInput(f"The {name} has {size:,} bytes; at most {MAX_WORDS_BYTES:,} are allowed.", field=name)


def _check_timeout(services: Services, timeout_s: float, least: float = 0) -> None:
    longest = services.settings.sandbox.kill_after_s if services.settings.sandbox else 0.0
    if not least <= timeout_s <= longest:
        raise MalformedInput(
            f"A sandbox can run for {least:.0f} to {longest:.0f} s, not for {timeout_s:.0f} s.",
            hint="The longest time is the setting sandbox.kill_after_s.",
            field="timeout",
        )


async def _resume(services: Services, found: Hosted, timeout_s: float) -> None:
    # Only read: two that resume at once may both pass.
    await services.db.read(_check_slots, services, found.project_id)
    # After a kill here it is marked as paused, and the idle clocks put it to sleep.
    await machines_of(services).ensure(found.workspace_id, found.project_id)
    await services.db.write(lambda tx: hosted.run_until(tx, found.workspace_id, tx.now + timedelta(seconds=timeout_s)))


async def _pause(services: Services, found: Hosted, keep_memory: bool) -> bool:
    """Marked first, so that nothing new begins in it. One that cannot be put to sleep continues to run."""
    machines, workspace_id = machines_of(services), found.workspace_id
    # After a kill here it continues to run, and the idle clocks count.
    if not await services.db.write(hosted.mark_paused, workspace_id):
        return False
    try:
        if keep_memory and machines.provider.capabilities.pause:
            await machines.freeze(workspace_id)
        else:
            await machines.stop(workspace_id)
    except OutlastError:
        if found.ends_at > services.clock.now():  # past its end it stays marked as paused: the idle clocks end it
            await services.db.write(hosted.run_until, workspace_id, found.ends_at)
        raise
    return True


async def _remove(services: Services, found: Hosted) -> None:
    """It is gone once the tables say so; a sandbox that cannot be ended now is ended later."""
    await services.db.write(lambda tx: give_up(tx, found.project_id, workspace_id=found.workspace_id))
    with suppress(OutlastError):
        await collect(machines_of(services))


def _default_project(tx: Tx, actor: Actor) -> str | None:
    """The actor's default project, which they may edit, or None."""
    project_id = projects.find_default_project(tx, actor.user_id)
    if project_id is not None:
        require(tx, actor, project_id, Right.EDIT)
    return project_id


def _require(tx: Tx, actor: Actor, workspace_id: str) -> Hosted:
    require_owned(tx, actor, WorkspaceRow, workspaces, "sandbox", workspace_id, Right.EDIT)
    found = hosted.find(tx, workspace_id)
    if found is None or _is_over(tx, found):
        raise _not_found(workspace_id)
    return found


def _is_over(tx: Tx, one: Hosted) -> bool:
    # Gone for its users, even before `end_due` runs.
    return one.runs and one.on_timeout == "kill" and one.ends_at <= tx.now


def _not_found(workspace_id: str) -> NotFound:
    shown = workspace_id.partition("_")[2]  # the id that programs use
    return NotFound(f"The sandbox {shown} was not found.", noun="sandbox", id=workspace_id)
