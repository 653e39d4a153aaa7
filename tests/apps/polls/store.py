"""Polls in the database. First argument: the open transaction."""

from datetime import datetime
from typing import Any, NamedTuple

import sqlalchemy as sa

from outlast.base.clock import iso
from outlast.base.errors import NotFound
from outlast.db.database import Tx
from outlast.kernel.mentions.inbox_items import InboxItem, InboxPart, Waiting
from outlast.kernel.projects.tables import members
from outlast.kernel.streams.log_store import append
from tests.apps.polls.shapes import PollData
from tests.apps.polls.tables import polls


class PollRow(NamedTuple):
    id: str
    project_id: str
    thread_id: str
    title: str
    options: list[str]
    votes: dict[str, str]
    created_at: datetime

    def data(self) -> PollData:
        return PollData(**{name: getattr(self, name) for name in PollData.model_fields})


def poll_of(tx: Tx, **key: str) -> PollData:
    """The poll with this `id` or `thread_id`. Raises `NotFound`."""
    row = tx.find(PollRow, polls, key)
    if row is None:
        raise NotFound("There is no such poll.")
    return row.data()


def polls_of_project(tx: Tx, project_id: str) -> list[PollData]:
    """Oldest first."""
    found = sa.select(polls).where(polls.c.project_id == project_id).order_by(polls.c.id)
    return [row.data() for row in tx.rows(PollRow, found)]


def change(tx: Tx, poll_id: str, **values: Any) -> PollData:
    """Change columns of a poll, and tell its project how it is now."""
    if values:
        tx.update(polls, {"id": poll_id}, **values)
    data = poll_of(tx, id=poll_id)
    append(tx, data.project_id, [("poll.changed", data)])
    return data


def waiting(tx: Tx, user_id: str, project_id: str | None, part: InboxPart | None) -> list[Waiting]:
    """Polls with options in which the user has not voted (`InboxSource`)."""
    mine = (members.c.project_id == polls.c.project_id) & (members.c.user_id == user_id)
    found = sa.select(polls).join(members, mine)
    if project_id is not None:
        found = found.where(polls.c.project_id == project_id)
    if part is not None:
        found = part.of(found, polls.c.created_at, polls.c.id)
    waits = [row for row in tx.rows(PollRow, found) if row.options and user_id not in row.votes]
    return [
        (at, InboxItem(kind="poll", id=poll_id, project_id=project, text=title, created_at=iso(at)))
        for poll_id, project, _, title, *_, at in waits
    ]
