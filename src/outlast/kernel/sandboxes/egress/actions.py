"""The log of used secrets: requests, their hosts and their secrets. It never contains values."""

from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.lists import Listed
from outlast.kernel.projects.permissions import require
from outlast.kernel.projects.rules import Right
from outlast.kernel.sandboxes.egress import store
from outlast.kernel.sandboxes.shapes import SecretUseAnswer
from outlast.kernel.services import in_read


@in_read
def list_secret_uses(
    tx: Tx, actor: Actor, project_id: str, *, before: int | None, limit: int, sandbox_id: str | None, secret: str | None
) -> Listed[SecretUseAnswer, str]:
    """The project's uses of secrets (editors), optionally those of one sandbox or one secret. A use is listed at most
    half a second after its answer began."""
    require(tx, actor, project_id, Right.EDIT)
    found = store.uses_of(tx, project_id, limit + 1, before, sandbox_id, secret, actor.user_id)
    items = found[:limit]
    return Listed(items, items[-1].id if len(found) > limit else None)
