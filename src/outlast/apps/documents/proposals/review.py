"""People decide about edits: all together or none, and at most one version for all accepted ones.

First argument: the open transaction. Rows are taken in the order document, thread, project.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

import sqlalchemy as sa

from outlast.apps.documents import store
from outlast.apps.documents.content.markdown_parse import Cuts
from outlast.apps.documents.content.tree import Tree
from outlast.apps.documents.edits import write as writing
from outlast.apps.documents.edits.write import Author, Committed
from outlast.apps.documents.history import summaries
from outlast.apps.documents.proposals.comment_resolution import settle_comments
from outlast.apps.documents.proposals.decisions import Accepted, Plan, plan
from outlast.apps.documents.proposals.edit_states import decided
from outlast.apps.documents.proposals.fork_copies import followers_of, hold_threads_of_twins, supersede_twins
from outlast.apps.documents.proposals.shapes import DecidedAnswer, EditData, LeftEdit, NamedDecision
from outlast.apps.documents.proposals.store import edits_of, news_of, places_changed, proposal_row, settle_states, tell
from outlast.apps.documents.tables import edits
from outlast.base.errors import MalformedInput, OutlastError, TextChanged
from outlast.db.database import Tx
from outlast.kernel.locks import store as locks
from outlast.kernel.mentions.inbox_items import went
from outlast.kernel.settings import Settings
from outlast.kernel.threads.tables import threads

_HOLD_THREAD: Final = (
    sa.select(threads.c.title).where(threads.c.id == sa.bindparam("thread")).with_for_update(key_share=True)
)


def decide_possible(
    tx: Tx, proposal_id: str, decisions: Sequence[NamedDecision], by: str, settings: Settings, cuts: Cuts | None = None
) -> DecidedAnswer:
    """Like `decide`, but edits that cannot be accepted now (text changed since, section held by another user) stay
    open and are listed, and the rest is decided in one version."""
    document = store.hold(tx, proposal_row(tx, proposal_id).document_id)
    found = _found(tx, proposal_id, decisions)
    tree = store.tree(tx, document.id)
    left = [
        LeftEdit(edit_id=one.edit_id, code="section_locked", message="Another member has locked its section.")
        for one in decisions
        if one.decision == "accept" and held(tx, tree, found[one.edit_id], by)
    ]
    rest = _without(decisions, left)
    try:
        plan(tree, _accepted(rest, found), cuts)
    except TextChanged as conflict:
        why = "Its text changed since the edit was proposed."
        ids = [str(one["edit_id"]) for one in conflict.fields["conflicts"]]
        left += [LeftEdit(edit_id=edit_id, code="text_changed", message=why) for edit_id in ids]
        rest = _without(decisions, left)
    version = decide(tx, proposal_id, rest, by, settings, cuts).version if rest else None
    return DecidedAnswer(version=version, edits=edits_of(tx, [one.edit_id for one in decisions]), left=left)


def held(tx: Tx, tree: Tree, edit: EditData, user_id: str) -> bool:
    """True if another user holds a section that an edit would change."""
    touched = [edit.section_id if edit.op != "insert_section" else None]
    touched += [block.section_id for key in (edit.block_id, edit.after_id) if (block := tree.find_block(key or ""))]
    return any(locks.held_by_other(tx, one, user_id) for one in dict.fromkeys(touched) if one is not None)


def _without(decisions: Sequence[NamedDecision], left: Sequence[LeftEdit]) -> list[NamedDecision]:
    gone = {one.edit_id for one in left}
    return [one for one in decisions if one.edit_id not in gone]


def _accepted(decisions: Sequence[NamedDecision], found: Mapping[str, EditData]) -> list[Accepted]:
    return [Accepted(found[one.edit_id], one.text, one.old) for one in decisions if one.decision == "accept"]


def rehearse(tree: Tree, decisions: Sequence[NamedDecision], found: Sequence[EditData]) -> Cuts:
    """Parse the texts that these decisions would write, outside of their transaction. Pure; may take a second."""
    cuts, edits_by_id = Cuts(), {edit.id: edit for edit in found}
    taken = _accepted([one for one in decisions if one.edit_id in edits_by_id], edits_by_id)
    with suppress(OutlastError):  # the decision itself reports the error
        plan(tree, taken, cuts)
    return cuts


def decide(
    tx: Tx, proposal_id: str, decisions: Sequence[NamedDecision], by: str, settings: Settings, cuts: Cuts | None = None
) -> DecidedAnswer:
    """Decide about edits of one proposal, in one version. Edits of blocks that changed since are merged. Accepted edits
    are superseded in a fork or parent that proposes them too. Publishes to the followers of the threads and the
    project, and resolves the comment that the thread is about once no edit is open and at least one was accepted.
    Raises `EditDecided` with the first decision, `TextChanged` (`conflicts`: all of them), `SectionLocked`, `NotFound`
    for an edit of another proposal, `MalformedInput`, `InputTooLarge`, `DocumentFull`. `cuts`: of `rehearse`."""
    proposal = proposal_row(tx, proposal_id)
    document = store.hold(tx, proposal.document_id)
    title = tx.execute(_HOLD_THREAD, {"thread": proposal.thread_id}).scalar()
    assert title is not None  # proposals go with their thread
    found = _found(tx, proposal_id, decisions)
    made = _record(tx, store.tree(tx, document.id), decisions, found, by, cuts)
    placed = followers_of(tx, proposal_id, made.ends)
    hold_threads_of_twins(tx, list(made.written))
    committed = Committed()
    if made.changes:
        said = proposal.summary or summaries.accepted(len(made.written), title)
        links = proposal.thread_id, proposal.message_id, proposal.run_id, proposal.id
        author = Author("agent", by, said, *links)
        committed = writing.commit(tx, document, made.changes, author, settings, made.cuts)
    version = committed.version
    for edit_id in made.written:
        tx.update(edits, {"id": edit_id}, version=version)
    for edit_id, end in placed.items():
        tx.update(edits, {"id": edit_id}, after_id=committed.made.get(end, end))
    settle_states(tx, [proposal_id])
    ends = {edit_id: committed.made.get(end, end) for edit_id, end in made.ends.items()}
    ended, proposal_ids = supersede_twins(tx, edits_of(tx, list(made.written)), ends, title, version)
    decided_ids = [decision.edit_id for decision in decisions]
    news = news_of(tx, "edit.resolved", decided_ids, version=version, by=by)
    news += [*places_changed(tx, [proposal_id] if placed else []), *ended]
    tell(tx, document.project_id, news)
    if any(proposal_row(tx, one).state == "closed" for one in (proposal_id, *proposal_ids)):
        store.tell_inbox(tx, document.project_id, [went("proposal", None)])
    if version is None:
        store.announce(tx, document.id, by=by)
    settle_comments(tx, [proposal_id, *proposal_ids], by)
    return DecidedAnswer(version=version, edits=edits_of(tx, decided_ids))


def _found(tx: Tx, proposal_id: str, decisions: Sequence[NamedDecision]) -> Mapping[str, EditData]:
    wanted = [decision.edit_id for decision in decisions]
    if not wanted or len(set(wanted)) < len(wanted):
        raise MalformedInput("Name each edit to decide about exactly once.", field="decisions")
    found = {edit.id: edit for edit in edits_of(tx, wanted)}
    for edit in found.values():
        if edit.proposal_id != proposal_id:
            raise MalformedInput(
                "An edit does not belong to this proposal.", field="decisions", edit_id=edit.id, proposal_id=proposal_id
            )
    return found


def _record(
    tx: Tx, tree: Tree, wanted: Sequence[NamedDecision], found: Mapping[str, EditData], by: str, cuts: Cuts | None
) -> Plan:
    """Store the decisions, before any change, so that the edits being accepted are no longer open."""
    states = {one.edit_id: decided(found[one.edit_id], one.decision) for one in wanted}
    made = plan(tree, _accepted(wanted, found), cuts)
    for edit_id, state in states.items():
        told = {"state": state, "decided_by": by, "decided_at": tx.now}
        tx.update(edits, {"id": edit_id}, **told, applied_text=made.written.get(edit_id))
    return made
