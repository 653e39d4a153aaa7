"""Comments in the database, and their events. First argument: the open transaction.

A comment keeps its place even when that place is gone (`orphaned`): a restore may bring it back. To
change one, hold its document's row, before its thread's and its project's.
"""

from collections.abc import Collection, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any, Final, Literal, NamedTuple

import sqlalchemy as sa

from outlast.apps.documents import store
from outlast.apps.documents.comments.comment_anchors import WHOLE_DOCUMENT, Anchor, Content, place
from outlast.apps.documents.comments.shapes import CommentChanged, CommentData, CommentDeleted, Quote
from outlast.apps.documents.rows import CommentRow
from outlast.apps.documents.tables import blocks, comments, sections
from outlast.base.errors import NotFound
from outlast.base.ids import new_id
from outlast.db.database import R, Tx
from outlast.kernel.accounts.tables import users
from outlast.kernel.lists import Listed
from outlast.kernel.mentions import store as mentions
from outlast.kernel.mentions.rules import AGENT
from outlast.kernel.mentions.store import Where
from outlast.kernel.row_shapes import shape_of
from outlast.kernel.streams.log_store import append

Status = Literal["open", "resolved", "all"]
ChangeName = Literal["comment.created", "comment.updated"]
FEW: Final = 500

_writer, _solver, _keeper = (users.alias(f"comment_{name}") for name in ("by", "resolved_by", "assigned_to"))
_parent = comments.alias("answered")
_SELECT: Final = (
    sa.select(
        comments,
        sections.c.id.label("live_section"),
        blocks.c.id.label("live_block"),
        _writer.c.name.label("by_name"),
        _solver.c.name.label("resolved_by_name"),
        _keeper.c.name.label("assigned_name"),
    )
    .select_from(comments)
    .outerjoin(sections, (sections.c.id == comments.c.section_id) & (sections.c.document_id == comments.c.document_id))
    .outerjoin(blocks, (blocks.c.id == comments.c.block_id) & (blocks.c.document_id == comments.c.document_id))
    .outerjoin(_writer, _writer.c.id == comments.c.by)
    .outerjoin(_solver, _solver.c.id == comments.c.resolved_by)
    .outerjoin(_keeper, _keeper.c.id == comments.c.assigned_to)
)
_ONE: Final = _SELECT.where(comments.c.id == sa.bindparam("comment"))
_HOLD: Final = sa.select(comments).where(comments.c.id == sa.bindparam("comment")).with_for_update(key_share=True)
_ANCHORED: Final = sa.select(comments).where(
    comments.c.document_id == sa.bindparam("document"), comments.c.section_id.is_not(None)
)


def add(
    tx: Tx,
    *,
    anchor: Anchor = WHOLE_DOCUMENT,
    linked_sections: Sequence[str] = (),
    mentions: Sequence[str] = (),
    **own: str | None,
) -> str:
    """Add a comment and return its id. `own`: `document_id`, `project_id`, `by` (the user who writes it), `body` and,
    for a reply, which has no place of its own, `parent_id`. Not announced yet."""
    comment_id = new_id("comment")
    tx.insert(
        comments,
        id=comment_id,
        **own,
        **_columns(anchor),
        linked_sections=list(linked_sections),
        mentions=list(mentions),
        status="open",
        created_at=tx.now,
        updated_at=tx.now,
    )
    return comment_id


def hold(tx: Tx, comment_id: str) -> CommentRow:
    """The comment's row, held until the transaction ends. Raises `NotFound`."""
    return _found(tx.row(CommentRow, _HOLD, {"comment": comment_id}), comment_id)


class ShownComment(NamedTuple):
    comment: CommentRow
    live_section: str | None
    live_block: str | None
    by_name: str | None
    resolved_by_name: str | None
    assigned_name: str | None


def comment_data(tx: Tx, comment_id: str) -> CommentData:
    """The comment as lists and events show it. Raises `NotFound`."""
    return _data(_found(find_comment(tx, comment_id), comment_id))


def find_comment(tx: Tx, comment_id: str) -> ShownComment | None:
    """The comment with the names of people, or None if it is gone."""
    return tx.row(ShownComment, _ONE, {"comment": comment_id})


def list_comments(tx: Tx, document_id: str, status: Status, after: str | None, limit: int) -> Listed[CommentData, str]:
    """At most `limit` of a document's comments and their replies in the order of creation, those after
    the id `after`. Replies have the status of the comment they reply to."""
    chosen = _SELECT.outerjoin(_parent, _parent.c.id == comments.c.parent_id)
    chosen = chosen.where(comments.c.document_id == document_id)
    if status != "all":
        chosen = chosen.where(sa.func.coalesce(_parent.c.status, comments.c.status) == status)
    if after is not None:
        chosen = chosen.where(comments.c.id > after)
    rows = tx.rows(ShownComment, chosen.order_by(comments.c.id).limit(limit + 1))
    return Listed([_data(row) for row in rows[:limit]], rows[limit - 1].comment.id if len(rows) > limit else None)


def answers_to(tx: Tx, comment_id: str) -> list[str]:
    """The ids of a comment's replies, in the order of creation."""
    mine = sa.select(comments.c.id).where(comments.c.parent_id == comment_id).order_by(comments.c.id)
    return list(tx.execute(mine).scalars())


