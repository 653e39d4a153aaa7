"""Proposals in forks: what the copied answers proposed is proposed there too, each copy with a life of its own."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import sqlalchemy as sa

from outlast.apps.documents import store
from outlast.apps.documents.proposals.edit_store import proposal_data, tell
from outlast.apps.documents.proposals.shapes import ProposalCreated, ProposalData
from outlast.apps.documents.rows import EditRow, ProposalRow
from outlast.apps.documents.tables import edits, proposals
from outlast.base.ids import new_id
from outlast.db.database import Tx
from outlast.kernel.mentions.items import INBOX, went
from outlast.kernel.runs.tables import runs
from outlast.kernel.streams.log import append
from outlast.kernel.threads.tables import threads


class _AnsweredProposal(NamedTuple):
    proposal: ProposalRow
    answer: str | None


def copy_proposals(tx: Tx, thread_id: str, fork_id: str, messages: Mapping[str, str]) -> dict[str, str]:
    """Copy what the messages of a thread propose into its fork (`messages`: ids there by ids here), as it is decided by
    now; what is open stays open in both. The thread is not changed. Followers of fork and project hear of it. The ids
    of the copies by those of the originals."""
    message_id = sa.func.coalesce(proposals.c.message_id, runs.c.answer_id)
    found = sa.select(proposals, message_id.label("answer")).outerjoin(runs, runs.c.id == proposals.c.run_id)
    rows = tx.rows(_AnsweredProposal, found.where(proposals.c.thread_id == thread_id).order_by(proposals.c.id))
    bound = [(row.proposal, messages[row.answer]) for row in rows if row.answer and row.answer in messages]
    for document_id in sorted({proposal.document_id for proposal, _ in bound}):
        store.hold(tx, document_id)  # so that nobody decides about them meanwhile
    copies = {proposal.id: _copy(tx, proposal, fork_id, message_id) for proposal, message_id in bound}
    _copy_edits(tx, copies)
    told = [proposal_data(tx, copy_id) for copy_id in copies.values()]
    if told:
        news = [(fork_id, "proposal.created", ProposalCreated(proposal=data)) for data in told]
        tell(tx, told[0].project_id, news)
        _tell_inbox(tx, fork_id, told[0].project_id, told)
    for document_id in sorted({data.document_id for data in told}):
        store.announce(tx, document_id)
    return copies


def _tell_inbox(tx: Tx, fork_id: str, project_id: str, copies: Sequence[ProposalData]) -> None:
    """Whoever forks has what is open in their inbox too; they know that they did, so nothing is shown to them."""
    forked_by = tx.value(threads.c.created_by, {"id": fork_id})
    if forked_by is not None and any(data.state == "open" for data in copies):
        append(tx, project_id, [(INBOX, went("proposal", forked_by))])


def _copy(tx: Tx, row: ProposalRow, fork_id: str, message_id: str) -> str:
    copy_id = new_id("proposal")
    copy = row._replace(id=copy_id, thread_id=fork_id, message_id=message_id, run_id=None, effect_id=None)
    tx.insert(proposals, **copy._asdict())
    return copy_id


def _copy_edits(tx: Tx, copies: Mapping[str, str]) -> None:
    """With the decisions about them. What superseded one is its own copy there, where that was copied too."""
    chosen = sa.select(edits).where(edits.c.proposal_id.in_(list(copies))).order_by(edits.c.id)
    rows = tx.rows(EditRow, chosen) if copies else []
    fresh = {row.id: new_id("edit") for row in rows}
    for row in rows:
        by = row.superseded_by
        copy = row._replace(
            id=fresh[row.id],
            proposal_id=copies[row.proposal_id],
            superseded_by=None if by is None else fresh.get(by, by),
            origin_id=row.origin_id or row.id,
        )
        tx.insert(edits, **copy._asdict())
