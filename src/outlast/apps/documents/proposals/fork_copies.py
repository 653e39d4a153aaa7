"""Twins: an edit and its copies in forks. What is accepted in one conversation is done in all of them.

A new text or section that were accepted twice would be there twice. So its open twins are superseded; and so are those
of a replacement that was written as proposed. First argument: the open transaction; the document's row is held.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import sqlalchemy as sa
from pydantic import BaseModel

from outlast.apps.documents.proposals.decisions import followers
from outlast.apps.documents.proposals.edit_store import news_of, places_changed, proposal_data, settle_states
from outlast.apps.documents.proposals.shapes import EditData
from outlast.apps.documents.tables import edits, proposals
from outlast.db.database import Tx
from outlast.kernel.threads.tables import threads

ONCE: Final = ("insert", "insert_section", "move")
REASON: Final = "Accepted in “{title}”{version}."


@dataclass(slots=True)
class Ended:
    """What to tell of superseded twins: (thread's id, name of the event, its data); and whose edits they were."""

    news: list[tuple[str, str, BaseModel]] = field(default_factory=list)
    proposal_ids: list[str] = field(default_factory=list)


class _Twin(NamedTuple):
    id: str
    proposal_id: str
    thread_id: str
    twin_of: str


def hold_threads(tx: Tx, edit_ids: Sequence[str]) -> None:
    """Hold the conversations that have open twins of these edits: threads come before the project's log, as
    everywhere."""
    rows = tx.rows(_Twin, _twins(edit_ids))
    wanted = sa.select(threads.c.id).where(threads.c.id.in_({row.thread_id for row in rows}))
    if rows:
        tx.execute(wanted.order_by(threads.c.id).with_for_update(key_share=True))


def supersede_twins(
    tx: Tx, accepted: Sequence[EditData], ends: Mapping[str, str], title: str, version: int | None
) -> Ended:
    """These edits were just accepted in the conversation `title`, as `version` of the document (None: nothing
    differed). `ends`: by edit, what the texts that belong behind it go behind from now on."""
    done = {edit.id: edit for edit in accepted if edit.op in ONCE or edit.applied_text == edit.new_text}
    twins = {row.id: row for row in tx.rows(_Twin, _twins(list(done)))}
    reason = REASON.format(title=title, version="" if version is None else f", version {version}")
    for twin_id, row in twins.items():
        by = row.twin_of
        tx.update(edits, {"id": twin_id}, state="superseded", superseded_by=by, reason=reason)
    ids = list(dict.fromkeys(row.proposal_id for row in twins.values()))
    settle_states(tx, ids)
    behind = {twin_id: ends[row.twin_of] for twin_id, row in twins.items() if row.twin_of in ends}
    placed = [proposal_id for proposal_id in ids if _place_followers(tx, proposal_id, behind)]
    return Ended([*news_of(tx, "edit.superseded", list(twins)), *places_changed(tx, placed)], ids)


def _twins(edit_ids: Sequence[str]) -> sa.Select[tuple[str, str, str, str]]:
    """The open twins of these edits, with the edit that each is a twin of, and where they are proposed."""
    mine, twin = edits.alias("mine"), edits
    same = sa.func.coalesce(mine.c.origin_id, mine.c.id)
    return (
        sa.select(twin.c.id, twin.c.proposal_id, proposals.c.thread_id, mine.c.id.label("twin_of"))
        .join(mine, sa.or_(twin.c.origin_id == same, twin.c.id == same) & (twin.c.id != mine.c.id))
        .join(proposals, proposals.c.id == twin.c.proposal_id)
        .where(mine.c.id.in_(list(edit_ids)), twin.c.state == "open")
        .order_by(twin.c.proposal_id, twin.c.ordinal)
    )


def _place_followers(tx: Tx, proposal_id: str, behind: Mapping[str, str]) -> bool:
    """Texts that belong behind a superseded twin go behind what was written for it. Whether there are any."""
    every = proposal_data(tx, proposal_id).edits
    still_open = [edit for edit in every if edit.state == "open"]
    put = followers(still_open, [edit for edit in every if edit.id in behind])
    for edit_id, after in put.items():
        tx.update(edits, {"id": edit_id}, after_id=behind[after])
    return bool(put)