def last_answers(tx: Tx, comment_id: str, until: datetime, limit: int) -> list[ShownComment]:
    """At most `limit` of the latest replies to a comment that were written until then, oldest first."""
    mine = _SELECT.where(comments.c.parent_id == comment_id, comments.c.created_at <= until)
    return tx.rows(ShownComment, mine.order_by(comments.c.created_at.desc(), comments.c.id.desc()).limit(limit))[::-1]


def update(tx: Tx, comment_id: str, **values: Any) -> None:
    """Set columns of a comment and its time of change. Not announced yet."""
    tx.update(comments, {"id": comment_id}, **values, updated_at=tx.now)


def announce(tx: Tx, comment_id: str, event: ChangeName = "comment.updated", *, by: str | None = None) -> None:
    """Send the comment as it is now to the followers of its project; `by`: who changed it. Raises `NotFound`."""
    data = comment_data(tx, comment_id)
    append(tx, data.project_id, [(event, CommentChanged(comment=data, by=by))])


def where_of(row: CommentRow, by: str | None, source: Literal["comment", "assigned"] = "comment") -> Where:
    """A comment as a place that mentions users."""
    return Where(row.project_id, source, row.id, row.body, by, document_id=row.document_id)


def set_status(tx: Tx, comment_id: str, status: Literal["open", "resolved"], by: str) -> bool:
    """Resolve a comment with its replies, or reopen it, and announce it; it leaves its assignee's inbox, or returns
    there. False if it is gone or has that status already; then nothing is announced."""
    row = tx.row(CommentRow, _HOLD, {"comment": comment_id})
    if row is None or row.status == status:
        return False
    if status == "resolved":
        update(tx, comment_id, status=status, resolved_by=by, resolved_at=tx.now)
        news = mentions.withdraw(tx, "assigned", comment_id)
    else:
        update(tx, comment_id, status=status, resolved_by=None, resolved_at=None)
        people = [] if row.assigned_to in (None, AGENT) else [row.assigned_to]
        news = mentions.tell(tx, where_of(row, by, "assigned"), people)
    announce(tx, comment_id, by=by)
    store.announce(tx, row.document_id, by=by)
    store.tell_inbox(tx, row.project_id, news)
    return True


def delete(tx: Tx, row: CommentRow, by: str) -> None:
    """Remove a comment with its replies, and announce it."""
    news = mentions.forget(tx, "source_id", row.id, *answers_to(tx, row.id))
    tx.execute(sa.delete(comments).where(comments.c.id == row.id))
    event = CommentDeleted(comment_id=row.id, document_id=row.document_id)
    append(tx, row.project_id, [("comment.deleted", event)])
    if row.parent_id is None:
        store.announce(tx, row.document_id, by=by)
    store.tell_inbox(tx, row.project_id, news)


def leave_thread(tx: Tx, thread_id: str) -> list[str]:
    """Detach these comments from their conversation, which is about to be deleted. Returns their ids, to be announced
    after the deletion."""
    about = tx.rows(CommentRow, sa.select(comments).where(comments.c.thread_id == thread_id).order_by(comments.c.id))
    for document_id in sorted({one.document_id for one in about}):
        store.hold(tx, document_id)
    for one in about:
        row = hold(tx, one.id)
        left = None if row.assigned_to == AGENT else row.assigned_to
        update(tx, one.id, thread_id=None, assigned_to=left)
    return [one.id for one in about]


def content_of(tx: Tx, document_id: str, touched: Collection[str] = ()) -> Content:
    """The current content that comments can be on. `touched`: see `Content`."""
    tree = store.tree(tx, document_id)
    blocks_of = [(block.id, block.section_id, block.markdown) for block in tree.blocks()]
    return Content([section.id for section in tree.sections], blocks_of, touched)


def reanchor(tx: Tx, document_id: str, touched: Collection[str]) -> None:
    """Locate the comments again after a document changed. `touched` are the ids of the sections and blocks that
    changed, moved, came or went. Comments whose place changed or was lost are announced."""
    touched = frozenset(touched)
    rows = _concerned(tx, document_id, touched)
    if not rows:
        return
    content = content_of(tx, document_id, touched)
    for row in rows:
        quote = None if row.quote is None else Quote.model_validate(row.quote)
        before = Anchor(row.section_id, row.block_id, quote, row.orphaned)
        now = place(before, content)
        if now != before:
            tx.update(comments, {"id": row.id}, **_columns(now))
        if now.shown() != before.shown():
            announce(tx, row.id)


def _concerned(tx: Tx, document_id: str, touched: frozenset[str]) -> list[CommentRow]:
    """The comments that a change may have moved: those on the touched content, and lost ones."""
    chosen = _ANCHORED
    if len(touched) <= FEW:  # the usual case: the ids fit into one query
        at = comments.c.section_id.in_(touched) | comments.c.block_id.in_(touched)
        chosen = chosen.where(comments.c.orphaned | at)
    rows = tx.rows(CommentRow, chosen, {"document": document_id})
    return [row for row in rows if row.orphaned or {row.section_id, row.block_id} & touched]


def _columns(anchor: Anchor) -> dict[str, Any]:
    return asdict(anchor) | {"quote": None if anchor.quote is None else anchor.quote.model_dump()}


def _data(row: ShownComment) -> CommentData:
    return shape_of(CommentData, row.comment, row, section_id=row.live_section, block_id=row.live_block)


def _found(row: R | None, comment_id: str) -> R:
    if row is None:
        raise NotFound("This comment no longer exists.", noun="comment", id=comment_id)
    return row
