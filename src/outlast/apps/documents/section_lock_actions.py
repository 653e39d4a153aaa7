"""Who keeps a section of a document for themselves: read, take, release, request, hand over."""

from outlast.apps.documents import section_locks as locking
from outlast.apps.documents.rows import SectionRow
from outlast.apps.documents.tables import sections
from outlast.base.errors import Forbidden, NotFound
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.locks.shapes import LockData
from outlast.kernel.locks.store import shown_lock
from outlast.kernel.projects.permissions import require_owned, role_of
from outlast.kernel.projects.rules import Right, allows
from outlast.kernel.services import Services, in_read, in_write


@in_read
def read_section_lock(tx: Tx, actor: Actor, section_id: str) -> LockData | None:
    """Who keeps a section, expired or not; None: nobody."""
    _section(tx, actor, section_id, Right.READ)
    return shown_lock(tx, section_id)


async def take_section_lock(services: Services, actor: Actor, section_id: str) -> LockData:
    """Keep a section (editors): a free lock is acquired, one's own refreshed, an expired one taken over. Raises
    `SectionLocked`, naming the holder and the expiry."""

    def run(tx: Tx) -> LockData:
        row = _section(tx, actor, section_id, Right.EDIT)
        return locking.take(tx, row, actor, services.settings.locks.ttl_s)

    return await services.db.write(run)


@in_write
def release_section_lock(tx: Tx, actor: Actor, section_id: str) -> None:
    """Stop keeping a section (editors). Repeating is harmless. Raises `SectionLocked` for somebody else's lock."""
    locking.release(tx, _section(tx, actor, section_id, Right.EDIT), actor)


@in_write
def request_section_lock(tx: Tx, actor: Actor, section_id: str) -> LockData:
    """Ask the one who keeps a section for it (editors). Raises `LockNotHeld` where there is nobody to ask."""
    return locking.request(tx, _section(tx, actor, section_id, Right.EDIT), actor)


async def hand_over_section_lock(services: Services, actor: Actor, section_id: str, user_id: str) -> LockData:
    """Give one's section to another member, who may edit. Raises `LockNotHeld`, `NotFound` and `Forbidden` about the
    other member."""

    def run(tx: Tx) -> LockData:
        row = _section(tx, actor, section_id, Right.EDIT)
        role = role_of(tx, user_id, row.project_id)
        if role is None:
            raise NotFound("This person is not a member of the section's project.", user_id=user_id)
        if not allows(role, Right.EDIT):
            raise Forbidden(f"This person is a {role.value} and cannot edit.", user_id=user_id, role=role.value)
        return locking.hand_over(tx, row, actor, user_id, services.settings.locks.ttl_s)

    return await services.db.write(run)


def _section(tx: Tx, actor: Actor, section_id: str, right: Right) -> SectionRow:
    return require_owned(tx, actor, SectionRow, sections, "section", section_id, right)
