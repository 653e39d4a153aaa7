"""Schedules that start no runs, in the inbox of the person who made them."""

from typing import Final, NamedTuple

import sqlalchemy as sa

from outlast.base.clock import iso
from outlast.db.database import Tx
from outlast.kernel.mentions.inbox_items import INBOX, InboxItem, InboxPart, Waiting, came, went
from outlast.kernel.mentions.rules import one_line
from outlast.kernel.projects.tables import members
from outlast.kernel.schedules.rows import ScheduleRow
from outlast.kernel.schedules.tables import schedules
from outlast.kernel.streams.log_store import append

_MEMBER: Final = (members.c.project_id == schedules.c.project_id) & (members.c.user_id == schedules.c.created_by)


class _Refused(NamedTuple):
    schedule: ScheduleRow


def waiting(tx: Tx, user_id: str, project_id: str | None, part: InboxPart | None = None) -> list[Waiting]:
    """The user's schedules whose due times are refused, of one project or of all if `project_id` is None, until the
    user has seen it; only `part` of them, if set."""
    refused = schedules.c.refused_at
    found = sa.select(schedules).join(members, _MEMBER)
    found = found.where(schedules.c.created_by == user_id, refused.is_not(None), schedules.c.seen_at.is_(None))
    if project_id is not None:
        found = found.where(schedules.c.project_id == project_id)
    if part is not None:
        found = part.of(found, refused, schedules.c.id)
    rows = tx.rows(_Refused, found)
    return [(row.schedule.refused_at, _item(row.schedule)) for row in rows if row.schedule.refused_at is not None]


def tell_refused(tx: Tx, row: ScheduleRow) -> None:
    """The first refused due time of a schedule: its maker gets an inbox item."""
    append(tx, row.project_id, [(INBOX, came(_item(row), row.created_by))])


def tell_settled(tx: Tx, row: ScheduleRow) -> None:
    """Of a row as it was before: it starts runs again, was changed or deleted, or its maker has seen the item."""
    if row.refused_at is not None and row.seen_at is None:
        append(tx, row.project_id, [(INBOX, went("schedule", row.created_by))])


def _item(row: ScheduleRow) -> InboxItem:
    assert row.refused_at is not None
    return InboxItem(
        kind="schedule",
        id=row.id,
        project_id=row.project_id,
        text=one_line(f"{row.title}: {(row.problem or {}).get('message', '')}"),
        created_at=iso(row.refused_at),
        by=None,
    )
