"""What became of a thread's proposals."""

from datetime import datetime
from typing import NamedTuple

import sqlalchemy as sa

from outlast.apps.documents.tables import edits, proposals
from outlast.db.database import Tx


class _EditsInState(NamedTuple):
    summary: str
    state: str
    edits: int


def outcomes_of_thread(tx: Tx, thread_id: str, until: datetime) -> list[str]:
    """A line of Markdown for each summary of the proposals made in a thread until then, oldest first: how many of their
    edits are in which state."""
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
