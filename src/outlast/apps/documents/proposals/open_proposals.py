"""Proposals that wait for a decision: a read over other apps' rows; it stores nothing."""

from typing import Final, NamedTuple

import sqlalchemy as sa

from outlast.apps.documents.rows import ProposalRow
from outlast.apps.documents.tables import documents, edits, proposals
from outlast.base.clock import iso
from outlast.db.database import Tx
from outlast.kernel.locks.tables import locks
from outlast.kernel.mentions.inbox_items import InboxItem, InboxPart, Waiting
from outlast.kernel.projects.tables import members
from outlast.kernel.runs.tables import runs
from outlast.kernel.threads.tables import threads


class _OpenProposal(NamedTuple):
    proposal: ProposalRow
    thread_title: str
    document_title: str
    answer_id: str | None
    left: int


_LEFT: Final = (
    sa.select(sa.func.count())
    .where(edits.c.proposal_id == proposals.c.id, edits.c.state == "open")
    .scalar_subquery()
    .label("left")
)
_ITEMS: Final = (
    sa.select(
        proposals,
        threads.c.title.label("thread_title"),
        documents.c.title.label("document_title"),
        runs.c.answer_id,
        _LEFT,
    )
    .select_from(proposals.join(threads, threads.c.id == proposals.c.thread_id))
    .join(documents, documents.c.id == proposals.c.document_id)
    .outerjoin(runs, runs.c.id == proposals.c.run_id)
)


def proposals_for(tx: Tx, user_id: str, project_id: str | None, part: InboxPart | None = None) -> list[Waiting]:
    """Open proposals of conversations that this user began, drives or asked the agent in, of one project (all if None)
    in which they edit; only `part` of them, if given."""
    mine = (members.c.project_id == proposals.c.project_id) & (members.c.user_id == user_id)
    found = (
        _ITEMS.join(members, mine & members.c.role.in_(["owner", "editor"]))
        .outerjoin(locks, _driven(tx))
        .where(proposals.c.state == "open", _concerns(sa.literal(user_id)))
    )
    if project_id is not None:
        found = found.where(proposals.c.project_id == project_id)
    if part is not None:
        found = part.of(found, proposals.c.created_at, proposals.c.id)
    return [(row.proposal.created_at, _item(row)) for row in tx.rows(_OpenProposal, found)]


def waiting_item(tx: Tx, proposal_id: str) -> InboxItem:
    """A proposal as shown in inboxes."""
    row = tx.row(_OpenProposal, _ITEMS.where(proposals.c.id == proposal_id))
    assert row is not None  # the caller has just made it
    return _item(row)


def concerned(tx: Tx, proposal_id: str) -> list[str]:
    """The ids of the users in whose inbox an open proposal waits."""
    editing = (members.c.project_id == proposals.c.project_id) & members.c.role.in_(["owner", "editor"])
    found = (
        sa.select(members.c.user_id)
        .select_from(proposals.join(threads, threads.c.id == proposals.c.thread_id))
        .join(members, editing)
        .outerjoin(runs, runs.c.id == proposals.c.run_id)
        .outerjoin(locks, _driven(tx))
        .where(proposals.c.id == proposal_id, _concerns(members.c.user_id))
        .order_by(members.c.user_id)
    )
    return list(tx.execute(found).scalars())


def _driven(tx: Tx) -> sa.ColumnElement[bool]:
    """The lock of the thread, if valid: it has not expired, or a run holds it."""
    of_thread = (locks.c.resource_type == "thread") & (locks.c.resource_id == threads.c.id)
    return of_thread & sa.or_(locks.c.expires_at > tx.now, threads.c.active_run_id.is_not(None))


def _concerns(user_id: sa.ColumnElement[str]) -> sa.ColumnElement[bool]:
    """The user began the conversation, drives it, or asked the agent."""
    return sa.or_(threads.c.created_by == user_id, locks.c.holder_id == user_id, runs.c.started_by == user_id)


def _item(row: _OpenProposal) -> InboxItem:
    return InboxItem(
        kind="proposal",
        id=row.proposal.id,
        project_id=row.proposal.project_id,
        text=row.proposal.summary or f"{row.left} proposed edits wait for a decision.",
        created_at=iso(row.proposal.created_at),
        thread_id=row.proposal.thread_id,
        thread_title=row.thread_title,
        message_id=row.proposal.message_id or row.answer_id,
        run_id=row.proposal.run_id,
        document_id=row.proposal.document_id,
        document_title=row.document_title,
    )
