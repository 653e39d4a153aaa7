"""The lock of a section: read, take, release, request, hand over."""

from outlast.apps.documents import section_locks as locking
from outlast.apps.documents.rows import SectionRow
from outlast.apps.documents.tables import sections
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.locks.shapes import LockData
from outlast.kernel.locks.store import shown_lock
from outlast.kernel.projects.permissions import require_editor, require_owned
from outlast.kernel.projects.rules import Right
from outlast.kernel.services import Services, in_read, in_write


@in_read
def read_section_lock(tx: Tx, actor: Actor, section_id: str) -> LockData | None:
    """The lock of a section, expired or not; None: free."""
    _section(tx, actor, section_id, Right.READ)
    return shown_lock(tx, section_id)


async def take_section_lock(services: Services, actor: Actor, section_id: str) -> LockData:
    """Lock a section (editors): acquire a free lock, refresh one's own, take over an expired one. Raises
    `SectionLocked`, naming the holder and the expiry."""

    def run(tx: Tx) -> LockData:
        row = _section(tx, actor, section_id, Right.EDIT)
        return locking.take(tx, row, actor, services.settings.locks.ttl_s)

    return await services.db.write(run)


@in_write
def release_section_lock(tx: Tx, actor: Actor, section_id: str) -> None:
    """Release a section's lock (editors). Repeating is harmless. Raises `SectionLocked` for another user's lock."""
    locking.release(tx, _section(tx, actor, section_id, Right.EDIT), actor)


@in_write
def request_section_lock(tx: Tx, actor: Actor, section_id: str) -> LockData:
    """Ask the holder of a section's lock for it (editors). Raises `LockNotHeld` if nobody else holds it."""
    return locking.request(tx, _section(tx, actor, section_id, Right.EDIT), actor)


async def hand_over_section_lock(services: Services, actor: Actor, section_id: str, user_id: str) -> LockData:
    """Hand one's lock over to another member, who may edit. Raises `LockNotHeld`, `NotFound` and `Forbidden` about the
    other member."""

    def run(tx: Tx) -> LockData:
        row = _section(tx, actor, section_id, Right.EDIT)
        require_editor(tx, user_id, row.project_id, "section", "edit")
        return locking.hand_over(tx, row, actor, user_id, services.settings.locks.ttl_s)

    return await services.db.write(run)


def _section(tx: Tx, actor: Actor, section_id: str, right: Right) -> SectionRow:
    return require_owned(tx, actor, SectionRow, sections, "section", section_id, right)
