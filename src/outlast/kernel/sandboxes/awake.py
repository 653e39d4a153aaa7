"""Sandboxes that are awake, without waking any."""

from outlast.base.errors import SandboxLost
from outlast.kernel.sandboxes import store
from outlast.kernel.sandboxes.rules import State
from outlast.kernel.services import Services
from outlast_sandbox.interface import Sandbox


async def awake_sandbox(services: Services, workspace_id: str) -> Sandbox | None:
    """The workspace's sandbox if it is awake at this moment; it is not woken for this."""
    row = await services.db.read(store.newest, workspace_id)
    if services.sandboxes.manager is None or row is None or row.life.state is not State.READY:
        return None
    try:
        return await services.sandboxes.manager.find(workspace_id)
    except SandboxLost:
        return None
