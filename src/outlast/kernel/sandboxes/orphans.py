"""Orphans: sandboxes without a row, rows whose sandbox vanished, leftovers of deleted workspaces."""

from collections.abc import Collection, Iterable
from contextlib import suppress
from typing import Final

import anyio
import anyio.to_thread

from outlast.base.errors import Conflict, NotFound, SandboxLost
from outlast.base.ids import KINDS
from outlast.kernel.nodes.rules import LOCAL
from outlast.kernel.sandboxes import store
from outlast.kernel.sandboxes.leases import STEP
from outlast.kernel.sandboxes.manager import SandboxManager
from outlast.kernel.sandboxes.rules import PauseKind, State, can_become, is_half_awake
from outlast.kernel.sandboxes.store import SandboxRecord
from outlast.kernel.set_aside import kinds
from outlast_sandbox.folders import remove_folder

OURS: Final = f"{KINDS['sandbox']}_"
SWEEP: Final = "sweep"
SWEEP_EVERY_S: Final = 180.0  # each sweep asks the provider and every agent
PATIENCE_S: Final = 1.0  # with the holder of a workspace: a starting sandbox may hold it for minutes


async def reconcile(machines: SandboxManager) -> None:
    """At the server's start: keep living sandboxes, mark vanished or unresponsive ones as lost, end those without a
    row, collect leftovers of deleted owners. Repeatable, but only while no sandbox is in use yet. An error with one
    sandbox or workspace does not affect others. Raises if the provider or the database cannot be read at all.

    Sandboxes that every server reaches are only swept: other servers may use them."""
    if machines.leases is not None:
        await sweep(machines)
        return
    refs = dict(await machines.provider.list_refs())
    for row in await machines.recorded():
        if await machines.guard.once(kinds.SANDBOX_TAKE_UP, row.id, _take_up, machines, row, refs):
            continue
        if not await machines.guard.once(kinds.SANDBOX_TAKE_UP, row.id, machines.lives.lose, row):
            refs.pop(row.id, None)  # its row records it as alive, so it is left unchanged
    await _end_all(machines, refs.items())  # without a row, or with one that was given up
    await collect(machines)


async def _take_up(machines: SandboxManager, row: SandboxRecord, refs: dict[str, str]) -> None:
    if row.life.state is not State.CREATING and await machines.lives.adopt(row, refs.get(row.id)):
        refs.pop(row.id)  # it lives: the remaining ones are ended
    elif row.life.pause_kind is not PauseKind.STOPPED:
        await machines.lives.lose(row)


async def sweep(machines: SandboxManager) -> None:
    """While the server works: mark vanished or unresponsive sandboxes as lost, end those without a row, collect
    leftovers of deleted owners. The provider removes leftovers of its dead sandboxes. Repeatable; errors as of
    `reconcile`. If every server reaches the sandboxes, one of them does this at a time, and the next not at once."""
    async with machines.alone(SWEEP, SWEEP_EVERY_S / 2) as mine:
        if mine:
            await _sweep(machines)


async def _sweep(machines: SandboxManager) -> None:
    refs = dict(await machines.provider.list_refs())
    if machines.leases is not None:
        for row in await machines.recorded():
            if row.life.state is State.CREATING or is_half_awake(row.life):
                await machines.guard.attempt(kinds.SANDBOX_TAKE_UP, row.id, _take_over, machines, row)
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


async def _take_over(machines: SandboxManager, row: SandboxRecord) -> None:
    """A server was killed in the middle of a step, if none holds its lease: complete the step."""
    async with machines.locks[row.workspace_id], machines.alone(STEP + row.workspace_id) as mine:
        fresh = await machines.db.read(store.newest, row.workspace_id) if mine else None
        if fresh is None or fresh.id != row.id or fresh.life != row.life:
            return
        if row.life.state is State.CREATING or not await machines.lives.adopt(fresh, fresh.ref):
            await machines.lives.lose(fresh)


async def _check(machines: SandboxManager, row: SandboxRecord, ask_agent: bool) -> None:
    """Mark it as lost unless it exists and, with `ask_agent`, answers."""
    async with machines.step(row.workspace_id):
        fresh = await machines.db.read(store.newest, row.workspace_id)
        # Another caller has just used, stopped or replaced it.
        if fresh is None or fresh.id != row.id or fresh.life != row.life:
            return
        with suppress(SandboxLost):
            if machines.leases is not None and ask_agent:  # another server may have put it to sleep and woken it
                if await machines.lives.use(fresh) is not None:
                    return
                raise SandboxLost("The agent in the sandbox does not answer.", sandbox_id=fresh.id)
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
        async with machines.alone(STEP + workspace_id) as mine:
            if mine:
                await _remove(machines, workspace_id)
    finally:
        lock.release()


async def _remove(machines: SandboxManager, workspace_id: str) -> None:
    await machines.lives.drop(workspace_id)
    # It might still write into the folders: they stay until it has ended.
    if not await machines.guard.once(kinds.SANDBOX_END, "all", _end_unknown, machines):
        return
    for folder in machines.folders_of(workspace_id):
        await anyio.to_thread.run_sync(remove_folder, folder)
    await machines.db.write(store.collected, workspace_id)  # last: after a kill, the next call removes the rest


async def _end_unknown(machines: SandboxManager) -> None:
    """End sandboxes without a row. Every sandbox with an id of ours has its row before it exists: one without has lost
    its owner. Those with other ids (trials, builds) live for a short time, and their creators end them."""
    found = await machines.provider.list_refs()  # before the rows are read: a row is older than its sandbox
    refs = [(sandbox_id, ref) for sandbox_id, ref in found if sandbox_id.startswith(OURS)]
    ids = {sandbox_id for sandbox_id, _ in refs}
    without = await machines.db.read(store.unknown, ids)
    # One whose machine came back after it was started again elsewhere, under the same id.
    recorded = {} if machines.leases is None else await machines.db.read(store.refs_of, ids)
    await _end_all(machines, [one for one in refs if one[0] in without or recorded.get(one[0], one[1]) != one[1]])


async def _end_all(machines: SandboxManager, refs: Iterable[tuple[str, str]]) -> None:
    for sandbox_id, ref in refs:
        await machines.guard.attempt(kinds.SANDBOX_END, sandbox_id, _end, machines, sandbox_id, ref)


async def _end(machines: SandboxManager, sandbox_id: str, ref: str) -> None:
    with suppress(SandboxLost):
        orphan = await machines.provider.connect(sandbox_id, ref)
        await orphan.kill()
