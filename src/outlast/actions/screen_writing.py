"""Changing one file of a screen by hand, whether its sandbox is awake, asleep or not there yet."""

from typing import Final

from outlast.actions.checkpoints import keeper_of
from outlast.actions.services import Services
from outlast.base.errors import NotFound, SandboxLost
from outlast.base.events import CheckpointData, ScreenData
from outlast.core.sandboxes import store as sandbox_rows
from outlast.core.sandboxes.checkpoints import places
from outlast.core.sandboxes.checkpoints.editing import Edit
from outlast.core.sandboxes.interface import Sandbox
from outlast.core.sandboxes.rules import State

MOST_BYTES: Final = 5_000_000


async def rewrite(services: Services, screen: ScreenData, path: str, edit: Edit) -> CheckpointData | None:
    """Give a file the content that `edit` makes of the one it has (None: it is not there), in the running app where it
    runs. The checkpoint that has it; None: nothing was to be changed. Raises `ThreadBusy` while a run works there or
    waits for a person, `PathRefused`, `DiskFull`. Repeatable if `edit` is; a cancelled call leaves the file whole."""
    keeper, workspace_id = keeper_of(services), screen.workspace_id
    await services.db.read(places.demand_idle, workspace_id)
    sandbox = await awake_sandbox(services, workspace_id)
    if sandbox is not None:
        try:
            before = await _read(sandbox, path)
            after = edit(before)
            if after == before:
                return None
            await sandbox.write_files([(path, after)])
            return await keeper.take(workspace_id, "person", sandbox=sandbox)
        except SandboxLost:  # then its files lie here, or in the checkpoint
            pass
    return await keeper.rewrite(workspace_id, path, edit)


async def awake_sandbox(services: Services, workspace_id: str) -> Sandbox | None:
    """The workspace's sandbox if it is awake at this moment; it is not woken for this."""
    row = await services.db.read(sandbox_rows.newest, workspace_id)
    if services.machines is None or row is None or row.life.state is not State.READY:
        return None
    try:
        return await services.machines.find(workspace_id)
    except SandboxLost:
        return None


async def _read(sandbox: Sandbox, path: str) -> bytes | None:
    try:
        return await sandbox.read_file(path, MOST_BYTES)
    except NotFound:
        return None
