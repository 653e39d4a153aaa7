"""What waits for the actor."""

from outlast.actions.services import Services
from outlast.core.accounts.actor import Actor
from outlast.core.projects.permissions import require
from outlast.core.projects.rules import Right
from outlast.core.threads.inbox import InboxItem
from outlast.core.threads.inbox import list_inbox as find_items
from outlast.db.database import Tx


async def list_inbox(services: Services, actor: Actor, project_id: str | None = None) -> list[InboxItem]:
    """Open approvals and questions of the projects in which the actor may decide them, and requests to hand over what
    the actor drives, newest first."""

    def run(tx: Tx) -> list[InboxItem]:
        if project_id is not None:
            require(tx, actor, project_id, Right.READ)
        return find_items(tx, actor.user_id, project_id)

    return await services.db.read(run)
