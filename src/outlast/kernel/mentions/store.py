"""Mentions in the database. First argument: the open transaction.

Functions that change something return the inbox changes; the caller appends them to the project's log as
`inbox.changed`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Final, Literal, NamedTuple

import sqlalchemy as sa

from outlast.base.errors import NotFound
from outlast.base.ids import new_id
from outlast.base.records import dataclass
from outlast.db.database import Tx
from outlast.kernel.accounts.tables import users
from outlast.kernel.apps import registry
from outlast.kernel.inbox.shapes import InboxChanged
from outlast.kernel.mentions.inbox_items import InboxItem, InboxPart, Kind, Waiting, came, went
from outlast.kernel.mentions.ports import COMMENTS, CommentPlace
from outlast.kernel.mentions.rows import MentionRow
from outlast.kernel.mentions.rules import Named, find_names, one_line, still_chosen
from outlast.kernel.mentions.tables import mentions
from outlast.kernel.projects.tables import members
from outlast.kernel.row_shapes import shape_of
from outlast.kernel.threads.tables import threads

Source = Literal["message", "comment", "assigned"]

_MEMBERS: Final = (
    sa.select(users.c.id, users.c.name)
    .join(members, members.c.user_id == users.c.id)
    .where(members.c.project_id == sa.bindparam("project"))
    .order_by(users.c.id)
)
_by = users.alias("mentioned_by")
_SHOWN: Final = (
    sa.select(mentions, _by.c.name.label("by_name"), threads.c.title.label("thread_title"))
    .select_from(mentions)
    .outerjoin(_by, _by.c.id == mentions.c.by)
    .outerjoin(threads, threads.c.id == mentions.c.thread_id)
)
_WAITING: Final = mentions.c.read_at.is_(None)


@dataclass(frozen=True, slots=True)
class Where:
    """The place in which users are named: a message of a thread, or a comment on a document."""

    project_id: str
    source: Source
    source_id: str
    text: str
    by: str | None
    thread_id: str | None = None
    document_id: str | None = None


class _Member(NamedTuple):
    id: str
    name: str


def named_in(tx: Tx, project_id: str, text: str, chosen: Sequence[str] = ()) -> Named:
    """The members of the project that a text names. Queries the database only if the text may name one."""
    if "@" not in text and not chosen:
        return Named()
    rows = tx.rows(_Member, _MEMBERS, {"project": project_id})
    return find_names(text, rows, chosen)


def named_anew(tx: Tx, project_id: str, before: str, text: str, named: Sequence[str]) -> Named:
    """The users that a rewritten text names. It was `before`, and named these users then: picked users stay picked."""
    old, new = named_in(tx, project_id, before), named_in(tx, project_id, text)
    return named_in(tx, project_id, text, still_chosen(named, old.users, new.users))


class _ShownMention(NamedTuple):
    mention: MentionRow
    by_name: str | None
    thread_title: str | None


def tell(tx: Tx, where: Where, user_ids: Iterable[str]) -> list[InboxChanged]:
    """Add a waiting row for each newly named user but the author. Returns the inbox changes."""
    known = set(tx.execute(sa.select(mentions.c.user_id).where(*_at(where.source, where.source_id))).scalars())
    fresh = {new_id("mention"): one for one in dict.fromkeys(user_ids) if one not in known | {where.by}}
    there = {**asdict(where), "text": one_line(where.text), "created_at": tx.now}
    tx.insert_many(mentions, [{**there, "id": mention_id, "user_id": one} for mention_id, one in fresh.items()])
    rows = tx.rows(_ShownMention, _SHOWN.where(mentions.c.id.in_(list(fresh))).order_by(mentions.c.id))
    return [came(item, fresh[item.id]) for item in _items(tx, rows)]


def withdraw(tx: Tx, source: Source, source_id: str, keep: Iterable[str] = ()) -> list[InboxChanged]:
    """Remove the mentions at a source except those of `keep`. Returns the inbox changes of those that still waited."""
    return _removed(tx, *_at(source, source_id), mentions.c.user_id.not_in(list(keep)))


def forget(tx: Tx, where: Literal["thread_id", "document_id", "source_id"], *ids: str) -> list[InboxChanged]:
    """Remove the mentions in deleted threads, in deleted documents with their comments, or in deleted messages and
    comments. Returns the inbox changes."""
    return _removed(tx, mentions.c[where].in_(ids))


def mention_of(tx: Tx, mention_id: str, user_id: str) -> MentionRow:
    """A user's mention. Raises `NotFound`, also for another user's."""
    row = tx.find(MentionRow, mentions, {"id": mention_id, "user_id": user_id})
    if row is None:
        raise NotFound("There is no such mention of you.", noun="mention", id=mention_id)
    return row


class _ChangedMention(NamedTuple):
    project_id: str
    user_id: str
    source: str
    read_at: datetime | None


_CHANGED: Final = [mentions.c[name] for name in _ChangedMention._fields]


def read(
    tx: Tx, user_id: str, *, mention_id: str | None = None, thread_id: str | None = None, source_ids: Sequence[str] = ()
) -> list[tuple[str, InboxChanged]]:
    """Mark one mention, or all in a thread or in these comments, as seen by the user; assigned comments keep waiting.
    Returns the inbox changes, each with its project."""
    seen = sa.or_(mentions.c.id == (mention_id or ""), _named_in(thread_id, source_ids))
    mine = sa.update(mentions).where(mentions.c.user_id == user_id, _WAITING, seen)
    rows = tx.rows(_ChangedMention, mine.values(read_at=tx.now).returning(*_CHANGED))
    news = {(row.project_id, _kind(row.source)) for row in rows}
    return [(project_id, went(kind, user_id)) for project_id, kind in sorted(news)]


def anything_waits(tx: Tx, user_id: str, *, thread_id: str | None = None, source_ids: Sequence[str] = ()) -> bool:
    """True if the user has unseen mentions there. Reads only: most users who open a place have none."""
    there = sa.select(mentions.c.id).where(mentions.c.user_id == user_id, _WAITING, _named_in(thread_id, source_ids))
    return tx.execute(there.limit(1)).first() is not None


def waiting(tx: Tx, user_id: str, project_id: str | None, part: InboxPart | None = None) -> list[Waiting]:
    """The user's unseen mentions and assigned comments in one project (None for all that they are still a member of),
    or a part of them, if given."""
    still = (members.c.project_id == mentions.c.project_id) & (members.c.user_id == user_id)
    mine = _SHOWN.join(members, still).where(mentions.c.user_id == user_id, _WAITING)
    if project_id is not None:
        mine = mine.where(mentions.c.project_id == project_id)
    if part is not None:
        mine = part.of(mine, mentions.c.created_at, mentions.c.id)
    rows = tx.rows(_ShownMention, mine)
    return [(row.mention.created_at, item) for row, item in zip(rows, _items(tx, rows), strict=True)]


def _named_in(thread_id: str | None, source_ids: Sequence[str]) -> sa.ColumnElement[bool]:
    """Mentions in a thread or in these comments, without assigned comments: seeing one does not finish it."""
    in_thread = mentions.c.thread_id == thread_id if thread_id is not None else sa.false()
    in_comments = mentions.c.source_id.in_(list(source_ids)) if source_ids else sa.false()
    return sa.or_(in_thread, in_comments) & (mentions.c.source != "assigned")


def _removed(tx: Tx, *which: sa.ColumnElement[bool]) -> list[InboxChanged]:
    rows = tx.rows(_ChangedMention, sa.delete(mentions).where(*which).returning(*_CHANGED))
    news = {(row.user_id, _kind(row.source)) for row in rows if row.read_at is None}
    return [went(kind, user_id) for user_id, kind in sorted(news)]


def _at(source: Source, source_id: str) -> tuple[sa.ColumnElement[bool], sa.ColumnElement[bool]]:
    return mentions.c.source == source, mentions.c.source_id == source_id


def _kind(source: str) -> Kind:
    return "assigned" if source == "assigned" else "mention"


def _items(tx: Tx, rows: Sequence[_ShownMention]) -> list[InboxItem]:
    of_comments = [row.mention.id for row in rows if row.mention.source != "message"]
    places = registry.implementation(COMMENTS).places(tx, of_comments) if of_comments else {}
    return [_item(row, places.get(row.mention.id, CommentPlace())) for row in rows]


def _item(row: _ShownMention, place: CommentPlace) -> InboxItem:
    mention = row.mention
    of_message = mention.source == "message"
    return shape_of(
        InboxItem,
        mention,
        place,
        kind=_kind(mention.source),
        by_name=row.by_name,
        thread_id=mention.thread_id or place.thread_id,
        thread_title=row.thread_title or place.thread_title,
        message_id=mention.source_id if of_message else None,
        comment_id=None if of_message else mention.source_id,
    )
