"""What nobody owns: sandboxes without a row, rows whose sandbox vanished, what deleted workspaces left behind."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Final

import anyio
import anyio.to_thread

from outlast.base.errors import SandboxLost
from outlast.base.ids import KINDS
from outlast.core.sandboxes import store
from outlast.core.sandboxes.folders import remove_folder
from outlast.core.sandboxes.manager import SandboxManager
from outlast.core.sandboxes.rules import PauseKind, State
from outlast.core.sandboxes.store import SandboxRow

OURS: Final = f"{KINDS['sandbox']}_"
PATIENCE_S: Final = 1.0  # with whoever holds a workspace: one whose sandbox is starting may do so for minutes


async def reconcile(machines: SandboxManager) -> None:
    """At the server's start: keep what lives, mark what vanished as lost, end what no row knows, collect what a
    deleted owner left. Repeatable, but only while nobody uses a sandbox yet."""
    refs = dict(await machines.provider.list_refs())
    for row in await _recorded(machines):
        if row.life.state is State.CREATING or not await machines.lives.adopt(row, refs.get(row.id)):
            if row.life.pause_kind is not PauseKind.STOPPED:
                await machines.lives.lose(row)
        else:
            refs.pop(row.id)
    await _end_all(machines, refs)
    await collect(machines)


async def sweep(machines: SandboxManager) -> None:
    """Beside the work of others: mark what vanished as lost, end what no row knows, collect what a deleted owner left.
    The provider removes what its dead sandboxes left behind. Repeatable."""
    refs = dict(await machines.provider.list_refs())
    for row in await _recorded(machines):
        if row.life.pause_kind is PauseKind.STOPPED or row.life.state is State.CREATING or row.id in refs:
            continue
        async with machines.locks[row.workspace_id]:
            fresh = await machines.db.read(store.newest, row.workspace_id)
            if fresh is not None and fresh.id == row.id and fresh.life == row.life:
                with suppress(SandboxLost):
                    await (await machines.lives.connect(fresh)).statistics()
                    continue
                await machines.lives.lose(fresh)
    await _end_unknown(machines)
    await collect(machines)


async def collect(machines: SandboxManager) -> None:
    """End the sandboxes and remove the files of workspaces whose owner was deleted. Repeatable; what a killed
    server did not get to, and what somebody is still busy with, is done by the next call."""
    for workspace_id in await machines.db.read(store.garbage, machines.node_id):
        lock = machines.locks[workspace_id]
        with anyio.move_on_after(PATIENCE_S) as patience:
            await lock.acquire()
        if patience.cancelled_caught:
            continue
        try:
            await _collect(machines, workspace_id)
        finally:
            lock.release()


async def _collect(machines: SandboxManager, workspace_id: str) -> None:
    await machines.lives.drop(workspace_id)
    await _end_unknown(machines)
    try:
        for folder in machines.folders_of(workspace_id):
            await anyio.to_thread.run_sync(remove_folder, folder)
    except OSError:  # tried again with the next collection
        return
    await machines.db.write(store.collected, workspace_id)


async def _recorded(machines: SandboxManager) -> list[SandboxRow]:
    return await machines.db.read(store.alive_on, machines.provider.name, machines.node_id)


async def _end_unknown(machines: SandboxManager) -> None:
    """Every sandbox with an id of ours has its row before it exists: one without has lost its owner. Those with other
    ids (trials, builds) are of short life, and somebody waits for them."""
    found = dict(await machines.provider.list_refs())
    refs = {sandbox_id: ref for sandbox_id, ref in found.items() if sandbox_id.startswith(OURS)}
    without = await machines.db.read(store.unknown, refs.keys())
    await _end_all(machines, {sandbox_id: refs[sandbox_id] for sandbox_id in without})


async def _end_all(machines: SandboxManager, refs: Mapping[str, str]) -> None:
    for sandbox_id, ref in refs.items():
        with suppress(SandboxLost):
            orphan = await machines.provider.connect(sandbox_id, ref)
            await orphan.kill()
