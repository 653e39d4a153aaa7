"""One item of an inbox, and a part of the inbox."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

import sqlalchemy as sa
from pydantic import ConfigDict

from outlast.db.database import Tx
from outlast.kernel.http.shapes import Answer
from outlast.kernel.inbox.shapes import InboxChanged

Kind = Literal["approval", "question", "proposal", "handover", "mention", "assigned"]
INBOX: Literal["inbox.changed"] = "inbox.changed"


class InboxItem(Answer):
    """One thing that waits for the reader. `id` is the approval's, question's, proposal's or mention's, or that of the
    thread or section whose lock is asked for. `text` says in one line what is asked, `by` who asks. The rest is where
    to go: a message of a thread, a comment, a section or block of a document."""

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
    """Something that waits for you, and where it is."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=True)

    kind: Kind


Waiting = tuple[datetime, InboxItem]  # an item and the moment since when it waits, which orders an inbox


@dataclass(frozen=True, slots=True)
class InboxPart:
    """At most `limit` items, newest first: those that come after the moment and id of `before`, if that is given."""

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
"""Given the open transaction, a user's id, a project (None: all of theirs) and a part: what waits for the user."""


def came(item: InboxItem, user_id: str | None) -> InboxChanged:
    """News: this waits now, for one user (None: for all who may decide)."""
    return InboxChanged.model_validate({"user_id": user_id, "kind": item.kind, "item": item.model_dump()})


def went(kind: Kind, user_id: str | None) -> InboxChanged:
    """News: something of this kind does not wait any more."""
    return InboxChanged(user_id=user_id, kind=kind)
