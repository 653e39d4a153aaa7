"""Who keeps a section for themselves: its lock, changed while the document's row is held, told in the project's log.

The rules and the table are those of thread locks. No run keeps a section: a lock is kept by its holder's edits, each of
which renews it, and ends by hand, by hand-over or by expiry.
"""

from collections.abc import Iterable

import sqlalchemy as sa

from outlast.base.events import LockChanged, LockData
from outlast.core.accounts.actor import Actor
from outlast.core.documents import store
from outlast.core.locks import store as locks
from outlast.core.locks.rules import Change
from outlast.core.streams.log import append
from outlast.db.database import Tx
from outlast.db.tables import documents, members, sections, users
from outlast.db.tables import locks as locks_table


def take(tx: Tx, section: sa.RowMapping, actor: Actor, ttl_s: float) -> LockData:
    """The actor keeps the section: a free lock is acquired, one's own refreshed, an expired one taken over. Raises
    `SectionLocked`, naming the holder and the expiry."""
    store.hold(tx, section["document_id"])
    change = locks.acquire(tx, section["id"], section["project_id"], actor.user_id, ttl_s)
    # A refresh has no name of its own among the events: it is told as what it is, the holder's lock with a later end.
    return _told(tx, section, "acquired" if change == "refreshed" else change)


def release(tx: Tx, section: sa.RowMapping, actor: Actor) -> None:
    """The actor lets go. Repeating is harmless. Raises `SectionLocked` for somebody else's lock."""
    store.hold(tx, section["document_id"])
    if locks.release(tx, section["id"], actor.user_id) is not None:
        _tell(tx, section, "released", None)


def request(tx: Tx, section: sa.RowMapping, actor: Actor) -> LockData:
    """The actor asks the holder for the lock. Raises `LockNotHeld` where there is nobody to ask."""
    store.hold(tx, section["document_id"])
    locks.request(tx, section["id"], actor.user_id)
    return _told(tx, section, "requested")


def hand_over(tx: Tx, section: sa.RowMapping, actor: Actor, to_user_id: str, ttl_s: float) -> LockData:
    """The actor gives the lock to another member (who must be allowed to edit: the caller checks). Raises
    `LockNotHeld`."""
    store.hold(tx, section["document_id"])
    locks.hand_over(tx, section["id"], actor.user_id, to_user_id, ttl_s)
    return _told(tx, section, "handed_over")


def demand_free(tx: Tx, section_ids: Iterable[str], user_id: str, ttl_s: float) -> None:
    """Raise `SectionLocked` where somebody else keeps one of these sections. The user's own locks are renewed."""
    wanted = sorted(section_ids)
    for section_id in locks.locks_of(tx, wanted):
        lock = locks.find_lock(tx, section_id)
        locks.demand(tx, section_id, user_id)
        if lock is not None and lock.holder_id == user_id:
            locks.renew(tx, section_id, ttl_s)


def drop_all(tx: Tx, section_ids: Iterable[str]) -> None:
    """The sections are gone: nobody keeps them any more. Not told: whoever hears that they are gone knows."""
    for section_id in section_ids:
        locks.drop(tx, section_id)


def release_all(tx: Tx, project_id: str, user_id: str) -> None:
    """Somebody leaves the project: whatever they kept there is free."""
    kept = locks.held_by(tx, project_id, user_id, "section")
    for section_id in kept:
        row = tx.find(sections, {"id": section_id})
        locks.drop(tx, section_id)
        if row is not None:
            _tell(tx, row, "released", None)


def requests_for(tx: Tx, user_id: str, project_id: str | None = None) -> list[sa.RowMapping]:
    """Sections that this user keeps and somebody else asks for (in one project, or in all of the user's): section_id,
    heading, document_id, title, project_id, requested_at, requested_by, name of who asks. For the inbox."""
    mine = (members.c.project_id == documents.c.project_id) & (members.c.user_id == user_id)
    found = (
        sa.select(
            sections.c.id.label("section_id"),
            sections.c.heading,
            sections.c.document_id,
            documents.c.title,
            documents.c.thread_id,
            documents.c.project_id,
            locks_table.c.requested_at,
            locks_table.c.requested_by,
            users.c.name,
        )
        .select_from(locks_table.join(sections, sections.c.id == locks_table.c.resource_id))
        .join(documents, documents.c.id == sections.c.document_id)
        .join(users, users.c.id == locks_table.c.requested_by)
        .join(members, mine & members.c.role.in_(["owner", "editor"]))
        .where(locks_table.c.resource_type == "section", locks_table.c.holder_id == user_id)
    )
    if project_id is not None:
        found = found.where(documents.c.project_id == project_id)
    return tx.all(found)


def _told(tx: Tx, section: sa.RowMapping, change: Change) -> LockData:
    shown = locks.shown_lock(tx, section["id"])
    assert shown is not None  # it was written a moment ago, in this transaction
    _tell(tx, section, change, shown)
    return shown


def _tell(tx: Tx, section: sa.RowMapping, change: Change, lock: LockData | None) -> None:
    told = LockChanged(section_id=section["id"], document_id=section["document_id"], lock=lock)
    append(tx, section["project_id"], [(f"lock.{change}", told)])
