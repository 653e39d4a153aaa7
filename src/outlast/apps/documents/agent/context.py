"""The context of a document agent's run, read as of the moment when it began: the same for each of its turns, so
that a model's cache stays valid across them. The tools show what changed since then."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa

from outlast.apps.documents.agent.document_text import Anchor, ToldComment, ToldDocument
from outlast.apps.documents.comments import store as comment_store
from outlast.apps.documents.content.tree import Tree
from outlast.apps.documents.history import versions
from outlast.apps.documents.rows import DocumentRow, EditRow, ProposalRow
from outlast.apps.documents.tables import document_versions, documents, edits, proposals
from outlast.base.errors import NotFound
from outlast.base.records import dataclass
from outlast.db.database import Tx
from outlast.kernel.files.newest import newest_files
from outlast.kernel.runs.transcript import Run
from outlast.kernel.threads.rows import ThreadRow
from outlast.kernel.threads.tables import threads

PROPOSALS_TOLD: Final = 10
ANSWERS_TOLD: Final = 50
COMMENT_CHARS: Final = 20_000


@dataclass(frozen=True, slots=True)
class DocumentContext:
    """The parts of a prompt other than the conversation. `files` and `proposed` are lines."""

    document: ToldDocument
    anchor: Anchor
    files: Sequence[str] = ()
    proposed: Sequence[str] = ()


def read_context(tx: Tx, run: Run) -> DocumentContext | None:
    """The subject of the run's thread, as it was when the run began; None if the document was deleted or the thread was
    never about one."""
    since = run.started_at or tx.now
    found = _thread_and_document(tx, run.thread_id)
    if found is None:
        return None
    thread, document = found
    tree = versions.tree_at(tx, document.id, _version_at(tx, document.id, since))
    anchor = _anchor(tx, thread.anchor, tree, since)
    told = ToldDocument(document.title, tree)
    return DocumentContext(told, anchor, newest_files(tx, run.project_id, since), _proposed(tx, run, since))


def document_of_thread(tx: Tx, thread_id: str) -> DocumentRow:
    """The document that a thread is about. Raises `NotFound`."""
    found = _thread_and_document(tx, thread_id)
    if found is None:
        raise NotFound("This document was deleted.", thread_id=thread_id)
    return found[1]


def _thread_and_document(tx: Tx, thread_id: str) -> tuple[ThreadRow, DocumentRow] | None:
    """A thread and the document that it is about; None if there is none, or it was deleted or is in another project."""
    thread = tx.find(ThreadRow, threads, {"id": thread_id})
    own = None if thread is None else {"id": thread.document_id, "project_id": thread.project_id}
    document = None if own is None else tx.find(DocumentRow, documents, own)
    return None if thread is None or document is None else (thread, document)


def _version_at(tx: Tx, document_id: str, since: datetime) -> int | None:
    then = (  # newest first: it is near the start
        sa.select(document_versions.c.version)
        .where(document_versions.c.document_id == document_id, document_versions.c.created_at <= since)
        .order_by(document_versions.c.version.desc())
        .limit(1)
    )
    version: int | None = tx.execute(then).scalar()
    return version


def _anchor(tx: Tx, told: Mapping[str, Any], tree: Tree, since: datetime) -> Anchor:
    kind, own_id = told["type"], str(told.get("id") or "")
    if kind == "section":
        return Anchor("section", tree.document_id, own_id, gone=tree.find_section(own_id) is None)
    if kind == "comment":
        comment = _comment(tx, own_id, tree.document_id, since)
        if comment is None:
            return Anchor("comment", tree.document_id, gone=True)
        home = tree.find_section(comment.section_id or "")
        section_id = _home(tree, comment.block_id) if home is None else home.id
        return Anchor("comment", tree.document_id, section_id, comment.block_id, comment=comment)
    if kind == "selection":
        block_id = told.get("block_id")
        home = tree.find_section(_home(tree, block_id) or told.get("section_id") or "")
        section_id = None if home is None else home.id
        selected = str(told.get("text") or "")
        return Anchor("selection", tree.document_id, section_id, block_id, selected, gone=home is None)
    return Anchor("document", tree.document_id)


def _home(tree: Tree, block_id: str | None) -> str | None:
    """The section that contains a block, or None if the block is gone."""
    block = tree.find_block(block_id or "")
    return None if block is None else block.section_id


def _comment(tx: Tx, comment_id: str, document_id: str, since: datetime) -> ToldComment | None:
    """The comment, or the comment that it replies to, with all replies."""
    row = comment_store.find_comment(tx, comment_id)
    if row is not None and row.comment.parent_id is not None:
        row = comment_store.find_comment(tx, row.comment.parent_id) or row
    if row is None or row.comment.document_id != document_id:
        return None
    answers = comment_store.last_answers(tx, row.comment.id, since, ANSWERS_TOLD)
    (by, body), *answered = ((one.by_name or "an agent", one.comment.body[:COMMENT_CHARS]) for one in (row, *answers))
    return ToldComment(
        row.comment.id,
        by,
        body,
        row.comment.section_id,
        row.comment.block_id,
        str((row.comment.quote or {}).get("text", "")),
        tuple(row.comment.linked_sections or ()),
        tuple(answered),
        orphaned=row.comment.orphaned,
        resolved=row.comment.status == "resolved",
    )


def _proposed(tx: Tx, run: Run, since: datetime) -> list[str]:
    """The outcomes of the thread's latest proposals until the run began, oldest first."""
    rows = tx.rows(
        ProposalRow,
        sa.select(proposals)
        .where(proposals.c.thread_id == run.thread_id, proposals.c.created_at <= since)
        .where(sa.or_(proposals.c.run_id.is_(None), proposals.c.run_id != run.id))
        .order_by(proposals.c.created_at.desc(), proposals.c.id.desc())
        .limit(PROPOSALS_TOLD),
    )
    return [_proposal_line(tx, row, since) for row in reversed(rows)]


def _proposal_line(tx: Tx, proposal: ProposalRow, since: datetime) -> str:
    rows = tx.rows(EditRow, sa.select(edits).where(edits.c.proposal_id == proposal.id).order_by(edits.c.ordinal))
    told: dict[str, list[str]] = {}
    for row in rows:
        told.setdefault(_became(row, since), []).append(row.block_id or row.op)
    became = "; ".join(f"{state}: {_names(names)}" for state, names in told.items())
    summary = " ".join(proposal.summary.split()) or "(no summary)"
    return f"- {summary} → {became}"


def _became(row: EditRow, since: datetime) -> str:
    if row.decided_at is not None and row.decided_at > since:
        return "waiting"
    if row.state == "accepted" and row.applied_text not in (None, "", row.new_text):
        return "accepted after a person changed it"
    words = {"open": "waiting", "superseded": "replaced by something newer"}
    return words.get(row.state, str(row.state))


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(names[:20])
    return shown if len(names) <= 20 else f"{shown} and {len(names) - 20} more"
