"""Approvals and questions of runs, in the inboxes of all users who may decide, with news when one opens or closes."""

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

import orjson
import sqlalchemy as sa

from outlast.base.clock import iso
from outlast.db.database import Tx
from outlast.kernel.accounts.tables import users
from outlast.kernel.mentions.inbox_items import INBOX, InboxItem, InboxPart, Waiting, came, went
from outlast.kernel.mentions.rules import one_line
from outlast.kernel.projects.tables import members
from outlast.kernel.runs.rows import ApprovalRow
from outlast.kernel.runs.tables import approvals, runs
from outlast.kernel.runs.transcript import Run
from outlast.kernel.streams.log_store import append
from outlast.kernel.threads.tables import threads

MAX_TEXT_CHARS: Final = 300

_OPEN: Final = (
    sa.select(approvals, threads.c.title, threads.c.project_id, threads.c.document_id, runs.c.started_by, users.c.name)
    .select_from(approvals.join(threads, threads.c.id == approvals.c.thread_id))
    .join(runs, runs.c.id == approvals.c.run_id)
    .join(users, users.c.id == runs.c.started_by)
    .where(approvals.c.status == "open")
)


class _WaitingItem(NamedTuple):
    approval: ApprovalRow
    title: str
    project_id: str
    document_id: str | None
    started_by: str
    name: str


def waiting(tx: Tx, user_id: str, project_id: str | None, part: InboxPart | None = None) -> list[Waiting]:
    """Open approvals and questions in which this user edits, of one project or of all if `project_id` is None; only
    `part` of them, if set."""
    mine = (members.c.project_id == threads.c.project_id) & (members.c.user_id == user_id)
    found = _OPEN.join(members, mine & members.c.role.in_(["owner", "editor"]))
    if project_id is not None:
        found = found.where(threads.c.project_id == project_id)
    if part is not None:
        found = part.of(found, approvals.c.created_at, approvals.c.id)
    return [(row.approval.created_at, _item(row)) for row in tx.rows(_WaitingItem, found)]


def tell_asked(tx: Tx, run: Run, item_id: str) -> None:
    """A run asks for a decision: announce it in the inboxes of those who may decide."""
    for row in tx.rows(_WaitingItem, _OPEN.where(approvals.c.id == item_id)):
        append(tx, run.project_id, [(INBOX, came(_item(row), None))])


def tell_settled(tx: Tx, project_id: str, kinds: Iterable[str]) -> None:
    """Approvals or questions were decided, or their run has ended. Call it after the thread's own news, to keep the
    order in which rows are locked."""
    news = [(INBOX, went("question" if kind == "question" else "approval", None)) for kind in sorted(set(kinds))]
    if news:
        append(tx, project_id, news)


def _item(row: _WaitingItem) -> InboxItem:
    return InboxItem(
        kind=row.approval.kind,
        id=row.approval.id,
        project_id=row.project_id,
        text=_asked(row.approval.kind, row.approval.tool, row.approval.arguments),
        created_at=iso(row.approval.created_at),
        by=row.started_by,
        by_name=row.name,
        thread_id=row.approval.thread_id,
        thread_title=row.title,
        run_id=row.approval.run_id,
        tool=row.approval.tool,
        document_id=row.document_id,
    )


def _asked(kind: str, tool: str, arguments: str) -> str:
    return one_line(_questions(arguments) if kind == "question" else f"{tool} {arguments}", MAX_TEXT_CHARS)


def _questions(arguments: str) -> str:
    try:
        asked: Any = orjson.loads(arguments)
        return " ".join(str(question["question"]) for question in asked["questions"])
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return arguments
