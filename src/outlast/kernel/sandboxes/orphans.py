"""Orphans: sandboxes without a row, rows whose sandbox vanished, leftovers of deleted workspaces."""

from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import Final

import anyio
import anyio.to_thread

from outlast.base.errors import Conflict, NotFound, SandboxLost
from outlast.base.ids import KINDS
from outlast.kernel.nodes.rules import LOCAL
from outlast.kernel.sandboxes import store
from outlast.kernel.sandboxes.manager import SandboxManager
from outlast.kernel.sandboxes.rules import PauseKind, State, can_become
from outlast.kernel.sandboxes.store import SandboxRecord
from outlast.kernel.set_aside import kinds
from outlast_sandbox.folders import remove_folder

OURS: Final = f"{KINDS['sandbox']}_"
SWEEP_EVERY_S: Final = 180.0  # each sweep asks the provider and every agent
PATIENCE_S: Final = 1.0  # with the holder of a workspace: a starting sandbox may hold it for minutes


async def reconcile(machines: SandboxManager) -> None:
    """At the server's start: keep living sandboxes, mark vanished or unresponsive ones as lost, end those without a
    row, collect leftovers of deleted owners. Repeatable, but only while no sandbox is in use yet. An error with one
    sandbox or workspace does not affect others. Raises if the provider or the database cannot be read at all."""
    refs = dict(await machines.provider.list_refs())
    for row in await machines.recorded():
        if await machines.guard.once(kinds.SANDBOX_TAKE_UP, row.id, _take_up, machines, row, refs):
            continue
        if not await machines.guard.once(kinds.SANDBOX_TAKE_UP, row.id, machines.lives.lose, row):
            refs.pop(row.id, None)  # its row records it as alive, so it is left unchanged
    await _end_all(machines, refs)  # without a row, or with one that was given up
    await collect(machines)


async def _take_up(machines: SandboxManager, row: SandboxRecord, refs: dict[str, str]) -> None:
    if row.life.state is not State.CREATING and await machines.lives.adopt(row, refs.get(row.id)):
        refs.pop(row.id)  # it lives: the remaining ones are ended
    elif row.life.pause_kind is not PauseKind.STOPPED:
        await machines.lives.lose(row)


async def sweep(machines: SandboxManager) -> None:
    """While the server works: mark vanished or unresponsive sandboxes as lost, end those without a row, collect
    leftovers of deleted owners. The provider removes leftovers of its dead sandboxes. Repeatable; errors as of
    `reconcile`."""
    refs = dict(await machines.provider.list_refs())
    for row in await machines.recorded():
        # One that started after the list was read is not in it: `_check` asks for it.
        if row.life.pause_kind is PauseKind.STOPPED or row.life.state is State.CREATING or row.id in refs:
            continue
        await machines.guard.attempt(kinds.SANDBOX_CHECK, row.id, _check, machines, row, False)
    for row in await machines.recorded():
        if row.life.state is State.READY and row.id in refs:
            await machines.guard.attempt(kinds.SANDBOX_CHECK, row.id, _check, machines, row, True)
    await _end_unknown(machines)
    await collect(machines)


async def lose_those_of(machines: SandboxManager, node_ids: Collection[str]) -> None:
    """Mark the sandboxes on the machines of dead nodes as lost: their files come back elsewhere, at the next use. Those
    of hosted providers live on. Repeatable, also by several servers; a node that comes back ends what it still has."""
    bound = {LOCAL, *([machines.provider.name] if machines.provider.capabilities.volume else [])}
    for row in await machines.db.read(store.alive_of, bound, node_ids):
        if can_become(row.life.state, State.LOST):
            with suppress(NotFound, Conflict):  # deleted, or ended meanwhile
                await machines.db.write(store.change, row.id, State.LOST)


async def _check(machines: SandboxManager, row: SandboxRecord, ask_agent: bool) -> None:
    """Mark it as lost unless it exists and, with `ask_agent`, answers."""
    async with machines.locks[row.workspace_id]:
        fresh = await machines.db.read(store.newest, row.workspace_id)
        # Another caller has just used, stopped or replaced it.
        if fresh is None or fresh.id != row.id or fresh.life != row.life:
            return
        with suppress(SandboxLost):
            sandbox = await machines.lives.connect(fresh)
            await sandbox.statistics()
            if ask_agent:
                await sandbox.ping()
            return
        await machines.lives.lose(fresh)


async def collect(machines: SandboxManager) -> None:
    """End the sandboxes and remove the files of workspaces whose owner was deleted. Repeatable; a later call handles
    workspaces that a killed server did not reach, that are still in use, or that failed: one workspace does not delay
    others."""
    for workspace_id in await machines.db.read(store.garbage, machines.node_id):
        await machines.guard.attempt(kinds.WORKSPACE_REMOVAL, workspace_id, _collect, machines, workspace_id)


async def _collect(machines: SandboxManager, workspace_id: str) -> None:
    lock = machines.locks[workspace_id]
    with anyio.move_on_after(PATIENCE_S) as patience:
        await lock.acquire()
    if patience.cancelled_caught:
        return
    try:
        await machines.lives.drop(workspace_id)
        # It might still write into the folders: they stay until it has ended.
        if not await machines.guard.once(kinds.SANDBOX_END, "all", _end_unknown, machines):
            return
        for folder in machines.folders_of(workspace_id):
            await anyio.to_thread.run_sync(remove_folder, folder)
        await machines.db.write(store.collected, workspace_id)  # last: after a kill, the next call removes the rest
    finally:
        lock.release()


async def _end_unknown(machines: SandboxManager) -> None:
    """End sandboxes without a row. Every sandbox with an id of ours has its row before it exists: one without has lost
    its owner. Those with other ids (trials, builds) live for a short time, and their creators end them."""
    found = dict(await machines.provider.list_refs())  # before the rows are read: a row is older than its sandbox
    refs = {sandbox_id: ref for sandbox_id, ref in found.items() if sandbox_id.startswith(OURS)}
    without = await machines.db.read(store.unknown, refs.keys())
    await _end_all(machines, {sandbox_id: refs[sandbox_id] for sandbox_id in without})


async def _end_all(machines: SandboxManager, refs: Mapping[str, str]) -> None:
    for sandbox_id, ref in refs.items():
        await machines.guard.attempt(kinds.SANDBOX_END, sandbox_id, _end, machines, sandbox_id, ref)


async def _end(machines: SandboxManager, sandbox_id: str, ref: str) -> None:
    with suppress(SandboxLost):
        orphan = await machines.provider.connect(sandbox_id, ref)
        await orphan.kill()
