"""Proposals in forks: what the copied answers proposed is proposed there too, each copy with a life of its own."""

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from outlast.apps.documents import store
from outlast.apps.documents.proposals.edit_store import proposal_data, tell
from outlast.apps.documents.tables import edits, proposals
from outlast.base.document_data import ProposalCreated, ProposalData
from outlast.base.ids import new_id
from outlast.db.database import Tx
from outlast.kernel.mentions.items import INBOX, went
from outlast.kernel.runs.tables import runs
from outlast.kernel.streams.log import append
from outlast.kernel.threads.tables import threads


def copy_proposals(tx: Tx, thread_id: str, fork_id: str, messages: Mapping[str, str]) -> dict[str, str]:
    """Copy what the messages of a thread propose into its fork (`messages`: ids there by ids here), as it is decided by
    now; what is open stays open in both. The thread is not changed. Followers of fork and project hear of it. The ids
    of the copies by those of the originals."""
    message_id = sa.func.coalesce(proposals.c.message_id, runs.c.answer_id)
    found = sa.select(proposals, message_id.label("answer")).outerjoin(runs, runs.c.id == proposals.c.run_id)
    rows = tx.all(found.where(proposals.c.thread_id == thread_id).order_by(proposals.c.id))
    rows = [row for row in rows if row["answer"] in messages]
    for document_id in sorted({row["document_id"] for row in rows}):
        store.hold(tx, document_id)  # so that nobody decides about them meanwhile
    copies = {row["id"]: _copy(tx, row, fork_id, messages[row["answer"]]) for row in rows}
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
    fork = tx.find(threads, {"id": fork_id}, "created_by")
    if fork is not None and any(data.state == "open" for data in copies):
        append(tx, project_id, [(INBOX, went("proposal", fork["created_by"]))])


def _copy(tx: Tx, row: sa.RowMapping, fork_id: str, message_id: str) -> str:
    copy_id = new_id("proposal")
    columns: dict[str, Any] = {column.name: row[column.name] for column in proposals.c}
    fresh = {"id": copy_id, "thread_id": fork_id, "message_id": message_id, "run_id": None, "effect_id": None}
    tx.insert(proposals, **{**columns, **fresh})
    return copy_id


def _copy_edits(tx: Tx, copies: Mapping[str, str]) -> None:
    """With the decisions about them. What superseded one is its own copy there, where that was copied too."""
    chosen = sa.select(edits).where(edits.c.proposal_id.in_(list(copies))).order_by(edits.c.id)
    rows = tx.all(chosen) if copies else []
    fresh = {row["id"]: new_id("edit") for row in rows}
    for row in rows:
        by = row["superseded_by"]
        own = {
            "id": fresh[row["id"]],
            "proposal_id": copies[row["proposal_id"]],
            "superseded_by": fresh.get(by, by),
            "origin_id": row["origin_id"] or row["id"],
        }
        tx.insert(edits, **{**row, **own})
