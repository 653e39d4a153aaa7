"""Presence in a document: who has it open, and where."""

import re
from typing import Final

from outlast.apps.documents.store import require_document
from outlast.base.errors import MalformedInput
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.presence.shapes import EphemeralPresence
from outlast.kernel.projects import store as projects
from outlast.kernel.projects.rules import Right, Role, allows
from outlast.kernel.projects.shapes import MemberData
from outlast.kernel.services import Services

_BLOCK_ID: Final = re.compile(r"blk_[0-9a-z]{1,36}")


async def move_in_document(
    services: Services, actor: Actor, document_id: str, block_id: str | None, typing: bool
) -> None:
    """Show the followers of its project that the actor has a document open, and in which block they are (None if in
    none). Viewers are shown too, but never as typing. Typing ends after 6 s unless this call is repeated. Raises
    `MalformedInput` for an invalid block id."""
    if block_id is not None and not _BLOCK_ID.fullmatch(block_id):
        raise MalformedInput(
            "This is not a block id.", hint="Give the id of a block (blk_…), or none.", field="block_id"
        )

    def run(tx: Tx) -> tuple[str, MemberData]:
        row = require_document(tx, actor, document_id, Right.READ)
        return row.project_id, projects.member_data(tx, row.project_id, actor.user_id)

    project_id, member = await services.db.read(run)
    writes = typing and allows(Role(member.role), Right.EDIT)
    services.presence.move_to(document_id, project_id, member, block_id, typing=writes)


async def leave_document(services: Services, actor: Actor, document_id: str) -> None:
    """The actor closed a document. Repeating is harmless."""
    await services.db.read(require_document, actor, document_id, Right.READ)
    services.presence.leave_document(document_id, actor.user_id)


async def read_document_presence(services: Services, actor: Actor, document_id: str) -> EphemeralPresence:
    """The users who have a document open, their blocks, and who is typing."""
    row = await services.db.read(require_document, actor, document_id, Right.READ)
    return services.presence.present(document_id).model_copy(update={"project_id": row.project_id})
