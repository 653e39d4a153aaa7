"""Locks of sections: read, take, release, request, hand over. Changes hold the document's row, with events
in the project's log.

The rules and the table are those of thread locks. No run holds a section: each edit by the holder renews the lock, and
it ends by release, hand-over or expiry.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

import sqlalchemy as sa

from outlast.apps.documents import store
from outlast.apps.documents.rows import SectionRow
from outlast.apps.documents.tables import documents, sections
from outlast.base.clock import iso
from outlast.base.errors import NotFound
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.accounts.tables import users
from outlast.kernel.inbox.shapes import InboxChanged
from outlast.kernel.locks import store as locks
from outlast.kernel.locks.rules import Change, Lock
from outlast.kernel.locks.shapes import LockChanged, LockData
from outlast.kernel.locks.tables import locks as locks_table
from outlast.kernel.locks.thread_locks import tell_unasked
from outlast.kernel.mentions.inbox_items import INBOX, InboxItem, InboxPart, Waiting, came, went
from outlast.kernel.mentions.rules import one_line
from outlast.kernel.projects.permissions import require_editor, require_owned
from outlast.kernel.projects.rules import Right
from outlast.kernel.projects.tables import members
from outlast.kernel.services import Services, in_read, in_write
from outlast.kernel.streams.log_store import append


def read(tx: Tx, actor: Actor, section_id: str) -> LockData | None:
    """The lock of a section, expired or not, or None if it is free."""
    _require(tx, actor, section_id, Right.READ)
    return locks.shown_lock(tx, section_id)


def take(tx: Tx, actor: Actor, section_id: str, ttl_s: float) -> LockData:
    """Lock a section (editors): acquire a free lock, refresh your own, take over an expired one. Raises
    `SectionLocked`, naming the holder and the expiry."""
    section = _hold(tx, _require(tx, actor, section_id, Right.EDIT))
    change, before = locks.acquire(tx, section.id, section.project_id, actor.user_id, ttl_s)
    # A refresh has no event of its own: followers get the holder's lock with its later end.
    shown = _told(tx, section, "acquired" if change == "refreshed" else change)
    if change != "refreshed":
        tell_unasked(tx, section.project_id, before)
    return shown


def release(tx: Tx, actor: Actor, section_id: str) -> None:
    """Release a section's lock (editors). Repeating is harmless. Raises `SectionLocked` for another user's lock."""
    section = _hold(tx, _require(tx, actor, section_id, Right.EDIT))
    released = locks.release(tx, section.id, actor.user_id)
    if released is not None:
        _tell(tx, section, "released", None)
        tell_unasked(tx, section.project_id, released)


def request(tx: Tx, actor: Actor, section_id: str) -> LockData:
    """Ask the holder of a section's lock for it (editors). Raises `LockNotHeld` if no other user holds it."""
    section = _hold(tx, _require(tx, actor, section_id, Right.EDIT))
    locks.request(tx, section.id, actor.user_id)
    shown = _told(tx, section, "requested")
    for _, asked in waiting(tx, shown.holder_id, section_id=section.id):
        append(tx, section.project_id, [(INBOX, came(asked, shown.holder_id))])
    return shown


def hand_over(tx: Tx, actor: Actor, section_id: str, to_user_id: str, ttl_s: float) -> LockData:
    """Hand your lock over to another member, who must be an editor. Raises `LockNotHeld`, and `NotFound` and
    `Forbidden` about the other member."""
    section = _require(tx, actor, section_id, Right.EDIT)
    require_editor(tx, to_user_id, section.project_id, "section", "edit")
    _hold(tx, section)
    before = locks.hand_over(tx, section.id, actor.user_id, to_user_id, ttl_s)
    shown = _told(tx, section, "handed_over")
    tell_unasked(tx, section.project_id, before)
    return shown


def demand_free(tx: Tx, section_ids: Iterable[str], user_id: str, ttl_s: float) -> None:
    """Raise `SectionLocked` if another user holds one of these sections. The user's own locks are renewed."""
    wanted = sorted(section_ids)
    for section_id in wanted if len(wanted) <= store.FEW else locks.locks_of(tx, wanted):
        lock = locks.find_lock(tx, section_id)
        locks.demand(tx, section_id, user_id)
        if lock is not None and lock.holder_id == user_id:
            locks.renew(tx, section_id, ttl_s)


def drop_all(tx: Tx, section_ids: Sequence[str]) -> list[InboxChanged]:
    """Remove the locks of deleted sections. Not announced, because the sections are. Returns the changes of the inboxes
    in which a request for one of them waited."""
    held = locks.locks_of(tx, section_ids)
    for section_id in held:
        locks.drop(tx, section_id)
    asked = {lock.holder_id for lock in held.values() if lock.requested_by is not None}
    return [went("handover", holder_id) for holder_id in sorted(asked)]


