"""Which ports of a sandbox a member of its project may see."""

from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.projects.permissions import require
from outlast.kernel.projects.rules import Right, allows
from outlast.kernel.sandboxes.rows import SandboxRow
from outlast.kernel.sandboxes.services.store import services_of


def may_see(tx: Tx, actor: Actor, sandbox: SandboxRow, port: int) -> bool:
    """Whether the actor may see the port: an editor sees all of them, a viewer those of declared services. Raises
    `NotFound` for those who are no members."""
    if allows(require(tx, actor, sandbox.project_id, Right.READ), Right.EDIT):
        return True
    return any(service.port == port for service in services_of(tx, sandbox.workspace_id))
