"""Reopen decided edits: they are open again, as before. First argument: the open transaction. Rows are taken in the
order document, thread, project, as for decisions.

A rejection changed nothing, so nothing is written. Edits accepted together became one version of the document and
are undone together: that version's changes are undone, later changes stay.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import sqlalchemy as sa

from outlast.apps.documents import store
from outlast.apps.documents.content.tree import Tree
from outlast.apps.documents.edits import write as writing
from outlast.apps.documents.edits.write import Author
from outlast.apps.documents.history import summaries, versions
from outlast.apps.documents.history.undo import without
from outlast.apps.documents.proposals.comment_resolution import unsettle_comments
from outlast.apps.documents.proposals.decisions import place_of
from outlast.apps.documents.proposals.edit_states import already, decided
from outlast.apps.documents.proposals.shapes import DecidedAnswer, EditData, NamedDecision
from outlast.apps.documents.proposals.store import (
    edits_of,
    hold_threads,
    news_of,
    proposal_data,
    proposal_row,
    settle_states,
    tell,
)
from outlast.apps.documents.tables import edits, proposals
from outlast.base.errors import MalformedInput, NotFound
from outlast.db.database import Tx
from outlast.kernel.mentions.inbox_items import went
from outlast.kernel.settings import Settings

_UNDECIDED: Final[Mapping[str, Any]] = {
    "state": "open",
    "reason": "",
    **dict.fromkeys(("decided_by", "decided_at", "applied_text", "version", "superseded_by")),
}


def reopen(tx: Tx, proposal_id: str, wanted: Sequence[NamedDecision], by: str, settings: Settings) -> DecidedAnswer:
    """Reopen decided edits of one proposal, with all that were accepted in the same versions; open ones stay as they
    are. `decided_at` is the time of the decision that the person saw (None accepts any). Things that these decisions
    ended are open again too: copies in forks, edits of deleted blocks, the comment that the thread is about. Publishes
    to the followers of the threads and the project. Raises `EditDecided` for a superseded edit, and for another
    decision than the person saw; `TextChanged` if the text was changed since, `NotFound` if the place of an edit is
    gone, `SectionLocked`, `MalformedInput`."""
    proposal = proposal_row(tx, proposal_id)
    document_id: str = store.hold(tx, proposal.document_id).id
    chosen = _chosen(tx, proposal_id, wanted)
    ids = [edit.id for edit in chosen]
    ended = _ended(tx, document_id, chosen)
    hold_threads(tx, [proposal.thread_id, *(row.thread_id for row in ended)])
    version = None
    for number in sorted({edit.version for edit in chosen if edit.version is not None}, reverse=True):
        version = _take_back(tx, document_id, number, proposal.summary, by, settings) or version
    tree = store.tree(tx, document_id)
    if lost := next((edit for edit in chosen if not _has_place(tree, edit)), None):
        raise NotFound(
            "The text of the edit was deleted since, so there is nothing left to decide.",
            hint="Restore the text from the history first.",
            noun="edit",
            id=lost.id,
            document_id=document_id,
        )
    revived = [row.id for row in ended if _has_place(tree, *edits_of(tx, [row.id]))]
    opened = edits_of(tx, [*ids, *revived])
    for edit in opened:
        tx.update(edits, {"id": edit.id}, **_UNDECIDED, reopened=edit.reopened + 1)
    touched = list(dict.fromkeys(edit.proposal_id for edit in opened))
    settle_states(tx, touched)
    news = news_of(tx, "edit.reopened", [*ids, *revived], version=version, by=by)
    tell(tx, proposal.project_id, news)
    if news:
        store.tell_inbox(tx, proposal.project_id, [went("proposal", None)])
    if version is None and news:
        store.announce(tx, document_id, by=by)
    unsettle_comments(tx, touched, {edit.decided_at for edit in chosen}, by)
    return DecidedAnswer(version=version, edits=edits_of(tx, [*(one.edit_id for one in wanted), *ids]))


def _chosen(tx: Tx, proposal_id: str, wanted: Sequence[NamedDecision]) -> list[EditData]:
    """The decided edits among these, and those accepted in the same versions."""
    seen = {one.edit_id: one.decided_at for one in wanted}
    if not wanted or len(seen) < len(wanted):
        raise MalformedInput("Name each edit to reopen exactly once.", field="decisions")
    every = {edit.id: edit for edit in proposal_data(tx, proposal_id).edits}
    if strange := next((edit_id for edit_id in seen if edit_id not in every), None):
        raise MalformedInput(
            "An edit does not belong to this proposal.", field="decisions", edit_id=strange, proposal_id=proposal_id
        )
    for edit_id, decided_at in seen.items():
        edit = every[edit_id]
        if decided(edit, "reopen") != edit.state and decided_at not in (None, edit.decided_at):
            raise already(edit)
    versions = {every[edit_id].version for edit_id in seen} - {None}
    return [
        edit
        for edit in every.values()
        if edit.state in ("accepted", "rejected") and (edit.id in seen or edit.version in versions)
    ]


class _EndedProposal(NamedTuple):
    id: str
    thread_id: str


def _ended(tx: Tx, document_id: str, chosen: Sequence[EditData]) -> Sequence[_EndedProposal]:
    """Edits that these decisions superseded: copies in forks, and edits of deleted things. Ids and threads."""
    accepted = [edit for edit in chosen if edit.state == "accepted"]
    mine, other = edits.alias("mine"), edits
    same = sa.func.coalesce(mine.c.origin_id, mine.c.id) == sa.func.coalesce(other.c.origin_id, other.c.id)
    versions = [f"version:{edit.version}" for edit in accepted if edit.version is not None]
    found = (
        sa.select(other.c.id, proposals.c.thread_id)
        .join(proposals, proposals.c.id == other.c.proposal_id)
        .outerjoin(mine, mine.c.id == other.c.superseded_by)
        .where(
            other.c.document_id == document_id,
            other.c.state == "superseded",
            sa.or_(other.c.superseded_by.in_(versions), mine.c.id.in_([edit.id for edit in accepted]) & same),
        )
        .order_by(other.c.proposal_id, other.c.ordinal)
    )
    return tx.rows(_EndedProposal, found)


def _take_back(tx: Tx, document_id: str, number: int, summary: str, by: str, settings: Settings) -> int | None:
    """Undo the changes of a version. Returns the new version (None if nothing was left to undo)."""
    document, now = store.hold(tx, document_id), store.tree(tx, document_id)
    was, became = versions.tree_at(tx, document_id, number - 1), versions.tree_at(tx, document_id, number)
    said = summaries.REOPENED_NAMED.format(summary=summary) if summary else summaries.REOPENED
    author = Author("restore", by, said)
    return writing.commit_tree(tx, document, now, without(now, was, became), author, settings).version


def _has_place(tree: Tree, edit: EditData) -> bool:
    """True if its block exists, and the place that it goes behind or into."""
    if edit.block_id is not None and tree.find_block(edit.block_id) is None:
        return False
    kind, beside = place_of(edit) or ("", None)
    find = tree.find_block if kind == "block" else tree.find_section
    return beside is None or find(beside) is not None
