"""Resolve a comment once its agent's edits are decided. First argument: the open transaction; the document is held."""

from collections.abc import Collection, Iterable
from typing import NamedTuple

import sqlalchemy as sa

from outlast.apps.documents.comments import store as comments
from outlast.apps.documents.proposals.edit_states import settles_comment
from outlast.apps.documents.tables import comments as comments_table
from outlast.apps.documents.tables import edits, proposals
from outlast.base.clock import iso
from outlast.db.database import Tx
from outlast.kernel.threads.tables import threads


def settle_comments(tx: Tx, proposal_ids: Iterable[str], by: str) -> None:
    """Resolve the comments that the conversations of these proposals are about, if no edit is open and at least one was
    accepted. `by`: the user whose decision or change closed the last edit."""
    for proposal_id in dict.fromkeys(proposal_ids):
        comment_id = _comment_of(tx, proposal_id)
        if comment_id is not None and _settles(tx, proposal_id):
            comments.set_status(tx, comment_id, "resolved", by)


def unsettle_comments(tx: Tx, proposal_ids: Iterable[str], decided: Collection[str | None], by: str) -> None:
    """Reopen the comments that the decisions made at these times (ISO 8601) have resolved: an edit is
    open again."""
    for proposal_id in dict.fromkeys(proposal_ids):
        comment_id = _comment_of(tx, proposal_id)
        resolved_at = tx.value(comments_table.c.resolved_at, {"id": comment_id})
        if comment_id is not None and resolved_at is not None and iso(resolved_at) in decided:
            comments.set_status(tx, comment_id, "open", by)


def _comment_of(tx: Tx, proposal_id: str) -> str | None:
    """The comment that the proposal's conversation is about."""
    about = sa.select(threads.c.anchor).join(proposals, proposals.c.thread_id == threads.c.id)
    anchor = tx.execute(about.where(proposals.c.id == proposal_id)).scalar() or {}
    return str(anchor["id"]) if anchor.get("type") == "comment" else None


class _Renewal(NamedTuple):
    older: str
    newer: str


def _settles(tx: Tx, proposal_id: str) -> bool:
    """A proposal renewed in the same conversation is decided with the newer one: they count together."""
    found, fresh = {proposal_id}, {proposal_id}
    while fresh:
        beside = {one for row in tx.rows(_Renewal, _renewals(fresh)) for one in (row.older, row.newer)}
        fresh = beside - found
        found |= fresh
    return settles_comment(tx.execute(sa.select(edits.c.state).where(edits.c.proposal_id.in_(found))).scalars())


def _renewals(proposal_ids: set[str]) -> sa.Select[tuple[str, str]]:
    """Pairs of these proposals and those of the same conversation that superseded, or were superseded by, their
    edits."""
    newer, newer_of, older_of = edits.alias("newer"), proposals.alias("newer_of"), proposals.alias("older_of")
    return (
        sa.select(edits.c.proposal_id.label("older"), newer.c.proposal_id.label("newer"))
        .join(newer, newer.c.id == edits.c.superseded_by)
        .join(newer_of, newer_of.c.id == newer.c.proposal_id)
        .join(older_of, older_of.c.id == edits.c.proposal_id)
        .where(
            newer_of.c.thread_id == older_of.c.thread_id,
            sa.or_(newer.c.proposal_id.in_(proposal_ids), edits.c.proposal_id.in_(proposal_ids)),
        )
    )
