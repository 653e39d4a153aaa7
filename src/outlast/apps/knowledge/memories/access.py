"""Who may read and change memories, and where memory is on: the only place that decides it."""

from collections.abc import Sequence

from outlast.apps.knowledge.rows import MemoryRow
from outlast.apps.knowledge.settings import MemorySettings
from outlast.apps.knowledge.tables import memories, projects_without_memory, users_without_memory
from outlast.base.errors import Conflict, NotFound
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.library.memories import MemoryScope
from outlast.kernel.projects.permissions import require, require_owned
from outlast.kernel.projects.rules import Right
from outlast.kernel.settings import Settings


def require_scope(tx: Tx, actor: Actor, project_id: str, scope: MemoryScope, right: Right) -> None:
    """Members read the memories of their project, and editors change them. Every member has memories of their own."""
    require(tx, actor, project_id, Right.READ if scope == "person" else right)


def require_memory(tx: Tx, actor: Actor, memory_id: str) -> MemoryRow:
    """A memory that the actor may change: their own, or one of a project that they edit. Raises `NotFound`, also for
    another person's own, and `Forbidden`."""
    row = tx.find(MemoryRow, memories, {"id": memory_id})
    if row is None or (row.scope == "person" and row.user_id != actor.user_id):
        raise NotFound("There is no such memory for you.", id=memory_id)
    if row.scope == "person":
        return row
    return require_owned(tx, actor, MemoryRow, memories, "memory", memory_id, Right.EDIT)


def require_on(tx: Tx, settings: Settings, project_id: str, user_id: str) -> None:
    """Raise `Conflict` unless memory is on for the server, the project and the user."""
    is_on = switches(tx, settings, project_id, user_id)
    whose = ("on this server", "in this project", "for you")
    off = next((where for on, where in zip(is_on, whose, strict=True) if not on), None)
    if off is not None:
        raise Conflict(
            f"Memory is off {off}, so nothing is remembered.",
            hint="Turn it on where the message says: on the Memory page, or in [memory] of the configuration.",
            project_id=project_id,
        )


def switches(tx: Tx, settings: Settings, project_id: str, user_id: str) -> Sequence[bool]:
    """Whether memory is on for the server, the project and the user."""
    is_off = (
        tx.exists(projects_without_memory, {"project_id": project_id}),
        tx.exists(users_without_memory, {"user_id": user_id}),
    )
    return settings.of(MemorySettings).enabled, not is_off[0], not is_off[1]
