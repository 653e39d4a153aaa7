"""Proposals in forks: proposals of the copied answers are copied too, each with a life of its own. First
argument: the open transaction.

An edit and its copies are twins: accepting it in one conversation changes the document for all. A new text or section
accepted twice would be there twice, so its open twins are superseded; so are those of a replacement that
was written as proposed.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import sqlalchemy as sa

from outlast.apps.documents import store
from outlast.apps.documents.proposals.decisions import followers
from outlast.apps.documents.proposals.shapes import EditData, ProposalCreated
from outlast.apps.documents.proposals.store import (
    News,
    hold_threads,
    news_of,
    places_changed,
    proposal_data,
    proposals_of_thread,
    settle_states,
    tell,
)
from outlast.apps.documents.rows import EditRow
from outlast.apps.documents.tables import edits, proposals
from outlast.base.ids import new_id
from outlast.db.database import Tx
from outlast.kernel.mentions.inbox_items import went
from outlast.kernel.threads.tables import threads

ONCE: Final = ("insert", "insert_section", "move")
REASON: Final = "Accepted in “{title}”{version}."


def copy_proposals(tx: Tx, thread_id: str, fork_id: str, messages: Mapping[str, str]) -> dict[str, str]:
    """Copy the proposals of a thread's messages into its fork (`messages`: ids there by ids here), with their current
    decisions; open edits stay open in both. The thread is not changed. Followers of fork and project are notified.
    Returns the ids of the copies by those of the originals."""
    found = [row for row in proposals_of_thread(tx, thread_id) if row.message_id in messages]
    for document_id in sorted({row.document_id for row in found}):
        store.hold(tx, document_id)  # prevents decisions meanwhile
    copies = {row.id: new_id("proposal") for row in found}
    for row in found:
        own = {"id": copies[row.id], "thread_id": fork_id, "message_id": messages[row.message_id or ""]}
        tx.insert(proposals, **row._asdict() | own | {"run_id": None, "effect_id": None})
    _copy_edits(tx, copies)
    told = [proposal_data(tx, copy_id) for copy_id in copies.values()]
    if told:
        news = [(fork_id, "proposal.created", ProposalCreated(proposal=data)) for data in told]
        tell(tx, told[0].project_id, news)
        # Open copies are in the inbox of the forking user too, without a notice: they know what they did.
        forked_by = tx.value(threads.c.created_by, {"id": fork_id})
        if forked_by is not None and any(data.state == "open" for data in told):
            store.tell_inbox(tx, told[0].project_id, [went("proposal", forked_by)])
    for document_id in sorted({data.document_id for data in told}):
        store.announce(tx, document_id)
    return copies


def _copy_edits(tx: Tx, copies: Mapping[str, str]) -> None:
    """Copy edits with their decisions. The edit that superseded one is its copy there, if that was copied too."""
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


class _Twin(NamedTuple):
    id: str
    proposal_id: str
    thread_id: str
    twin_of: str


def hold_threads_of_twins(tx: Tx, edit_ids: Sequence[str]) -> None:
    """Hold the conversations that have open twins of these edits: threads come before the project's log."""
    hold_threads(tx, [row.thread_id for row in tx.rows(_Twin, _twins(edit_ids))])


def supersede_twins(
    tx: Tx, accepted: Sequence[EditData], ends: Mapping[str, str], title: str, version: int | None
) -> tuple[list[News], list[str]]:
    """Supersede the open twins of these edits, which were just accepted in the conversation `title`, as `version` of
    the document (None if nothing differed), whose row is held. `ends`: by edit, the new place of the texts behind it.
    Returns the events for superseded twins, and the ids of their proposals."""
    done = {edit.id: edit for edit in accepted if edit.op in ONCE or edit.applied_text == edit.new_text}
    twins = {row.id: row for row in tx.rows(_Twin, _twins(list(done)))}
    reason = REASON.format(title=title, version="" if version is None else f", version {version}")
    for twin_id, row in twins.items():
        by = row.twin_of
        tx.update(edits, {"id": twin_id}, state="superseded", superseded_by=by, reason=reason)
    ids = list(dict.fromkeys(row.proposal_id for row in twins.values()))
    settle_states(tx, ids)
    behind = {twin_id: ends[row.twin_of] for twin_id, row in twins.items() if row.twin_of in ends}
    placed = []
    for proposal_id in ids:
        for edit_id, after in followers_of(tx, proposal_id, behind).items():
            tx.update(edits, {"id": edit_id}, after_id=after)
            placed.append(proposal_id)
    return [*news_of(tx, "edit.superseded", list(twins)), *places_changed(tx, placed)], ids


def _twins(edit_ids: Sequence[str]) -> sa.Select[tuple[str, str, str, str]]:
    """The open twins of these edits, each with its original and the place where it is proposed."""
    mine, twin = edits.alias("mine"), edits
    same = sa.func.coalesce(mine.c.origin_id, mine.c.id)
    return (
        sa.select(twin.c.id, twin.c.proposal_id, proposals.c.thread_id, mine.c.id.label("twin_of"))
        .join(mine, sa.or_(twin.c.origin_id == same, twin.c.id == same) & (twin.c.id != mine.c.id))
        .join(proposals, proposals.c.id == twin.c.proposal_id)
        .where(mine.c.id.in_(list(edit_ids)), twin.c.state == "open")
        .order_by(twin.c.proposal_id, twin.c.ordinal)
    )


def followers_of(tx: Tx, proposal_id: str, ends: Mapping[str, str]) -> Mapping[str, str]:
    """Undecided texts of a proposal and their new place, if that is the end of an accepted one (`ends`, by edit): they
    keep their order among the texts there."""
    every = proposal_data(tx, proposal_id).edits
    still_open = [edit for edit in every if edit.state == "open"]
    put = followers(still_open, [edit for edit in every if edit.id in ends])
    return {edit_id: ends[behind] for edit_id, behind in put.items()}