def drop_held(tx: Tx, project_id: str, user_id: str) -> list[tuple[SectionRow, Lock | None]]:
    """Remove the locks of a user who leaves the project. Returns the rows of those sections with their locks, for
    `tell_dropped`: documents are locked before threads, and these before the project's log."""
    kept = locks.held_by(tx, project_id, user_id, "section")
    found = (tx.find(SectionRow, sections, {"id": section_id}) for section_id in kept)
    rows = [row for row in found if row is not None]
    for document_id in sorted({row.document_id for row in rows}):
        store.hold(tx, document_id)
    dropped = [(row, locks.find_lock(tx, row.id)) for row in rows]
    drop_all(tx, kept)
    return dropped


def tell_dropped(tx: Tx, dropped: Iterable[tuple[SectionRow, Lock | None]]) -> None:
    """Announce that these sections are free."""
    for row, before in dropped:
        _tell(tx, row, "released", None)
        tell_unasked(tx, row.project_id, before)


class _Request(NamedTuple):
    section_id: str
    heading: str
    document_id: str
    title: str
    project_id: str
    requested_at: datetime
    requested_by: str | None
    name: str


def waiting(
    tx: Tx, user_id: str, project_id: str | None = None, part: InboxPart | None = None, *, section_id: str | None = None
) -> list[Waiting]:
    """Sections that this user holds and another user asks for: one of them, those of one project, or all of the
    user's; only `part` of them, if given."""
    mine = (members.c.project_id == documents.c.project_id) & (members.c.user_id == user_id)
    section = sections.c.id.label("section_id"), sections.c.heading, sections.c.document_id
    request = locks_table.c.requested_at, locks_table.c.requested_by, users.c.name
    found = (
        sa.select(*section, documents.c.title, documents.c.project_id, *request)
        .select_from(locks_table.join(sections, sections.c.id == locks_table.c.resource_id))
        .join(documents, documents.c.id == sections.c.document_id)
        .join(users, users.c.id == locks_table.c.requested_by)
        .join(members, mine & members.c.role.in_(["owner", "editor"]))
        .where(locks_table.c.resource_type == "section", locks_table.c.holder_id == user_id)
    )
    if project_id is not None:
        found = found.where(documents.c.project_id == project_id)
    if section_id is not None:
        found = found.where(sections.c.id == section_id)
    if part is not None:
        found = part.of(found, locks_table.c.requested_at, sections.c.id)
    return [(row.requested_at, _asked(row)) for row in tx.rows(_Request, found)]


def _asked(row: _Request) -> InboxItem:
    return InboxItem(
        kind="handover",
        id=row.section_id,
        project_id=row.project_id,
        text=f"{row.name} would like to edit the section “{one_line(row.heading, 80)}”.",
        created_at=iso(row.requested_at),
        by=row.requested_by,
        by_name=row.name,
        document_id=row.document_id,
        document_title=row.title,
        section_id=row.section_id,
    )


def _require(tx: Tx, actor: Actor, section_id: str, right: Right) -> SectionRow:
    return require_owned(tx, actor, SectionRow, sections, "section", section_id, right)


def _hold(tx: Tx, section: SectionRow) -> SectionRow:
    """Hold the section's document. Raises `NotFound` if the section was deleted since its row was read."""
    store.hold(tx, section.document_id)
    if not tx.exists(sections, {"id": section.id}):
        raise NotFound("This section no longer exists.", noun="section", id=section.id)
    return section


def _told(tx: Tx, section: SectionRow, change: Change) -> LockData:
    shown = locks.shown_lock(tx, section.id)
    assert shown is not None  # it was written a moment ago, in this transaction
    _tell(tx, section, change, shown)
    return shown


def _tell(tx: Tx, section: SectionRow, change: Change, lock: LockData | None) -> None:
    told = LockChanged(section_id=section.id, document_id=section.document_id, lock=lock)
    append(tx, section.project_id, [(f"lock.{change}", told)])


read_section_lock = in_read(read)
release_section_lock = in_write(release)
request_section_lock = in_write(request)


async def take_section_lock(services: Services, actor: Actor, section_id: str) -> LockData:
    """See `take`."""
    return await services.db.write(take, actor, section_id, services.settings.locks.ttl_s)


async def hand_over_section_lock(services: Services, actor: Actor, section_id: str, user_id: str) -> LockData:
    """See `hand_over`."""
    return await services.db.write(hand_over, actor, section_id, user_id, services.settings.locks.ttl_s)
