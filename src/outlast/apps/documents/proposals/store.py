"""Proposals and their edits in the database, and their events. First argument: the open transaction.

Hold the document's row to change edits. Events go to the threads' logs first and to the project's last, the order
in which all code takes these rows.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final, Literal, NamedTuple

import sqlalchemy as sa
from pydantic import BaseModel

from outlast.apps.documents.proposals.edit_states import proposal_state
from outlast.apps.documents.proposals.shapes import (
    EditData,
    EditsReopened,
    EditsResolved,
    EditsSuperseded,
    ProposalCreated,
    ProposalData,
)
from outlast.apps.documents.rows import EditRow, ProposalRow
from outlast.apps.documents.tables import edits, proposals
from outlast.base.errors import NotFound
from outlast.db.database import Tx
from outlast.kernel.accounts.tables import users
from outlast.kernel.limits.rules import WINDOW, check_rate
from outlast.kernel.lists import Listed
from outlast.kernel.row_shapes import shape_of
from outlast.kernel.runs.tables import runs
from outlast.kernel.streams.log_store import append
from outlast.kernel.threads.tables import threads

_decider = users.alias("edit_decider")
_EDITS: Final = (
    sa.select(edits, _decider.c.name.label("decided_by_name"))
    .outerjoin(_decider, _decider.c.id == edits.c.decided_by)
    .order_by(edits.c.proposal_id, edits.c.ordinal)
)
_ANSWER: Final = sa.func.coalesce(proposals.c.message_id, runs.c.answer_id).label("message_id")
_PROPOSALS: Final = sa.select(
    *(_ANSWER if column is proposals.c.message_id else column for column in proposals.c)
).outerjoin(runs, runs.c.id == proposals.c.run_id)

News = tuple[str, str, BaseModel]  # the thread's id, the name of the event, its data
State = Literal["open", "closed", "all"]
_KINDS: Final[Mapping[str, Callable[..., BaseModel]]] = {
    "edit.resolved": EditsResolved,
    "edit.reopened": EditsReopened,
    "edit.superseded": EditsSuperseded,
}


class _NamedEdit(NamedTuple):
    edit: EditRow
    decided_by_name: str | None


def edits_of(tx: Tx, edit_ids: Sequence[str]) -> list[EditData]:
    """These edits, by proposal and in its order. Raises `NotFound` if one is missing."""
    found = _edits(tx, edits.c.id.in_(list(edit_ids)))
    missing = set(edit_ids) - {edit.id for edit in found}
    if missing:
        raise NotFound("This edit no longer exists.", noun="edit", id=min(missing))
    return found


def open_edits_of(tx: Tx, document_id: str, thread_id: str | None = None) -> list[EditData]:
    """The open edits of a document (of one thread's agent, if given), oldest first."""
    which = [edits.c.document_id == document_id, edits.c.state == "open"]
    if thread_id is not None:
        which.append(edits.c.proposal_id.in_(sa.select(proposals.c.id).where(proposals.c.thread_id == thread_id)))
    return _edits(tx, *which)


def _edits(tx: Tx, *which: sa.ColumnElement[bool]) -> list[EditData]:
    return [shape_of(EditData, row.edit, row) for row in tx.rows(_NamedEdit, _EDITS.where(*which))]


def proposal_row(tx: Tx, proposal_id: str) -> ProposalRow:
    """A proposal's row, with the message that proposed it, if known. Raises `NotFound`."""
    row = tx.row(ProposalRow, _PROPOSALS.where(proposals.c.id == proposal_id))
    if row is None:
        raise NotFound("This proposal no longer exists.", noun="proposal", id=proposal_id)
    return row


def proposal_data(tx: Tx, proposal_id: str) -> ProposalData:
    """A proposal with its edits, as shown in the API. Raises `NotFound`."""
    (data,) = _with_edits(tx, [proposal_row(tx, proposal_id)])
    return data


def proposals_of_thread(tx: Tx, thread_id: str) -> list[ProposalRow]:
    """The rows of a thread's proposals, oldest first."""
    return tx.rows(ProposalRow, _PROPOSALS.where(proposals.c.thread_id == thread_id).order_by(proposals.c.id))


def list_proposals(
    tx: Tx, which: sa.ColumnElement[bool], state: State = "open", before: str | None = None, limit: int = 100
) -> Listed[ProposalData, str]:
    """At most `limit` of these proposals, newest first, those before the id `before`."""
    chosen = _PROPOSALS.where(which)
    if state != "all":
        chosen = chosen.where(proposals.c.state == state)
    if before is not None:
        chosen = chosen.where(proposals.c.id < before)
    rows = tx.rows(ProposalRow, chosen.order_by(proposals.c.id.desc()).limit(limit + 1))
    return Listed(_with_edits(tx, rows[:limit]), rows[limit - 1].id if len(rows) > limit else None)


def settle_states(tx: Tx, proposal_ids: Iterable[str]) -> None:
    """Close the proposals without open edits."""
    for proposal_id in proposal_ids:
        states = tx.execute(sa.select(edits.c.state).where(edits.c.proposal_id == proposal_id)).scalars()
        tx.update(proposals, {"id": proposal_id}, state=proposal_state(states))


def hold_threads(tx: Tx, thread_ids: Iterable[str]) -> None:
    """Hold conversations in the order in which all code takes them: before the project's log."""
    found = sa.select(threads.c.id).where(threads.c.id.in_(set(thread_ids))).order_by(threads.c.id)
    tx.execute(found.with_for_update(key_share=True))


def tell(tx: Tx, project_id: str, news: Sequence[News]) -> None:
    """Append the events to the logs of the threads, then to that of the project."""
    for thread_id, name, data in sorted(news, key=lambda item: item[0]):
        append(tx, thread_id, [(name, data)])
    if news:
        append(tx, project_id, [(name, data) for _, name, data in news])


def news_of(
    tx: Tx,
    name: Literal["edit.resolved", "edit.reopened", "edit.superseded"],
    edit_ids: Sequence[str],
    *,
    version: int | None = None,
    by: str | None = None,
) -> list[News]:
    """The events of edits that were just decided, reopened or superseded, one per proposal."""
    groups: dict[str, list[EditData]] = {}
    for edit in edits_of(tx, edit_ids) if edit_ids else []:
        groups.setdefault(edit.proposal_id, []).append(edit)
    more = {} if name == "edit.superseded" else {"version": version, "by": by}
    news: list[News] = []
    for proposal_id, group in groups.items():
        data = _KINDS[name](proposal_id=proposal_id, document_id=group[0].document_id, edits=group, **more)
        news.append((tx.value(proposals.c.thread_id, {"id": proposal_id}), name, data))
    return news


def places_changed(tx: Tx, proposal_ids: Iterable[str]) -> list[News]:
    """The events of proposals whose texts have new places: each is sent whole again."""
    changed = [proposal_data(tx, proposal_id) for proposal_id in dict.fromkeys(proposal_ids)]
    return [(data.thread_id, "proposal.created", ProposalCreated(proposal=data)) for data in changed]


def _with_edits(tx: Tx, rows: Sequence[ProposalRow]) -> list[ProposalData]:
    found: dict[str, list[EditData]] = {row.id: [] for row in rows}
    for edit in _edits(tx, edits.c.proposal_id.in_(list(found))) if found else []:
        found[edit.proposal_id].append(edit)
    return [shape_of(ProposalData, row, edits=found[row.id]) for row in rows]


def check_decision_rate(tx: Tx, user_id: str, per_user: int) -> None:
    """Raise `RateLimited` when the user has reached the limit of decisions on proposed edits in the last minute (0
    turns it off). Deciding about many at once counts once."""
    if per_user:
        decided = sa.select(edits.c.decided_at).where(edits.c.decided_by == user_id)
        within = decided.where(edits.c.decided_at > tx.now - WINDOW).distinct()
        newest = tx.execute(within.order_by(edits.c.decided_at.desc()).limit(per_user)).scalars().all()
        check_rate("user", list(reversed(newest)), per_user, tx.now, things="decisions")


class _EditsInState(NamedTuple):
    summary: str
    state: str
    edits: int


def outcomes_of_thread(tx: Tx, thread_id: str, until: datetime) -> list[str]:
    """A line of Markdown for each summary of the proposals made in a thread until then, oldest first: the number of
    their edits in each state."""
    rows = tx.rows(
        _EditsInState,
        sa.select(proposals.c.summary, edits.c.state, sa.func.count().label("edits"))
        .join(edits, edits.c.proposal_id == proposals.c.id)
        .where(proposals.c.thread_id == thread_id, proposals.c.created_at <= until)
        .group_by(proposals.c.id, proposals.c.summary, proposals.c.created_at, edits.c.state)
        .order_by(proposals.c.created_at, proposals.c.id, edits.c.state),
    )
    became: dict[str, list[str]] = {}
    for row in rows:
        state = "waiting" if row.state == "open" else row.state
        became.setdefault(" ".join(row.summary.split()), []).append(f"{row.edits} {state}")
    return [f"- {summary}: {', '.join(states)}" for summary, states in became.items()]
