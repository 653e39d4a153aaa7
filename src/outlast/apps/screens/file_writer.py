"""Change files of a screen by hand, whether its sandbox is awake, asleep or not created yet."""

from collections.abc import Mapping

import anyio.to_thread

from outlast.apps.screens.shapes import ScreenData
from outlast.base.errors import NotFound, SandboxLost
from outlast.kernel.sandboxes.actions import awake_sandbox
from outlast.kernel.sandboxes.checkpoints import workspaces as places
from outlast.kernel.sandboxes.checkpoints.actions import keeper_of
from outlast.kernel.sandboxes.checkpoints.keeper import CheckpointKeeper
from outlast.kernel.sandboxes.checkpoints.shapes import CheckpointData
from outlast.kernel.sandboxes.translation import translated
from outlast.kernel.services import Services
from outlast_sandbox.checkpoints.tree_edits import MAX_BYTES, Edit, demand_editable
from outlast_sandbox.interface import Sandbox


async def rewrite(services: Services, screen: ScreenData, edits: Mapping[str, Edit]) -> CheckpointData | None:
    """Apply edits to files, by path: an edit gets the current content (None if missing) and returns the new one. A
    running app is edited in place; all or none. Unsaved changes are saved first, so that the returned checkpoint (None
    if nothing had to change) differs from the one before it by these edits alone. Concurrent writers run one after the
    other. Raises `ThreadBusy` while a run works there or waits for a person, `PathRefused`, `InputTooLarge` (a file of
    more than 10 MB), `DiskFull`, and what an edit raises. Repeatable if the edits are; a cancelled call leaves each
    file whole."""
    keeper, workspace_id = keeper_of(services), screen.workspace_id
    async with keeper.one_hand(workspace_id):
        await services.db.read(places.demand_idle, workspace_id)
        sandbox = await awake_sandbox(services, workspace_id)
        if sandbox is not None:
            try:
                return await _rewrite_awake(keeper, sandbox, workspace_id, edits)
            except SandboxLost:  # then its files are here, or in the checkpoint
                pass
        return await keeper.rewrite(workspace_id, edits)


async def _rewrite_awake(
    keeper: CheckpointKeeper, sandbox: Sandbox, workspace_id: str, edits: Mapping[str, Edit]
) -> CheckpointData | None:
    before = {path: await _read(sandbox, path) for path in edits}
    after = await anyio.to_thread.run_sync(_edited, before, edits)
    if not after:
        return None
    await keeper.take(workspace_id, "person", sandbox=sandbox)
    await sandbox.write_files(list(after.items()))
    return await keeper.take(workspace_id, "person", sandbox=sandbox)


def _edited(before: Mapping[str, bytes | None], edits: Mapping[str, Edit]) -> dict[str, bytes]:
    """The files whose content changes."""
    made = {path: edit(before[path]) for path, edit in edits.items()}
    return {path: after for path, after in made.items() if after is not None and after != before[path]}


async def _read(sandbox: Sandbox, path: str) -> bytes | None:
    try:
        content = await sandbox.read_file(path, MAX_BYTES + 1)
    except NotFound:
        return None
    with translated():
        demand_editable(path, len(content))  # content that was not read would be lost
    return content
