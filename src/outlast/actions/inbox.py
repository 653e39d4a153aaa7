"""What waits for the actor."""

from outlast.actions.services import Services
from outlast.core.accounts.actor import Actor
from outlast.core.documents import locking, waiting
from outlast.core.mentions import store as mentions
from outlast.core.mentions.items import InboxItem
from outlast.core.projects.permissions import require
from outlast.core.projects.rules import Right
from outlast.core.runs import inbox as runs
from outlast.core.threads import driving
from outlast.db.database import Tx


async def list_inbox(services: Services, actor: Actor, project_id: str | None = None) -> list[InboxItem]:
    """Everything that waits for the actor in one project (None: in all of theirs), newest first: open approvals and
    questions where the actor may edit; open proposals of conversations that the actor began, drives or asked; requests
    to hand over threads and sections; where the actor is named and what they were given."""

    def run(tx: Tx) -> list[InboxItem]:
        if project_id is not None:
            require(tx, actor, project_id, Right.READ)
        items = [
            item
            for find in (
                runs.waiting,
                waiting.proposals_for,
                driving.waiting,
                locking.waiting,
                mentions.waiting,
            )
            for item in find(tx, actor.user_id, project_id)
        ]
        return sorted(items, key=lambda item: (item.created_at, item.id), reverse=True)

    return await services.db.read(run)
