"""Replacing the files of a workspace as a whole, together with the subject that they belong to."""

from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.projects.permissions import require_thread
from outlast.kernel.projects.rules import Right
from outlast.kernel.sandboxes.checkpoints import actions
from outlast.kernel.sandboxes.checkpoints.shapes import CheckpointData
from outlast.kernel.services import Services
from outlast.kernel.subjects import registry as subjects
from outlast.kernel.subjects.registry import Found


async def restore(services: Services, actor: Actor, checkpoint_id: str) -> CheckpointData:
    """As `actions.restore`. The newest checkpoint, which is the subject's where it changed the files."""
    restored = await actions.restore(services, actor, checkpoint_id)
    found = await services.db.read(subjects.of_workspace, restored.workspace_id)
    if found is None:
        return restored
    return await found.kind.files.after_restore(services, actor, found.id) or restored


async def reset_workspace(services: Services, actor: Actor, thread_id: str) -> CheckpointData:
    """As `actions.reset_workspace`, with the files that the thread's subject begins with."""

    def find(tx: Tx) -> Found | None:
        require_thread(tx, actor, thread_id, Right.EDIT)
        return subjects.of_thread(tx, thread_id)

    found = await services.db.read(find)
    seed = None if found is None else await found.kind.files.seed(services, found.id)
    begun = await actions.reset_workspace(services, actor, thread_id, seed)
    if found is not None:
        await found.kind.files.after_reset(services, actor, found.id)
    return begun
