"""Proposals: edits that an agent would like to make in a document, kept until people have decided about each.

A proposal is created once per tool call (`effect_id`), in the tool's own transaction.
"""

from collections.abc import Sequence
from dataclasses import asdict

from outlast.apps.documents import store
from outlast.apps.documents.proposals.open_proposals import concerned, waiting_item
from outlast.apps.documents.proposals.shapes import ProposalCreated, ProposalData
from outlast.apps.documents.proposals.store import news_of, open_edits_of, proposal_data, tell
from outlast.apps.documents.proposals.superseded import supersede_older
from outlast.apps.documents.proposals.validation import NewEdit, Trouble, check
from outlast.apps.documents.rows import DocumentRow
from outlast.apps.documents.tables import edits, proposals
from outlast.base.ids import new_id
from outlast.base.records import dataclass
from outlast.db.database import Tx
from outlast.kernel.mentions.inbox_items import came
from outlast.kernel.mentions.rules import one_line


@dataclass(frozen=True, slots=True)
class Source:
    """The origin of a proposal: a tool call (`effect_id`) of a run in a thread."""

    thread_id: str
    run_id: str
    effect_id: str


def propose(
    tx: Tx, document: DocumentRow, source: Source, summary: str, new_edits: Sequence[NewEdit]
) -> ProposalData | tuple[Trouble, ...]:
    """Store the edits that an agent proposes, and announce them; or return what is wrong with them (nothing is stored).
    Open edits of the same thread for the same blocks are superseded. Safe to repeat: the same `effect_id` returns the
    first proposal. The document is held before that lookup."""
    made = tx.value(proposals.c.id, {"effect_id": source.effect_id})
    if made is not None:
        return proposal_data(tx, made)
    kept, troubles = check(store.tree(tx, document.id), new_edits)
    if troubles:
        return troubles
    older = open_edits_of(tx, document.id, source.thread_id)
    proposal_id = _add(tx, document, source, one_line(summary), kept)
    data = proposal_data(tx, proposal_id)
    lost = supersede_older(tx, older, data.edits)
    news = news_of(tx, "edit.superseded", lost)
    tell(tx, document.project_id, [*news, (source.thread_id, "proposal.created", ProposalCreated(proposal=data))])
    if people := concerned(tx, proposal_id):
        item = waiting_item(tx, proposal_id)
        store.tell_inbox(tx, document.project_id, [came(item, user_id) for user_id in people])
    store.announce(tx, document.id)
    return data


def _add(tx: Tx, document: DocumentRow, source: Source, summary: str, kept: Sequence[NewEdit]) -> str:
    proposal_id = new_id("proposal")
    about = {"document_id": document.id, "project_id": document.project_id}
    tx.insert(proposals, id=proposal_id, **about, **asdict(source), summary=summary, state="open", created_at=tx.now)
    for ordinal, edit in enumerate(kept, start=1):
        row = {"id": new_id("edit"), "proposal_id": proposal_id, **about}
        tx.insert(edits, **row, ordinal=ordinal, **asdict(edit), state="open")
    return proposal_id
