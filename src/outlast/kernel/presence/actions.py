"""Presence: watching and typing."""

from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.presence.board import PresenceBoard
from outlast.kernel.projects import store as projects
from outlast.kernel.projects.permissions import require_thread
from outlast.kernel.projects.rules import Right
from outlast.kernel.projects.shapes import MemberData
from outlast.kernel.services import Services, in_read
from outlast.kernel.streams.hub import Hub


async def set_typing(services: Services, actor: Actor, thread_id: str, typing: bool) -> None:
    """Show other members that the actor types (editors), for 6 s or until typing ends."""
    await services.db.read(require_thread, actor, thread_id, Right.EDIT)
    services.presence.type_in(thread_id, actor.user_id, typing)


@in_read
def watcher(tx: Tx, actor: Actor, thread_id: str) -> MemberData:
    """The actor as other members see them, for `services.presence.watching`."""
    row = require_thread(tx, actor, thread_id, Right.READ)
    return projects.member_data(tx, row.project_id, actor.user_id)


def tell_presence(presence: PresenceBoard, hub: Hub, room_id: str) -> None:
    """Send the presence of a thread or project to its followers; that of a document to the followers of its project."""
    shown = presence.present(room_id)
    hub.whisper(shown.thread_id or shown.project_id, "presence", shown, room_id)
