"""One item of an inbox, and a page of the inbox."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, Literal

import sqlalchemy as sa
from pydantic import ConfigDict

from outlast.base.records import dataclass
from outlast.db.database import Tx
from outlast.kernel.http.shapes import Answer
from outlast.kernel.inbox.shapes import InboxChanged

Kind = Literal["approval", "question", "proposal", "handover", "mention", "assigned", "schedule"]
INBOX: Literal["inbox.changed"] = "inbox.changed"


class InboxItem(Answer):
    """One thing that waits for the reader. `id` is the approval's, question's, proposal's, mention's or schedule's, or
    that of the thread or section whose lock is asked for. `text` is the request in one line, `by` the user who asks.
    The rest is the place: a message of a thread, a comment, a section or block of a document."""

    kind: str
    id: str
    project_id: str
    text: str
    created_at: str
    by: str | None = None
    by_name: str | None = None
    thread_id: str | None = None
    thread_title: str | None = None
    message_id: str | None = None
    run_id: str | None = None
    tool: str | None = None
    document_id: str | None = None
    document_title: str | None = None
    section_id: str | None = None
    block_id: str | None = None
    comment_id: str | None = None


class InboxItemAnswer(InboxItem):
    """An item that waits for you, and its place."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=True)

    kind: Kind


Waiting = tuple[datetime, InboxItem]  # an item and the time since which it waits, by which an inbox is sorted


@dataclass(frozen=True, slots=True)
class InboxPart:
    """At most `limit` items, newest first: those after the moment and id of `before`, if given."""

    limit: int
    before: tuple[datetime, str] | None = None

    def of(
        self, query: "sa.Select[Any]", moment: sa.ColumnElement[datetime], item_id: sa.ColumnElement[str]
    ) -> "sa.Select[Any]":
        """The query, cut to this part: `moment` and `item_id` are its columns of those names."""
        if self.before is not None:
            at, last = self.before
            query = query.where(sa.or_(moment < at, sa.and_(moment == at, item_id < last)))
        return query.order_by(moment.desc(), item_id.desc()).limit(self.limit)


InboxSource = Callable[[Tx, str, str | None, InboxPart | None], list[Waiting]]
"""From the open transaction, a user's id, a project (None for all of theirs) and a part to the user's waiting items."""


def came(item: InboxItem, user_id: str | None) -> InboxChanged:
    """The event that this item now waits for one user (None for all who may decide)."""
    return InboxChanged.model_validate({"user_id": user_id, "kind": item.kind, "item": item.model_dump()})


def went(kind: Kind, user_id: str | None) -> InboxChanged:
    """The event that an item of this kind no longer waits."""
    return InboxChanged(user_id=user_id, kind=kind)
